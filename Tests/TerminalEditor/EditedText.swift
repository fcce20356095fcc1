import Glibc

/// A key that a person has pressed.
enum Key: Equatable, Sendable {
  /// Characters that came at once, as from a paste; Return is a newline.
  case insert(String)
  case backspace, left, right, up, down
  /// Control-S, Control-Z and Control-Q.
  case save, undo, quit
  /// The window has another size, or the process was stopped: everything is drawn anew.
  case redraw

  /// Whether it changes the text.
  var isEdit: Bool {
    switch self {
    case .insert, .backspace: true
    case .left, .right, .up, .down, .save, .undo, .quit, .redraw: false
    }
  }
}

/// A text, and the cursor in it: decides what keys do to them.
struct EditedText: Equatable, Sendable {
  private(set) var before = ""
  private(set) var after = ""

  var text: String { before + after }

  /// The lines around the cursor, as many as a window has.
  ///
  /// A text of many megabytes has very many others.
  ///
  /// - Parameters:
  ///   - beforeMax: How many of them are above the cursor.
  ///   - countMax: How many there are in all.
  /// - Returns: The lines, which of them has the cursor, and what is before the cursor in it.
  func lines(before beforeMax: Int, _ countMax: Int) -> (all: [String], line: Int, cursor: Substring) {
    var (above, rest): ([Substring], Substring) = ([], before[...])
    let cursor = Self.lastLine(of: rest)
    while above.count < beforeMax, let shorter = Self.withoutLastLine(rest) {
      rest = shorter
      above.append(Self.lastLine(of: rest))
    }
    var all = above.reversed().map(String.init)
    var below = after[...]
    all.append(String(cursor) + Self.firstLine(of: below))
    while all.count < countMax, let shorter = Self.withoutFirstLine(below) {
      below = shorter
      all.append(String(Self.firstLine(of: below)))
    }
    return (all, above.count, cursor)
  }

  // Lines end at the byte of a newline; a return before it belongs to it. Bytes are looked at, since characters take long to find.
  private static let newline = UInt8(ascii: "\n")

  private static func lastLine(of text: Substring) -> Substring {
    guard let newline = text.utf8.lastIndex(of: newline) else { return text }
    return text[text.utf8.index(after: newline)...]
  }

  /// `nil` if there's one line only.
  private static func withoutLastLine(_ text: Substring) -> Substring? {
    text.utf8.lastIndex(of: newline).map { withoutReturn(text[..<$0]) }
  }

  private static func firstLine(of text: Substring) -> Substring {
    guard let newline = text.utf8.firstIndex(of: newline) else { return text }
    return withoutReturn(text[..<newline])
  }

  private static func withoutFirstLine(_ text: Substring) -> Substring? {
    text.utf8.firstIndex(of: newline).map { text[text.utf8.index(after: $0)...] }
  }

  private static func withoutReturn(_ line: Substring) -> Substring {
    line.utf8.last == UInt8(ascii: "\r") ? Substring(line.unicodeScalars.dropLast()) : line
  }

  /// Keys that are for the program, and not for the text, do nothing.
  mutating func take(_ key: Key) {
    switch key {
    case .insert(let typed): before += typed
    case .backspace: _ = before.popLast()
    case .left: if let last = before.popLast() { after = String(last) + after }
    case .right: if !after.isEmpty { before.append(after.removeFirst()) }
    case .up:
      if let above = Self.withoutLastLine(before[...]) {
        let column = Self.lastLine(of: before[...]).count
        let line = Self.lastLine(of: above)
        let place = line.index(line.startIndex, offsetBy: column, limitedBy: line.endIndex) ?? line.endIndex
        (before, after) = (String(before[..<place]), String(before[place...]) + after)
      }
    case .down:
      if let below = Self.withoutFirstLine(after[...]) {
        let column = Self.lastLine(of: before[...]).count
        let line = Self.firstLine(of: below)
        let place = line.index(line.startIndex, offsetBy: column, limitedBy: line.endIndex) ?? line.endIndex
        (before, after) = (before + after[..<place], String(after[place...]))
      }
    case .save, .undo, .quit, .redraw: break
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
    if Self.begins(text, with: before) {
      after = String(Substring(bytes.dropFirst(before.utf8.count)))
    } else if Self.ends(text, with: after) {
      before = String(Substring(bytes.dropLast(after.utf8.count)))
    } else {
      let count = before.count
      (before, after) = (text, "")
      place(count)
    }
  }

  private static func begins(_ text: String, with start: String) -> Bool {
    start.utf8.count <= text.utf8.count && compare(text, at: 0, start)
  }

  private static func ends(_ text: String, with end: String) -> Bool {
    let offset = text.utf8.count - end.utf8.count
    return offset >= 0 && compare(text, at: offset, end)
  }

  /// Compares memory: a text of many megabytes is compared at each key.
  private static func compare(_ text: String, at offset: Int, _ part: String) -> Bool {
    let result = text.utf8.withContiguousStorageIfAvailable { text in
      part.utf8.withContiguousStorageIfAvailable { part in
        guard let start = text.baseAddress, let other = part.baseAddress else { return part.isEmpty }
        return memcmp(start + offset, other, part.count) == 0
      }
    }
    return (result ?? nil) ?? text.utf8.dropFirst(offset).starts(with: part.utf8)
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
