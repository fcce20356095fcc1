internal import CompactContainers

/// The files of a shared storage that's a folder: one for each change, and one with everything up to a change.
///
///     bytes  what
///     8      the mark of the format; its last letter is the version
///     4      the number of bytes of the contents
///     4      the checksum of the contents
///     …      the contents
///
/// Numbers are little-endian; checksums are those of zip archives. A file is whole, or damaged: it has got its name when it was complete.
package enum SharedFile {
  /// The reason why a file can't be read.
  package enum Failure: Error, Hashable, Sendable {
    /// It isn't a file of a shared storage.
    case foreign
    /// A later version of this package has written it.
    case newerFormat
    /// The bytes aren't those that were written.
    case damaged
  }

  private enum Kind: UInt8 {
    case change, everything
  }

  private static let mark = Array("kvshare1".utf8)
  private static let frameLength = 16

  /// The file of a change.
  package static func bytes(of change: SharedTransaction) -> [UInt8] {
    framed(.change) { bytes in
      bytes.append(littleEndian: change.revision)
      bytes.append(littleEndian: change.owner.rawValue)
      bytes.append(littleEndian: Int64(change.upload))
      bytes.append(all: change.items) { $0.write(to: &$1) }
    }
  }

  /// The file with everything.
  package static func bytes(of state: SharedState) -> [UInt8] {
    framed(.everything) { bytes in
      bytes.append(littleEndian: state.revision)
      bytes.append(all: state.orderedItems) { $0.write(to: &$1) }
      let ordered = state.acknowledgements.sorted { $0.key < $1.key }
      bytes.append(all: ordered) { member, bytes in
        bytes.append(littleEndian: member.key.rawValue)
        member.value.write(to: &bytes)
      }
    }
  }

  /// Reads the file of a change.
  ///
  /// - Complexity: O(bytes).
  package static func change(_ bytes: [UInt8]) throws(Failure) -> SharedTransaction {
    try contents(bytes, .change) { (reader) throws(DamagedBytes) in
      let revision = try reader.integer(Int64.self)
      let change = SharedTransaction(
        revision: revision, owner: ReplicaID(rawValue: try reader.integer()),
        upload: Int(try reader.integer(Int64.self)),
        items: try reader.array { (reader) throws(DamagedBytes) in try SharedItem(from: &reader) })
      guard change.items.allSatisfy({ $0.revision == revision }) else { throw DamagedBytes() }
      return change
    }
  }

  /// Reads the file with everything.
  ///
  /// - Complexity: O(bytes).
  package static func everything(_ bytes: [UInt8]) throws(Failure) -> SharedState {
    try contents(bytes, .everything) { (reader) throws(DamagedBytes) in
      let revision = try reader.integer(Int64.self)
      let items = try reader.array { (reader) throws(DamagedBytes) in try SharedItem(from: &reader) }
      var acknowledgements: [ReplicaID: Acknowledgement] = [:]
      for _ in 0..<(try reader.count()) {
        let replica = ReplicaID(rawValue: try reader.integer())
        let acknowledgement = try Acknowledgement(from: &reader)
        if acknowledgements.updateValue(acknowledgement, forKey: replica) != nil { throw DamagedBytes() }
      }
      let state = SharedState(revision: revision, items: items, acknowledgements: acknowledgements)
      guard state.items.count == items.count else { throw DamagedBytes() }
      return state
    }
  }

  private static func framed(_ kind: Kind, _ write: (inout [UInt8]) -> Void) -> [UInt8] {
    var contents = [kind.rawValue]
    write(&contents)
    var bytes = mark
    bytes.append(littleEndian: UInt32(contents.count))
    bytes.append(littleEndian: CyclicRedundancyCheck.value(of: contents[...]))
    return bytes + contents
  }

  private static func contents<Value>(
    _ bytes: [UInt8], _ kind: Kind, _ read: (inout ByteReader) throws(DamagedBytes) -> Value
  ) throws(Failure) -> Value {
    guard bytes.starts(with: mark) else {
      let isNewer = bytes.starts(with: mark.dropLast())
      // Nothing but zeros, or nothing at all, is the rest of a file that hasn't reached the disk.
      throw isNewer ? .newerFormat : bytes.allSatisfy { $0 == 0 } ? .damaged : .foreign
    }
    guard bytes.count > frameLength else { throw .damaged }
    let contents = bytes[frameLength...]
    guard integer(bytes, 8) == UInt32(exactly: contents.count),
      integer(bytes, 12) == CyclicRedundancyCheck.value(of: contents), contents.first == kind.rawValue
    else { throw .damaged }
    var reader = ByteReader(contents.dropFirst())
    do throws(DamagedBytes) {
      let value = try read(&reader)
      if reader.isAtEnd { return value }
    } catch { throw .damaged }
    throw .damaged
  }

  private static func integer(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    unsafe bytes.span.bytes.integer(littleEndianAt: offset)
  }
}
