internal import FoundationEssentials

/// The part of a name that an engine has put in.
struct ConflictMarker: Hashable, Sendable {
  /// Where it begins in the name.
  let start: Int
  let date: DateComponents?
  let mention: [UInt8]?
}

extension ConflictCopyEngine {
  /// How many extensions may follow the marker.
  var extensionCountMax: Int {
    switch scheme {
    case .syncthing, .nextcloud, .ownCloud, .seafile: 1
    // These keep `.tar.gz` together.
    case .dropbox, .rclone: 2
    }
  }

  /// The marker with which a part of a name ends.
  func marker(at head: ArraySlice<UInt8>) -> ConflictMarker? {
    switch scheme {
    case .syncthing: Self.syncthingMarker(at: head)
    case .nextcloud: Self.datedMarker(at: head)
    case .ownCloud: Self.datedMarker(at: head) ?? Self.formerOwnCloudMarker(at: head)
    case .dropbox: Self.dropboxMarker(at: head)
    case .seafile: Self.seafileMarker(at: head)
    case .rclone(let suffix): Self.rcloneMarker(at: head, suffix)
    }
  }

  /// `.sync-conflict-20260102-030405-ABCDEFG`; the first releases mentioned no device.
  private static func syncthingMarker(at head: ArraySlice<UInt8>) -> ConflictMarker? {
    var rest = ByteReader(head)
    var device: [UInt8]?
    if !rest.endsWithDate("dddddddd-dddddd") {
      guard let id = rest.dropLast(7), id.allSatisfy(isDigitOfBase32), rest.dropSuffix("-") else { return nil }
      device = Array(id)
    }
    guard let date = rest.dropDate("dddddddd-dddddd"), rest.dropSuffix(".sync-conflict-") else { return nil }
    return ConflictMarker(start: rest.end, date: date, mention: device)
  }

  private static func isDigitOfBase32(_ byte: UInt8) -> Bool {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || UInt8(ascii: "2")...UInt8(ascii: "7") ~= byte
  }

  /// ` (conflicted copy 2026-01-02 030405)`, with a user before the date or not.
  private static func datedMarker(at head: ArraySlice<UInt8>) -> ConflictMarker? {
    guard var inner = Parentheses(at: head), inner.text.dropPrefix("conflicted copy "),
      let date = inner.text.dropDate("dddd-dd-dd dddddd")
    else { return nil }
    return inner.marker(date, mentionBefore: " ")
  }

  /// `_conflict-20260102-030405`, with a user before the date or not.
  private static func formerOwnCloudMarker(at head: ArraySlice<UInt8>) -> ConflictMarker? {
    var rest = ByteReader(head)
    guard let date = rest.dropDate("dddddddd-dddddd"), rest.dropSuffix("-") else { return nil }
    let word = Array("_conflict".utf8)
    if rest.dropSuffix("_conflict") { return ConflictMarker(start: rest.end, date: date, mention: nil) }
    guard let start = rest.lastStart(of: word + [UInt8(ascii: "-")]) else { return nil }
    let user = rest.bytes[(start + word.count + 1)...]
    return user.isEmpty ? nil : ConflictMarker(start: start, date: date, mention: Array(user))
  }

  /// ` (Jane's conflicted copy 2026-01-02 (1))`, also without owner or number.
  private static func dropboxMarker(at head: ArraySlice<UInt8>) -> ConflictMarker? {
    guard var inner = Parentheses(at: head) else { return nil }
    if let number = Parentheses(at: inner.text.bytes), number.text.bytes.isNumber {
      inner.text = ByteReader(inner.text.bytes[..<number.start])
    }
    guard let date = inner.text.dropDate("dddd-dd-dd"), inner.text.dropSuffix("conflicted copy ") else { return nil }
    return inner.marker(date, mentionBefore: "'s ")
  }

  /// ` (SFConflict jane@example.org 2026-01-02-03-04-05)`, also without a person.
  private static func seafileMarker(at head: ArraySlice<UInt8>) -> ConflictMarker? {
    guard var inner = Parentheses(at: head), inner.text.dropPrefix("SFConflict "),
      let date = inner.text.dropDate("dddd-dd-dd-dd-dd-dd")
    else { return nil }
    return inner.marker(date, mentionBefore: " ")
  }

  /// `.conflict1`, and before release 1.66 `..path1` and `..path2`; `.laptop` or `.laptop1` with a suffix that was chosen.
  private static func rcloneMarker(at head: ArraySlice<UInt8>, _ suffix: String?) -> ConflictMarker? {
    var rest = ByteReader(head)
    let number = rest.dropDigits()
    let hasNumber = number.first.map { $0 != UInt8(ascii: "0") } ?? false
    if let suffix {
      guard !suffix.isEmpty, number.isEmpty || hasNumber, rest.dropSuffix("." + suffix) else { return nil }
      return ConflictMarker(start: rest.end, date: nil, mention: Array(suffix.utf8))
    }
    let isSide = number == [UInt8(ascii: "1")] || number == [UInt8(ascii: "2")]
    guard hasNumber, rest.dropSuffix(".conflict") || (isSide && rest.dropSuffix("..path")) else { return nil }
    return ConflictMarker(start: rest.end, date: nil, mention: nil)
  }
}

/// Text in parentheses at the end of a part of a name, with a blank before them.
private struct Parentheses {
  /// Where the blank is.
  let start: Int
  var text: ByteReader

  init?(at head: ArraySlice<UInt8>) {
    var depth = 0
    for index in head.indices.reversed() {
      if head[index] == UInt8(ascii: ")") { depth += 1 }
      if head[index] == UInt8(ascii: "(") { depth -= 1 }
      if depth > 0 { continue }
      // Either the parenthesis that belongs to the last one, or the head doesn't end with one.
      guard head[index] == UInt8(ascii: "("), index > head.startIndex, head[index - 1] == UInt8(ascii: " ") else {
        return nil
      }
      start = index - 1
      text = ByteReader(head[(index + 1)...].dropLast())
      return
    }
    return nil
  }

  /// The marker if all that's left is a person, or nothing.
  func marker(_ date: DateComponents, mentionBefore end: String) -> ConflictMarker? {
    var person = text
    if person.bytes.isEmpty { return ConflictMarker(start: start, date: date, mention: nil) }
    guard person.dropSuffix(end), !person.bytes.isEmpty else { return nil }
    return ConflictMarker(start: start, date: date, mention: Array(person.bytes))
  }
}

extension ArraySlice<UInt8> {
  fileprivate var isNumber: Bool { !isEmpty && allSatisfy(\.isDigit) }
}

extension UInt8 {
  fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
}

/// Bytes that are taken off from both ends.
private struct ByteReader {
  private(set) var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  var end: Int { bytes.endIndex }

  mutating func dropPrefix(_ text: String) -> Bool {
    guard bytes.starts(with: text.utf8) else { return false }
    bytes = bytes.dropFirst(text.utf8.count)
    return true
  }

  mutating func dropSuffix(_ text: String) -> Bool {
    guard bytes.suffix(text.utf8.count).elementsEqual(text.utf8) else { return false }
    bytes = bytes.dropLast(text.utf8.count)
    return true
  }

  mutating func dropLast(_ count: Int) -> ArraySlice<UInt8>? {
    guard bytes.count >= count else { return nil }
    defer { bytes = bytes.dropLast(count) }
    return bytes.suffix(count)
  }

  mutating func dropDigits() -> [UInt8] {
    let digits = bytes.reversed().prefix { $0.isDigit }
    bytes = bytes.dropLast(digits.count)
    return digits.reversed()
  }

  /// Where the last occurrence of some bytes begins.
  func lastStart(of word: [UInt8]) -> Int? {
    guard bytes.count >= word.count else { return nil }
    return (bytes.startIndex...(bytes.endIndex - word.count)).last { bytes[$0...].starts(with: word) }
  }

  // MARK: Dates

  func endsWithDate(_ pattern: String) -> Bool {
    var copy = self
    return copy.dropDate(pattern) != nil
  }

  /// Takes off a date; in a pattern `d` is a digit, of year, month, day, and where there are 14 also of hour, minute, second.
  mutating func dropDate(_ pattern: String) -> DateComponents? {
    let text = bytes.suffix(pattern.utf8.count)
    guard text.count == pattern.utf8.count else { return nil }
    var digits: [Int] = []
    for (byte, expected) in zip(text, pattern.utf8) {
      if expected == UInt8(ascii: "d") {
        guard byte.isDigit else { return nil }
        digits.append(Int(byte - UInt8(ascii: "0")))
      } else if byte != expected {
        return nil
      }
    }
    guard let date = DateComponents(digits: digits) else { return nil }
    bytes = bytes.dropLast(text.count)
    return date
  }
}

extension DateComponents {
  /// Reads 8 digits of a day, or 14 of a moment; `nil` if the calendar or the clock has no such.
  fileprivate init?(digits: [Int]) {
    func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
    let (year, month, day) = (number(0..<4), number(4..<6), number(6..<8))
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard 1...12 ~= month, 1...lengths[month - 1] ~= day else { return nil }
    self.init(year: year, month: month, day: day)
    if digits.count == 8 { return }
    let (hour, minute, second) = (number(8..<10), number(10..<12), number(12..<14))
    guard hour < 24, minute < 60, second <= 60 else { return nil }
    (self.hour, self.minute, self.second) = (hour, minute, second)
  }
}
