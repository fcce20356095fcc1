internal import CompactContainers
internal import ContentHashing
internal import SystemInterface

/// Unsaved contents and what they belong to, as one file of a journal has them.
///
///     bytes  what
///     8      the mark of the format
///     4      how long this table is, with the path
///     8      a number that grows with each record of a journal
///     8      when it was written, in nanoseconds since 1970
///     16     device and inode of the file
///     8      how long the contents are
///     64     the SHA-256 of what the file had, as text; zeros if there was no file
///     …      the canonical path of the file
///     …      the contents
///     64     the SHA-256 of all of that, as text
///
/// Numbers are little-endian. The hash is behind everything else, so a record that was cut off isn't taken for one.
struct JournalRecord: Equatable, Sendable {
  /// All but the contents: it's read without them.
  struct Header: Equatable, Sendable {
    var sequence: UInt64
    var time: Int64
    var path: SystemPath
    var identity: FileIdentity?
    var base: ContentHash?
  }

  var header: Header
  var contents: [UInt8]

  /// The first bytes of every record.
  static let mark = Array("filejrn1".utf8)
  private static let fixedLength = 116
  /// Enough for each path that the system takes; see PATH_MAX in pathconf(3).
  static let headerLengthMax = fixedLength + (1 << 16)
  private static let hashLength = 64

  var bytes: [UInt8] {
    var bytes = Self.mark
    bytes.reserveCapacity(Self.fixedLength + header.path.bytes.count + contents.count + Self.hashLength)
    bytes.append(littleEndian: UInt32(Self.fixedLength + header.path.bytes.count))
    bytes.append(littleEndian: header.sequence)
    bytes.append(littleEndian: header.time)
    bytes.append(littleEndian: header.identity?.device ?? 0)
    bytes.append(littleEndian: header.identity?.inode ?? 0)
    bytes.append(littleEndian: UInt64(contents.count))
    bytes += header.base.map { Array($0.description.utf8) } ?? [UInt8](repeating: 0, count: Self.hashLength)
    bytes += header.path.bytes
    bytes += contents
    bytes += Array(ContentHash(of: bytes).description.utf8)
    return bytes
  }

  /// Reads a record.
  ///
  /// - Parameter bytes: A whole file; `nil` if it isn't a record, or isn't whole.
  init?(_ bytes: [UInt8]) {
    guard let (header, length, count) = Self.read(bytes) else { return nil }
    guard bytes.count == length + count + Self.hashLength else { return nil }
    let hash = bytes[(length + count)...]
    guard ContentHash(hexadecimal: Array(hash)) == ContentHash(of: bytes[..<(length + count)]) else { return nil }
    self.header = header
    contents = Array(bytes[length..<(length + count)])
  }

  init(header: Header, contents: [UInt8]) {
    self.header = header
    self.contents = contents
  }

  /// Reads the table at the beginning of a record, whose rest may be missing.
  static func header(_ bytes: [UInt8]) -> Header? { read(bytes)?.header }

  private static func read(_ bytes: [UInt8]) -> (header: Header, length: Int, count: Int)? {
    guard bytes.count >= fixedLength, bytes.starts(with: mark) else { return nil }
    let span = unsafe bytes.span.bytes
    let length = Int(span.integer(littleEndianAt: 8, as: UInt32.self))
    let count = span.integer(littleEndianAt: 44, as: UInt64.self)
    guard length >= fixedLength, length <= min(headerLengthMax, bytes.count), count < UInt64(1) << 48 else {
      return nil
    }
    let device = span.integer(littleEndianAt: 28, as: UInt64.self)
    let inode = span.integer(littleEndianAt: 36, as: UInt64.self)
    let header = Header(
      sequence: span.integer(littleEndianAt: 12), time: span.integer(littleEndianAt: 20),
      path: SystemPath(bytes: bytes[fixedLength..<length]),
      identity: inode == 0 ? nil : FileIdentity(device: device, inode: inode),
      base: ContentHash(hexadecimal: Array(bytes[52..<fixedLength])))
    return (header, length, Int(count))
  }
}
