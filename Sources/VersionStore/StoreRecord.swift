internal import ContentHashing
internal import SystemInterface

/// A small text file of the store: one `key: value` in each line, and a check of them in the last one.
///
/// Values are percent-encoded, so that any bytes fit into a line. A key may occur several times.
struct StoreRecord: Equatable, Sendable {
  private(set) var lines: [(key: String, value: [UInt8])] = []

  static func == (first: Self, second: Self) -> Bool { first.bytes == second.bytes }

  mutating func add(_ key: String, bytes: [UInt8]) { lines.append((key, bytes)) }
  mutating func add(_ key: String, _ value: some CustomStringConvertible) {
    add(key, bytes: Array(value.description.utf8))
  }

  func values(of key: String) -> [[UInt8]] { lines.filter { $0.key == key }.map(\.value) }
  func value(of key: String) -> [UInt8]? { lines.first { $0.key == key }?.value }
  func text(of key: String) -> String? { value(of: key).map { String(decoding: $0, as: UTF8.self) } }
  func number<Number: FixedWidthInteger>(of key: String) -> Number? { text(of: key).flatMap { Number($0) } }

  // MARK: As bytes

  private static let checkKey = "check"

  /// The lines as they stand in a file.
  var bytes: [UInt8] {
    let text = Array(lines.map { "\($0.key): \(PercentEncoding.encode($0.value))\n" }.joined().utf8)
    return text + "\(Self.checkKey): ".utf8 + Self.check(of: text) + [Self.newline]
  }

  /// The first digits of the hash.
  private static func check(of bytes: [UInt8]) -> [UInt8] {
    let prefix = ContentHash(of: bytes).prefix
    return (0..<16).map { index in
      let digit = UInt8(truncatingIfNeeded: prefix >> (60 - 4 * UInt64(index)) & 15)
      return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
  }

  private static let newline = UInt8(ascii: "\n")
  private static let separator = Array(": ".utf8)

  init() {}

  /// Reads a record; `nil` if a byte of it was changed or is missing.
  init?(_ bytes: [UInt8]) {
    guard bytes.last == Self.newline else { return nil }
    let end = (bytes.dropLast().lastIndex(of: Self.newline) ?? -1) + 1
    guard let check = Self.line(bytes[end..<bytes.count - 1]), check.key == Self.checkKey,
      check.value == Self.check(of: Array(bytes[..<end]))
    else { return nil }
    lines.reserveCapacity(24)
    var start = 0
    for index in 0..<end where bytes[index] == Self.newline {
      guard let line = Self.line(bytes[start..<index]) else { return nil }
      lines.append(line)
      start = index + 1
    }
  }

  private static func line(_ bytes: ArraySlice<UInt8>) -> (key: String, value: [UInt8])? {
    guard let colon = bytes.firstIndex(of: separator[0]), bytes[(colon + 1)...].first == separator[1] else {
      return nil
    }
    let key = String(decoding: bytes[..<colon], as: UTF8.self)
    let value = bytes[(colon + 2)...]
    if !value.contains(UInt8(ascii: "%")) { return (key, Array(value)) }
    return PercentEncoding.decode(value).map { (key, $0) }
  }
}
