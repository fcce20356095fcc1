/// A key that a person has pressed.
enum Key: Equatable, Sendable {
  /// Characters that came at once, as from a paste; Return is a newline.
  case insert(String)
  case backspace, left, right, up, down
  /// Control-S, Control-Z and Control-Q.
  case save, undo, quit

  /// Whether it changes the text.
  var isEdit: Bool {
    switch self {
    case .insert, .backspace: true
    case .left, .right, .up, .down, .save, .undo, .quit: false
    }
  }
}

/// A text, and the cursor in it: decides what keys do to them.
struct EditedText: Equatable, Sendable {
  private(set) var before = ""
  private(set) var after = ""

  var text: String { before + after }

  /// The line of the cursor, and the characters before it in that line.
  var position: (line: Int, column: Int) {
    let lines = Self.lines(of: before)
    return (lines.count - 1, lines.last?.count ?? 0)
  }

  static func lines(of text: String) -> [Substring] {
    text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
  }

  /// Keys that are for the program, and not for the text, do nothing.
  mutating func take(_ key: Key) {
    switch key {
    case .insert(let typed): before += typed
    case .backspace: _ = before.popLast()
    case .left: if let last = before.popLast() { after = String(last) + after }
    case .right: if !after.isEmpty { before.append(after.removeFirst()) }
    case .up:
      let (above, column) = (Self.lines(of: before).dropLast().last, position.column)
      if let above { place(before.count - column - 1 - max(above.count - column, 0)) }
    case .down:
      let below = Self.lines(of: after).prefix(2)
      if below.count == 2 { place(before.count + below[0].count + 1 + min(position.column, below[1].count)) }
    case .save, .undo, .quit: break
    }
  }

  private mutating func place(_ count: Int) {
    let text = text
    (before, after) = (String(text.prefix(count)), String(text.dropFirst(count)))
  }

  /// Takes over what the document has now; the cursor stays where the person was typing, if that's still there.
  ///
  /// Bytes are compared, and not characters: an equal text of other bytes would be written back with the bytes of this one.
  mutating func adopt(_ text: String) {
    let bytes = text.utf8
    if bytes.starts(with: before.utf8) {
      after = String(Substring(bytes.dropFirst(before.utf8.count)))
    } else if bytes.reversed().starts(with: after.utf8.reversed()) {
      before = String(Substring(bytes.dropLast(after.utf8.count)))
    } else {
      let count = before.count
      (before, after) = (text, "")
      place(count)
    }
  }
}

/// Makes keys of the bytes that a terminal sends, which may come in pieces.
struct KeyReader {
  /// The beginning of a key whose other bytes are still to come.
  private var waiting: [UInt8] = []

  mutating func keys(from bytes: [UInt8]) -> [Key] {
    var rest = (waiting + bytes)[...]
    var keys: [Key] = []
    while let (key, count) = Self.firstKey(of: Array(rest.prefix(Self.byteCountMax))) {
      rest = rest.dropFirst(count)
      if case .insert(let new) = key, case .insert(let typed) = keys.last {
        keys[keys.count - 1] = .insert(typed + new)
      } else if let key {
        keys.append(key)
      }
    }
    waiting = Array(rest)
    return keys
  }

  /// No key that's known has more bytes.
  private static let byteCountMax = 16

  /// - Returns: The key, if it's one that means something, and how many bytes it has; `nil` while some are missing.
  private static func firstKey(of bytes: [UInt8]) -> (key: Key?, count: Int)? {
    guard let first = bytes.first else { return nil }
    switch first {
    case 0x08, 0x7F: return (.backspace, 1)
    case 0x09: return (.insert("\t"), 1)
    case 0x0A, 0x0D: return (.insert("\n"), 1)
    case 0x11: return (.quit, 1)
    case 0x13: return (.save, 1)
    case 0x1A: return (.undo, 1)
    case 0x1B: return escapeSequence(bytes)
    case ..<0x20: return (nil, 1)
    default: return character(bytes, first)
    }
  }

  private static func escapeSequence(_ bytes: [UInt8]) -> (key: Key?, count: Int)? {
    guard bytes.count > 1 else { return nil }
    guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else { return (nil, 1) }
    guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      return bytes.count < byteCountMax ? nil : (nil, bytes.count)
    }
    let arrows: [UInt8: Key] = [0x41: .up, 0x42: .down, 0x43: .right, 0x44: .left]
    return (arrows[bytes[end]], end + 1)
  }

  private static func character(_ bytes: [UInt8], _ first: UInt8) -> (key: Key?, count: Int)? {
    let count = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    let sequence = bytes.prefix(count)
    if let text = String(validating: sequence, as: UTF8.self) { return (.insert(text), count) }
    let isCut = sequence.count < count && sequence.dropFirst().allSatisfy { $0 & 0xC0 == 0x80 }
    return isCut ? nil : (nil, 1)
  }
}
