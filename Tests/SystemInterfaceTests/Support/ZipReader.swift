/// A strict reader of stored zip archives, written from APPNOTE.TXT without use of the writer.
struct ZipReader {
  struct Member: Equatable {
    var name: [UInt8]
    var contents: [UInt8]
    var mode: UInt32
    var modificationTime: Int32?
    var dosDate: UInt16
    var dosTime: UInt16
    var isUTF8: Bool
    var isLong: Bool
  }

  struct Malformed: Error {
    var reason: String
  }

  private let bytes: [UInt8]
  private(set) var members: [Member] = []
  private(set) var hasLongEnd = false

  init(_ bytes: [UInt8]) throws {
    self.bytes = bytes
    let end = bytes.count - 22
    try expect(end >= 0 && number(at: end, 4) == 0x0605_4B50, "no end record")
    var (count, size, start) = (number(at: end + 10, 2), number(at: end + 12, 4), number(at: end + 16, 4))
    try expect(number(at: end + 8, 2) == count, "several disks")
    var directoryEnd = end
    if count == 0xFFFF || size == 0xFFFF_FFFF || start == 0xFFFF_FFFF {
      hasLongEnd = true
      let locator = end - 20
      try expect(number(at: locator, 4) == 0x0706_4B50, "no locator")
      directoryEnd = number(at: locator + 8, 8)
      try expect(number(at: directoryEnd, 4) == 0x0606_4B50 && directoryEnd + 56 == locator, "no 64-bit end record")
      count = number(at: directoryEnd + 32, 8)
      size = number(at: directoryEnd + 40, 8)
      start = number(at: directoryEnd + 48, 8)
    }
    try expect(start + size == directoryEnd, "directory of \(size) bytes doesn't end where it should")
    var position = start
    var expectedOffset = 0
    for _ in 0..<count { try readMember(&position, &expectedOffset) }
    try expect(position == directoryEnd && expectedOffset == start, "gaps")
  }

  private mutating func readMember(_ position: inout Int, _ expectedOffset: inout Int) throws {
    try expect(number(at: position, 4) == 0x0201_4B50, "no central header")
    let (nameLength, extraLength) = (number(at: position + 28, 2), number(at: position + 30, 2))
    let name = Array(bytes[(position + 46)..<(position + 46 + nameLength)])
    let extra = try fields(at: position + 46 + nameLength, extraLength)
    var (size, offset) = (number(at: position + 24, 4), number(at: position + 42, 4))
    var long = extra[1] ?? []
    if size == 0xFFFF_FFFF {
      size = take(8, from: &long)
      try expect(take(8, from: &long) == size, "sizes differ")
    }
    if offset == 0xFFFF_FFFF { offset = take(8, from: &long) }
    try expect(long.isEmpty && offset == expectedOffset, "offset")
    let checksum = number(at: position + 16, 4)
    let contents = try readLocal(offset, name, size, checksum, commonFields: bytes[(position + 8)..<(position + 20)])
    expectedOffset = contents.endIndex
    try expect(Self.checksum(of: contents) == checksum, "checksum")
    members.append(
      Member(
        name: name, contents: Array(contents), mode: UInt32(number(at: position + 38, 4) >> 16),
        modificationTime: extra[0x5455].map { Int32(truncatingIfNeeded: Self.number($0[1...])) },
        dosDate: UInt16(number(at: position + 14, 2)), dosTime: UInt16(number(at: position + 12, 2)),
        isUTF8: number(at: position + 8, 2) & 0x800 != 0, isLong: extra[1] != nil))
    position += 46 + nameLength + extraLength
  }

  private func readLocal(
    _ offset: Int, _ name: [UInt8], _ size: Int, _ checksum: Int, commonFields: ArraySlice<UInt8>
  ) throws -> ArraySlice<UInt8> {
    try expect(number(at: offset, 4) == 0x0403_4B50, "no local header")
    // Flags, method, time, date, checksum.
    try expect(bytes[(offset + 6)..<(offset + 18)].elementsEqual(commonFields), "headers differ")
    let (nameLength, extraLength) = (number(at: offset + 26, 2), number(at: offset + 28, 2))
    try expect(Array(bytes[(offset + 30)..<(offset + 30 + nameLength)]) == name, "names differ")
    var localSize = number(at: offset + 18, 4)
    if localSize == 0xFFFF_FFFF {
      localSize = Self.number(try fields(at: offset + 30 + nameLength, extraLength)[1, default: []].prefix(8))
    }
    try expect(localSize == size, "sizes differ")
    let start = offset + 30 + nameLength + extraLength
    return bytes[start..<(start + size)]
  }

  private func fields(at start: Int, _ length: Int) throws -> [Int: [UInt8]] {
    var fields: [Int: [UInt8]] = [:]
    var position = start
    while position < start + length {
      let size = number(at: position + 2, 2)
      fields[number(at: position, 2)] = Array(bytes[(position + 4)..<(position + 4 + size)])
      position += 4 + size
    }
    try expect(position == start + length, "extra fields")
    return fields
  }

  private func number(at position: Int, _ length: Int) -> Int {
    position >= 0 && position + length <= bytes.count ? Self.number(bytes[position..<(position + length)]) : -1
  }

  private func take(_ count: Int, from bytes: inout [UInt8]) -> Int {
    defer { bytes.removeFirst(min(count, bytes.count)) }
    return Self.number(bytes.prefix(count))
  }

  private static func number(_ bytes: some Sequence<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// Bit by bit, from the definition.
  private static func checksum(of bytes: ArraySlice<UInt8>) -> Int {
    Int(
      ~bytes.reduce(UInt32.max) { crc, byte in
        (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 0 ? 0 : 0xEDB8_8320) }
      })
  }

  private func expect(_ condition: Bool, _ reason: String) throws {
    if !condition { throw Malformed(reason: reason) }
  }
}
