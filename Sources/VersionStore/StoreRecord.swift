internal import ContentHashing
internal import SystemInterface

/// A small text file of the store: one `key: value` in each line, and a check of them in the last one.
///
/// Values are percent-encoded, so that any bytes fit into a line. A key may occur several times. Or some lines of such a file, see
/// ``sections(beginningWith:)``.
struct StoreRecord: Equatable, Sendable {
  /// One line: its key ends before `colon`, its value begins two bytes behind that and ends before `end`, where the next line begins
  /// one byte later.
  private struct Line: Sendable {
    let start: Int
    let colon: Int
    let end: Int
  }

  /// The lines, and what is around them if these are some of a file.
  private var storage: [UInt8] = []
  private var lines: ArraySlice<Line> = []

  init() {}

  /// The lines as they stand in a file, without the check.
  private var text: ArraySlice<UInt8> {
    guard let first = lines.first, let last = lines.last else { return [] }
    return storage[first.start...last.end]
  }

  static func == (first: Self, second: Self) -> Bool { first.text == second.text }

  // MARK: Lines

  mutating func add(_ key: String, bytes: [UInt8]) {
    let start = storage.count
    storage += key.utf8
    let colon = storage.count
    storage += Self.separator
    storage += PercentEncoding.encode(bytes).utf8
    lines.append(Line(start: start, colon: colon, end: storage.count))
    storage.append(Self.newline)
  }

  mutating func add(_ key: String, _ value: some CustomStringConvertible) {
    add(key, bytes: Array(value.description.utf8))
  }

  /// Adds the lines of another one.
  mutating func add(_ other: StoreRecord) {
    guard let first = other.lines.first else { return }
    let shift = storage.count - first.start
    storage += other.text
    lines += other.lines.map { Line(start: $0.start + shift, colon: $0.colon + shift, end: $0.end + shift) }
  }

  func values(of key: String) -> [[UInt8]] { lines.filter { isKey($0, key) }.compactMap(value) }
  func value(of key: String) -> [UInt8]? { rawValue(of: key).flatMap(Self.decoded) }
  func text(of key: String) -> String? { value(of: key).map { String(decoding: $0, as: UTF8.self) } }

  /// A value as it stands in the line: that's what it is, unless bytes of it need another form there.
  func rawValue(of key: String) -> ArraySlice<UInt8>? {
    lines.first { isKey($0, key) }.map { storage[($0.colon + 2)..<$0.end] }
  }

  func number<Number: FixedWidthInteger>(of key: String) -> Number? {
    guard var digits = rawValue(of: key) else { return nil }
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative { digits = digits.dropFirst() }
    if digits.isEmpty { return nil }
    var number: Number = 0
    for byte in digits {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
      let (scaled, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let digit = Number(byte - UInt8(ascii: "0"))
      let (sum, overflow) =
        isNegative ? scaled.subtractingReportingOverflow(digit) : scaled.addingReportingOverflow(digit)
      if isTooLarge || overflow { return nil }
      number = sum
    }
    return number
  }

  private func isKey(_ line: Line, _ key: String) -> Bool {
    line.colon - line.start == key.utf8.count && storage[line.start..<line.colon].elementsEqual(key.utf8)
  }

  private func value(of line: Line) -> [UInt8]? { Self.decoded(storage[(line.colon + 2)..<line.end]) }

  private static func decoded(_ value: ArraySlice<UInt8>) -> [UInt8]? {
    value.contains(UInt8(ascii: "%")) ? PercentEncoding.decode(value) : Array(value)
  }

  /// The parts that begin with a key, which share the bytes; lines before the first of them belong to none.
  func sections(beginningWith key: String) -> [StoreRecord] {
    let starts = lines.indices.filter { isKey(lines[$0], key) }
    return zip(starts, starts.dropFirst() + [lines.endIndex]).map { start, end in
      var section = self
      section.lines = lines[start..<end]
      return section
    }
  }

  // MARK: As bytes

  private static let checkKey = "check"

  /// The lines as they stand in a file.
  var bytes: [UInt8] { Array(text) + "\(Self.checkKey): \(Self.check(of: Array(text)))\n".utf8 }

  /// The first digits of the hash.
  private static func check(of bytes: [UInt8]) -> String { hexadecimal(ContentHash(of: bytes).prefix) }

  private static let newline = UInt8(ascii: "\n")
  private static let separator = Array(": ".utf8)

  /// Reads a record; `nil` if a byte of it was changed or is missing.
  init?(_ bytes: [UInt8]) {
    guard bytes.last == Self.newline else { return nil }
    let end = (bytes.dropLast().lastIndex(of: Self.newline) ?? -1) + 1
    let check = "\(Self.checkKey): \(Self.check(of: Array(bytes[..<end])))\n"
    guard bytes[end...].elementsEqual(check.utf8) else { return nil }
    storage = Array(bytes[..<end])
    lines.reserveCapacity(24)
    var start = 0
    var colon: Int?
    for index in 0..<end {
      if bytes[index] == Self.separator[0], colon == nil { colon = index }
      if bytes[index] != Self.newline { continue }
      guard let separator = colon, separator + 1 < index, bytes[separator + 1] == Self.separator[1] else { return nil }
      if bytes[(separator + 2)..<index].contains(UInt8(ascii: "%")) {
        guard PercentEncoding.decode(bytes[(separator + 2)..<index]) != nil else { return nil }
      }
      lines.append(Line(start: start, colon: separator, end: index))
      start = index + 1
      colon = nil
    }
  }
}
