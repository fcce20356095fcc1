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
    let text = lines.map { "\($0.key): \(PercentEncoding.encode($0.value))\n" }.joined()
    return Array((text + "\(Self.checkKey): \(Self.check(of: text))\n").utf8)
  }

  private static func check(of text: String) -> String {
    String(ContentHash(of: Array(text.utf8)).description.prefix(16))
  }

  init() {}

  /// Reads a record; `nil` if a byte of it was changed or is missing.
  init?(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    var rest = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard rest.popLast() == "", let last = rest.popLast() else { return nil }
    let checked = text.dropLast(last.utf8.count + 1)
    guard last == "\(Self.checkKey): \(Self.check(of: String(checked)))" else { return nil }
    for line in rest {
      guard let colon = line.firstRange(of: ": "),
        let value = PercentEncoding.decode(line[colon.upperBound...].utf8)
      else { return nil }
      lines.append((String(line[..<colon.lowerBound]), value))
    }
  }
}
