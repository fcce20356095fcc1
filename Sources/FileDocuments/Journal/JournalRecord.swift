internal import CompactContainers
internal import ContentHashing
internal import SystemInterface

/// Unsaved contents and what they belong to, as one file of a journal has them.
///
///     bytes  what
///     8      the mark of the format, and of its contents: a file's or a package's
///     4      how long this table is, with the path and all that follows it before the contents
///     8      a number that grows with each record of a journal
///     8      when it was written, in nanoseconds since 1970
///     16     device and inode of the file
///     8      how long the contents are
///     64     the SHA-256 of what the file had, as text; zeros if there was no file
///     4      how long the path is
///     …      the canonical path of the file
///     …      the names of the journals that this one replaces, each after one byte with its length
///     16     the beginning of the SHA-256 of the table so far, as text
///     …      the contents
///     64     the SHA-256 of all of that, as text
///
/// Numbers are little-endian. The hash is behind everything else, so a record that was cut off isn't taken for one. The table has a hash
/// of its own: it says whose the record is also if the contents are damaged, and if it's damaged itself nobody takes it for another
/// file's.
struct JournalRecord: Equatable, Sendable {
  /// The meaning of a record's contents.
  enum Form: Hashable, Sendable, CaseIterable {
    /// The bytes of a file.
    case file
    /// The altered members of a package, see ``PackageManifest``.
    case package

    /// The first bytes of every record.
    var mark: [UInt8] {
      switch self {
      case .file: Array("filejrn2".utf8)
      case .package: Array("packjrn2".utf8)
      }
    }
  }

  /// All but the contents: it's read without them.
  struct Header: Equatable, Sendable {
    var sequence: UInt64
    var time: Int64
    var path: SystemPath
    var identity: FileIdentity?
    var base: ContentHash?
    var form = Form.file
    /// Journals of killed processes whose contents are in this one, or were before these.
    var replaced: [String] = []
  }

  /// The result of reading bytes that should be a record, or the table of one.
  enum Reading<Value> {
    case whole(Value)
    /// The rest is missing: a process was killed while it wrote this.
    case cutOff
    /// Something else than what was written.
    case damaged
  }

  var header: Header
  var contents: [UInt8]

  private static let fixedLength = 120
  private static let tableHashLength = 16
  private static let hashLength = 64
  /// How many journals one can replace at most; those that are offered at once are fewer.
  static let replacedCountMax = 256
  /// Enough for each path that the system takes, see PATH_MAX in pathconf(3), and for the names.
  static let headerLengthMax = fixedLength + (1 << 16) + replacedCountMax * 32

  /// How much longer than its contents a record can be.
  static let lengthMax = headerLengthMax + hashLength

  var bytes: [UInt8] {
    var bytes = header.form.mark
    bytes.reserveCapacity(Self.fixedLength + header.path.bytes.count + contents.count + Self.hashLength + 64)
    let names = header.replaced.suffix(Self.replacedCountMax).map { Array($0.utf8.prefix(31)) }
    let namesLength = names.reduce(0) { $0 + 1 + $1.count }
    let length = Self.fixedLength + header.path.bytes.count + namesLength + Self.tableHashLength
    bytes.append(littleEndian: UInt32(length))
    bytes.append(littleEndian: header.sequence)
    bytes.append(littleEndian: header.time)
    bytes.append(littleEndian: header.identity?.device ?? 0)
    bytes.append(littleEndian: header.identity?.inode ?? 0)
    bytes.append(littleEndian: UInt64(contents.count))
    bytes += header.base.map { Array($0.description.utf8) } ?? [UInt8](repeating: 0, count: Self.hashLength)
    bytes.append(littleEndian: UInt32(header.path.bytes.count))
    bytes += header.path.bytes
    for name in names {
      bytes.append(UInt8(name.count))
      bytes += name
    }
    bytes += Self.tableHash(bytes[...])
    bytes += contents
    bytes += Array(ContentHash(of: bytes).description.utf8)
    return bytes
  }

  private static func tableHash(_ table: ArraySlice<UInt8>) -> [UInt8] {
    Array(ContentHash(of: table).description.utf8.prefix(tableHashLength))
  }

  init(header: Header, contents: [UInt8]) {
    self.header = header
    self.contents = contents
  }

  /// Reads a record.
  ///
  /// - Parameter bytes: A whole file; `nil` if it isn't a record, or isn't whole.
  init?(_ bytes: [UInt8]) {
    guard case .whole(let record) = Self.read(bytes) else { return nil }
    self = record
  }

  /// Reads a record, or says why it isn't one.
  static func read(_ bytes: [UInt8]) -> Reading<JournalRecord> {
    let table: Table
    switch readTable(bytes) {
    case .whole(let found): table = found
    case .cutOff: return .cutOff
    case .damaged: return .damaged
    }
    let end = table.length + table.contentsLength
    if bytes.count < end + hashLength { return .cutOff }
    guard bytes.count == end + hashLength,
      ContentHash(hexadecimal: Array(bytes[end...])) == ContentHash(of: bytes[..<end])
    else { return .damaged }
    return .whole(JournalRecord(header: table.header, contents: Array(bytes[table.length..<end])))
  }

  /// Reads the table at the beginning of a record, whose rest may be missing.
  static func header(_ bytes: [UInt8]) -> Header? {
    guard case .whole(let table) = readTable(bytes) else { return nil }
    return table.header
  }

  private struct Table {
    let header: Header
    let length: Int
    let contentsLength: Int
  }

  private static func readTable(_ bytes: [UInt8]) -> Reading<Table> {
    let form = Form.allCases.first { form in bytes.prefix(form.mark.count).elementsEqual(form.mark.prefix(bytes.count))
    }
    guard let form else { return .damaged }
    if bytes.count < fixedLength { return .cutOff }
    let span = unsafe bytes.span.bytes
    let length = Int(span.integer(littleEndianAt: 8, as: UInt32.self))
    let contentsLength = span.integer(littleEndianAt: 44, as: UInt64.self)
    let pathLength = Int(span.integer(littleEndianAt: 116, as: UInt32.self))
    guard length >= fixedLength + tableHashLength, length <= headerLengthMax, contentsLength < UInt64(1) << 48,
      pathLength <= length - fixedLength - tableHashLength
    else { return .damaged }
    if bytes.count < length { return .cutOff }
    let tableEnd = length - tableHashLength
    let pathEnd = fixedLength + pathLength
    guard bytes[tableEnd..<length].elementsEqual(tableHash(bytes[..<tableEnd])),
      let replaced = names(bytes[pathEnd..<tableEnd])
    else { return .damaged }
    let inode = span.integer(littleEndianAt: 36, as: UInt64.self)
    let header = Header(
      sequence: span.integer(littleEndianAt: 12), time: span.integer(littleEndianAt: 20),
      path: SystemPath(bytes: bytes[fixedLength..<pathEnd]),
      identity: inode == 0 ? nil : FileIdentity(device: span.integer(littleEndianAt: 28), inode: inode),
      base: ContentHash(hexadecimal: Array(bytes[52..<116])), form: form, replaced: replaced)
    return .whole(Table(header: header, length: length, contentsLength: Int(contentsLength)))
  }

  private static func names(_ bytes: ArraySlice<UInt8>) -> [String]? {
    var (rest, names): (ArraySlice<UInt8>, [String]) = (bytes, [])
    while let count = rest.popFirst() {
      guard rest.count >= Int(count), let name = String(validating: rest.prefix(Int(count)), as: UTF8.self) else {
        return nil
      }
      names.append(name)
      rest = rest.dropFirst(Int(count))
    }
    return names
  }
}
