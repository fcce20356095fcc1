internal import CompactContainers
internal import SystemInterface

/// The format of an index in a file: little-endian numbers, and for each place that's searched its path and its files,
/// directories before their contents.
///
/// | part | contents |
/// | --- | --- |
/// | head | ``magic``, the length of the description of the scope and its bytes, the number of places |
/// | place | the length of its path and its bytes, the record of the file there |
/// | record | kind and flags (1), inode (8); of a directory also its facts (56) and the number of its members (4); length of the name (1), the name |
/// | end | a checksum of all before (4) |
enum KeptIndexFormat {
  /// Another one with each change of the format.
  static let magic = Array("fileidx1".utf8)
  /// The bit of a directory that was completely followed, so that nothing in it is new as long as its times are the
  /// same.
  static let trustedFlag: UInt8 = 0x80
  static let directoryKind = UInt8(FileKind.directory.modeBits >> 12)

  /// The facts of a directory without the names in it, in the order in which they're written.
  static func directoryFields(_ facts: FileFacts) -> [UInt64] {
    [
      facts.identity.device, UInt64(facts.mode) | UInt64(facts.owner) << 32, UInt64(facts.group),
      UInt64(bitPattern: facts.size), UInt64(bitPattern: facts.modificationTime), UInt64(bitPattern: facts.changeTime),
      UInt64(bitPattern: facts.creationTime ?? .min),
    ]
  }

  static let directoryFieldCount = 7

  static func facts(ofDirectory fields: [UInt64], inode: UInt64, readAt moment: Int64) -> FileFacts {
    var facts = FileFacts(kind: .directory, FileIdentity(device: fields[0], inode: inode), readAt: moment)
    facts.mode |= UInt16(truncatingIfNeeded: fields[1]) & 0o7777
    facts.owner = UInt32(truncatingIfNeeded: fields[1] >> 32)
    facts.group = UInt32(truncatingIfNeeded: fields[2])
    facts.size = Int64(bitPattern: fields[3])
    facts.modificationTime = Int64(bitPattern: fields[4])
    facts.changeTime = Int64(bitPattern: fields[5])
    facts.creationTime = fields[6] == UInt64(bitPattern: .min) ? nil : Int64(bitPattern: fields[6])
    facts.isRead = true
    return facts
  }
}

/// Writes an index.
struct KeptIndexWriter {
  private let table: FileTable
  private let isTrusted: (FileNumber, FileFacts) -> Bool
  private var bytes: [UInt8] = []

  /// - Parameters:
  ///   - table: The index.
  ///   - isTrusted: Whether all members of a directory are in it that there are while its times are those in the index.
  init(_ table: FileTable, isTrusted: @escaping (FileNumber, FileFacts) -> Bool) {
    self.table = table
    self.isTrusted = isTrusted
  }

  /// Writes everything.
  ///
  /// - Parameter scope: The description of the scope: an index of another one is of no use.
  /// - Returns: The bytes of the file.
  consuming func write(scope: [UInt8]) -> [UInt8] {
    bytes.reserveCapacity(24 * table.capacity)
    bytes += KeptIndexFormat.magic
    bytes.append(littleEndian: UInt32(scope.count))
    bytes += scope
    let roots = table.roots.filter { !table.isUnread($0) }
    bytes.append(littleEndian: UInt32(roots.count))
    for root in roots {
      let path = table.rootPaths[root]?.bytes ?? []
      bytes.append(littleEndian: UInt32(path.count))
      bytes += path
      var names = NameReader(table.names)
      table.forEach(in: root) { append($0, isRoot: $0 == root, &names) }
    }
    bytes.append(littleEndian: CyclicRedundancyCheck.value(of: bytes[...]))
    return bytes
  }

  private mutating func append(_ number: FileNumber, isRoot: Bool, _ names: inout NameReader) {
    let row = table[number]
    let kind = UInt8(truncatingIfNeeded: row.mode >> 12)
    if kind == KeptIndexFormat.directoryKind {
      let facts = table.facts(of: number)
      bytes.append(kind | (isTrusted(number, facts) ? KeptIndexFormat.trustedFlag : 0))
      bytes.append(littleEndian: row.inode)
      for field in KeptIndexFormat.directoryFields(facts) { bytes.append(littleEndian: field) }
      bytes.append(littleEndian: UInt32(table.children(of: number).count))
    } else {
      bytes.append(kind)
      bytes.append(littleEndian: row.inode)
    }
    if isRoot { return bytes.append(0) }
    names.withName(at: row.name) { name in
      bytes.append(UInt8(name.count))
      unsafe name.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }
  }
}

/// Reads an index, record by record.
///
/// Bytes with a right checksum can be relied on; no bytes that are read make it trap.
struct KeptIndexReader {
  struct Record {
    let kind: FileKind
    let isTrusted: Bool
    let inode: UInt64
    /// The former facts of a directory.
    let fields: [UInt64]
    let memberCount: Int
    let name: Range<Int>

    /// Its facts if no better ones are known.
    func facts(device: UInt64, readAt moment: Int64) -> FileFacts {
      kind == .directory
        ? KeptIndexFormat.facts(ofDirectory: fields, inode: inode, readAt: moment)
        : FileFacts(kind: kind, FileIdentity(device: device, inode: inode), readAt: moment)
    }
  }

  let bytes: [UInt8]
  private var place = 0
  private let end: Int

  /// - Returns: `nil` unless the bytes are an index of this scope, as it was written.
  init?(_ bytes: [UInt8], scope: [UInt8]) {
    self.bytes = bytes
    end = bytes.count - 4
    guard end > KeptIndexFormat.magic.count, bytes.starts(with: KeptIndexFormat.magic) else { return nil }
    place = end
    guard let sum = number(UInt32.self, upTo: bytes.count), sum == CyclicRedundancyCheck.value(of: bytes[..<end]) else {
      return nil
    }
    place = KeptIndexFormat.magic.count
    guard let description = blob(), bytes[description].elementsEqual(scope) else { return nil }
  }

  /// The next number.
  mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) -> Number? {
    number(type, upTo: end)
  }

  private mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type, upTo end: Int)
    -> Number?
  {
    let size = MemoryLayout<Number>.size
    guard end - place >= size else { return nil }
    defer { place += size }
    return unsafe bytes.span.bytes.integer(littleEndianAt: place)
  }

  /// The next bytes, their length before them.
  mutating func blob() -> Range<Int>? {
    guard let count = number(UInt32.self), Int(count) <= end - place else { return nil }
    defer { place += Int(count) }
    return place..<(place + Int(count))
  }

  /// The next record; `nil` if there's none.
  mutating func record() -> Record? {
    guard let head = number(UInt8.self), let inode = number(UInt64.self) else { return nil }
    let kind = FileKind(modeBits: UInt32(head & 0x0F) << 12)
    var fields: [UInt64] = []
    var memberCount = 0
    if kind == .directory {
      for _ in 0..<KeptIndexFormat.directoryFieldCount {
        guard let field = number(UInt64.self) else { return nil }
        fields.append(field)
      }
      guard let count = number(UInt32.self) else { return nil }
      memberCount = Int(count)
    }
    guard let length = number(UInt8.self), Int(length) <= end - place else { return nil }
    defer { place += Int(length) }
    return Record(
      kind: kind, isTrusted: head & KeptIndexFormat.trustedFlag != 0, inode: inode, fields: fields,
      memberCount: memberCount, name: place..<(place + Int(length)))
  }
}
