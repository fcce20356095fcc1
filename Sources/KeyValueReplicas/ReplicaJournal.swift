internal import CompactContainers

/// The form of a replica's journal on disk: its events, in order, each with its instant.
///
///     bytes  what
///     8      the mark of the format
///     8      the replica
///     4      the checksum of these sixteen bytes
///
/// and for each event
///
///     bytes  what
///     4      the number of bytes of the event
///     4      the checksum of the event
///     4      the checksum of these eight bytes
///     …      the event: its instant in nanoseconds since 1970, its kind, its contents
///
/// Numbers are little-endian; checksums are those of zip archives. An event that was being appended when the machine or the process ended is
/// cut off, or there are zeros in its place: nobody was told that it was written, and it's left out. Damage in the last event looks alike. Anything
/// else that isn't an event is damage, because events that were acknowledged may be behind it.
package enum ReplicaJournal {
  /// An event, and its instant in nanoseconds since 1970.
  package struct Record: Hashable, Sendable {
    package var input: ReplicaInput
    package var now: Int64

    package init(_ input: ReplicaInput, at now: Int64) {
      self.input = input
      self.now = now
    }
  }

  /// The contents of a journal.
  package struct Contents: Hashable, Sendable {
    package var replica: ReplicaID
    package var records: [Record]
    /// The length of the file up to the end of the last whole event: the next one is appended there.
    package var length: Int
  }

  /// The reason why a journal can't be read.
  package enum Failure: Error, Hashable, Sendable {
    /// The file isn't a journal.
    case notAJournal
    /// A later version of this package has written it.
    case newerFormat
    /// The bytes at this offset aren't those that were written.
    case damaged(offset: Int)
  }

  private static let mark = Array("kvjourn1".utf8)
  private static let headLength = 20
  private static let frameLength = 12

  /// The beginning of a new journal.
  package static func head(of replica: ReplicaID) -> [UInt8] {
    var bytes = mark
    bytes.append(littleEndian: replica.rawValue)
    bytes.append(littleEndian: CyclicRedundancyCheck.value(of: bytes[...]))
    return bytes
  }

  /// An event as it's appended.
  package static func bytes(of record: Record) -> [UInt8] {
    var event: [UInt8] = []
    event.append(littleEndian: record.now)
    record.input.write(to: &event)
    var bytes: [UInt8] = []
    bytes.append(littleEndian: UInt32(event.count))
    bytes.append(littleEndian: CyclicRedundancyCheck.value(of: event[...]))
    bytes.append(littleEndian: CyclicRedundancyCheck.value(of: bytes[...]))
    return bytes + event
  }

  /// Reads a journal.
  ///
  /// - Parameter bytes: The whole file.
  /// - Returns: Its events; `nil` for a file whose process ended before it had written the beginning.
  /// - Throws: ``Failure``; the file is to be kept then, and nothing appended to it.
  /// - Complexity: O(bytes).
  package static func read(_ bytes: [UInt8]) throws(Failure) -> Contents? {
    // There may be zeros in the place of bytes that hadn't reached the disk.
    let writtenCount = bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    if writtenCount < mark.count, mark.starts(with: bytes.prefix(writtenCount)) { return nil }
    guard bytes.starts(with: mark) else {
      throw bytes.starts(with: mark.dropLast()) ? .newerFormat : .notAJournal
    }
    if bytes.count < headLength { return nil }
    let sumOffset = headLength - 4
    guard CyclicRedundancyCheck.value(of: bytes[..<sumOffset]) == integer(bytes[...], sumOffset) else {
      // Nothing was written behind it, or it would have been brought to the disk before.
      if writtenCount <= headLength { return nil }
      throw .damaged(offset: 0)
    }
    let replica = ReplicaID(rawValue: unsafe bytes.span.bytes.integer(littleEndianAt: mark.count))
    var contents = Contents(replica: replica, records: [], length: headLength)
    while let record = try record(in: bytes, at: contents.length, writtenCount) {
      contents.records.append(record.value)
      contents.length = record.end
    }
    return contents
  }

  /// Reads what was appended to a journal since it was read.
  ///
  /// - Parameter bytes: The bytes from the end of the last whole event on.
  /// - Returns: The events, and how many of the bytes they take.
  /// - Throws: ``Failure``, with an offset among these bytes.
  /// - Complexity: O(bytes).
  package static func readAppended(_ bytes: [UInt8]) throws(Failure) -> (records: [Record], length: Int) {
    let writtenCount = bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    var (records, length): ([Record], Int) = ([], 0)
    while let record = try record(in: bytes, at: length, writtenCount) {
      records.append(record.value)
      length = record.end
    }
    return (records, length)
  }

  /// - Returns: The event at an offset, and where it ends; `nil` if there's none, or one that was cut off: from `writtenCount` on there are
  ///   only zeros.
  private static func record(
    in bytes: [UInt8], at offset: Int, _ writtenCount: Int
  ) throws(Failure) -> (value: Record, end: Int)? {
    let rest = bytes[offset...]
    guard rest.count >= frameLength else { return nil }
    let frame = rest.prefix(frameLength)
    guard CyclicRedundancyCheck.value(of: frame.prefix(8)) == integer(frame, 8) else {
      if offset + frameLength >= writtenCount { return nil }
      throw .damaged(offset: offset)
    }
    let length = Int(integer(frame, 0))
    let event = rest.dropFirst(frameLength).prefix(length)
    let end = offset + frameLength + length
    guard CyclicRedundancyCheck.value(of: event) == integer(frame, 4), event.count == length else {
      // The last one may have been cut off, or lack the bytes that hadn't reached the disk.
      if end >= writtenCount { return nil }
      throw .damaged(offset: offset)
    }
    var reader = ByteReader(event)
    do throws(DamagedBytes) {
      let now = try reader.integer(Int64.self)
      let input = try ReplicaInput(from: &reader)
      guard reader.isAtEnd else { throw DamagedBytes() }
      return (Record(input, at: now), end)
    } catch { throw .damaged(offset: offset) }
  }

  private static func integer(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt32 {
    unsafe bytes.span.bytes.integer(littleEndianAt: offset)
  }
}
