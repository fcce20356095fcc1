extension Lexer {
  // MARK: Strings

  /// Reads a string with its quotes and escapes.
  mutating func readString() throws(MetadataPredicateError) -> String {
    let start = position
    let quote = scalars[position]
    var text = String.UnicodeScalarView()
    position += 1
    while let scalar = current {
      position += 1
      if scalar == quote { return String(text) }
      text.append(scalar == "\\" ? try readEscape() : scalar)
    }
    position = start
    throw error(
      "the string that begins here has no end", at: start,
      suggestion: "Add \(quote) where it ends, or write \\\(quote) inside."
    )
  }

  private static let simpleEscapes: [Unicode.Scalar: Unicode.Scalar] = [
    "a": "\u{7}", "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t", "v": "\u{B}",
  ]

  /// Reads the characters behind a backslash.
  ///
  /// One before any other sign, such as `\*`, means that sign.
  private mutating func readEscape() throws(MetadataPredicateError) -> Unicode.Scalar {
    let start = position - 1
    guard let letter = current else { return "\\" }
    position += 1
    if let known = Self.simpleEscapes[letter] { return known }
    switch letter {
    case "x": return try readCode(radix: 16, lengthMax: 2, lengthMin: 1, from: start)
    case "u": return try readCode(radix: 16, lengthMax: 4, lengthMin: 4, from: start)
    case "0"..."7":
      position -= 1
      return try readCode(radix: 8, lengthMax: 3, lengthMin: 1, from: start)
    default: return letter
    }
  }

  private mutating func readCode(
    radix: UInt32, lengthMax: Int, lengthMin: Int, from start: Int
  ) throws(MetadataPredicateError) -> Unicode.Scalar {
    let digits = scalars[position...].prefix(lengthMax).prefix { digit($0, radix: radix) != nil }
    let code = digits.reduce(UInt32(0)) { $0 * radix + (digit($1, radix: radix) ?? 0) }
    position += digits.count
    guard digits.count >= lengthMin else {
      throw error(
        "an escape with \(lengthMin == 4 ? "four" : "one or two") hexadecimal digits is incomplete", at: start)
    }
    // A scalar above U+FFFF may be written as the two halves that UTF-16 has for it.
    if (0xD800..<0xDC00).contains(code), scalars[position...].starts(with: ["\\", "u"]) {
      let half = scalars[(position + 2)...].prefix(4).compactMap { digit($0, radix: 16) }
      let low = half.reduce(UInt32(0)) { $0 * 16 + $1 }
      if half.count == 4, (0xDC00..<0xE000).contains(low),
        let scalar = Unicode.Scalar(0x10000 + (code - 0xD800) << 10 + (low - 0xDC00))
      {
        position += 6
        return scalar
      }
    }
    guard let scalar = Unicode.Scalar(code) else { throw error("there is no character with this number", at: start) }
    return scalar
  }

  private func digit(_ scalar: Unicode.Scalar, radix: UInt32) -> UInt32? {
    let value: UInt32
    switch scalar {
    case "0"..."9": value = scalar.value - 48
    case "a"..."f": value = scalar.value - 87
    case "A"..."F": value = scalar.value - 55
    default: return nil
    }
    return value < radix ? value : nil
  }

  // MARK: Numbers

  mutating func readNumber() throws(MetadataPredicateError) -> Token.Kind {
    let start = position
    if current == "0", let letter = peek(1), let radix = Self.radixes[letter] {
      position += 2
      let digits = takeDigits(radix: radix)
      try checkEnd(from: start, "a number after 0\(letter)", isComplete: !digits.isEmpty)
      guard let number = UInt64(digits, radix: Int(radix)) else { throw tooLarge(start) }
      return .integer(number)
    }
    var digits = takeDigits(radix: 10)
    var isWhole = true
    if current == ".", let next = peek(1), ("0"..."9").contains(next) {
      position += 1
      digits += "." + takeDigits(radix: 10)
      isWhole = false
    }
    if let exponent = takeExponent() {
      digits += exponent
      isWhole = false
    }
    try checkEnd(from: start, "a number", isComplete: true)
    if isWhole {
      guard let number = UInt64(digits) else { throw tooLarge(start) }
      return .integer(number)
    }
    guard let number = Double(digits), number.isFinite else { throw tooLarge(start) }
    return .real(number)
  }

  private static let radixes: [Unicode.Scalar: UInt32] = ["x": 16, "X": 16, "o": 8, "O": 8, "b": 2, "B": 2]

  private mutating func takeDigits(radix: UInt32) -> String {
    let digits = scalars[position...].prefix { digit($0, radix: radix) != nil }
    position += digits.count
    return String(String.UnicodeScalarView(digits))
  }

  private mutating func takeExponent() -> String? {
    guard current == "e" || current == "E" else { return nil }
    let signLength = peek(1) == "+" || peek(1) == "-" ? 1 : 0
    guard let first = peek(1 + signLength), ("0"..."9").contains(first) else { return nil }
    let start = position
    position += 1 + signLength
    let digits = takeDigits(radix: 10)
    return String(String.UnicodeScalarView(scalars[start..<start + 1 + signLength])) + digits
  }

  /// A number ends where no letter or digit follows.
  private mutating func checkEnd(from start: Int, _ what: String, isComplete: Bool) throws(MetadataPredicateError) {
    if isComplete, !(current?.continuesIdentifier ?? false) { return }
    position = start
    throw error("this is not \(what)", at: start, suggestion: "A text stands in quotes; a name begins with a letter.")
  }

  private mutating func tooLarge(_ start: Int) -> MetadataPredicateError {
    position = start
    return error("this number is too large", at: start)
  }
}
