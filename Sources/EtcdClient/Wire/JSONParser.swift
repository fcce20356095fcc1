/// Reads one value of JSON from bytes.
package struct JSONParser {
  /// Bytes that aren't JSON, or are nested too deeply.
  package struct Failure: Error, Hashable {
    /// The number of bytes before the flaw.
    package let offset: Int
  }

  /// How deeply arrays and objects may be nested.
  package static let depthMax = 64

  private let bytes: ArraySlice<UInt8>
  private var position: Int
  private var depth = 0

  private init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// Reads bytes that are one value, with spaces around it.
  ///
  /// Of members with the same name the last one counts.
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: The value.
  /// - Throws: The place of the first flaw.
  /// - Complexity: O(*n*) in the number of bytes.
  package static func parse(_ bytes: ArraySlice<UInt8>) throws(Failure) -> JSONValue {
    var parser = JSONParser(bytes)
    let value = try parser.value()
    parser.skipSpaces()
    guard parser.position == bytes.endIndex else { throw parser.failure }
    return value
  }

  private var failure: Failure { Failure(offset: position - bytes.startIndex) }
  private var current: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  private mutating func skipSpaces() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
    guard current == UInt8(ascii: byte) else { return false }
    position += 1
    return true
  }

  private mutating func value() throws(Failure) -> JSONValue {
    skipSpaces()
    switch current {
    case UInt8(ascii: "{"): return try nested { (parser) throws(Failure) in try parser.object() }
    case UInt8(ascii: "["): return try nested { (parser) throws(Failure) in try parser.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func nested(_ body: (inout JSONParser) throws(Failure) -> JSONValue) throws(Failure) -> JSONValue {
    depth += 1
    guard depth <= Self.depthMax else { throw failure }
    position += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(Failure) -> JSONValue {
    guard bytes[position...].starts(with: word.utf8) else { throw failure }
    position += word.utf8.count
    return value
  }

  private mutating func array() throws(Failure) -> JSONValue {
    var elements: [JSONValue] = []
    skipSpaces()
    if skip("]") { return .array(elements) }
    while true {
      elements.append(try value())
      skipSpaces()
      if skip("]") { return .array(elements) }
      guard skip(",") else { throw failure }
    }
  }

  private mutating func object() throws(Failure) -> JSONValue {
    var members: [String: JSONValue] = [:]
    skipSpaces()
    if skip("}") { return .object(members) }
    while true {
      skipSpaces()
      guard current == UInt8(ascii: "\"") else { throw failure }
      let name = try string()
      skipSpaces()
      guard skip(":") else { throw failure }
      members[name] = try value()
      skipSpaces()
      if skip("}") { return .object(members) }
      guard skip(",") else { throw failure }
    }
  }

  private mutating func number() throws(Failure) -> JSONValue {
    let start = position
    _ = skip("-")
    if !skip("0") { try digits() }
    if skip(".") { try digits() }
    if skip("e") || skip("E") {
      if !skip("+") { _ = skip("-") }
      try digits()
    }
    return .number(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func digits() throws(Failure) {
    let start = position
    while let byte = current, (0x30...0x39).contains(byte) { position += 1 }
    if position == start { throw failure }
  }
}

// MARK: - Strings

extension JSONParser {
  private mutating func string() throws(Failure) -> String {
    position += 1
    let start = position
    // Most strings have no escapes, and values are long.
    while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
    var content = Array(bytes[start..<position])
    while !skip("\"") {
      guard let byte = current, byte >= 0x20 else { throw failure }
      position += 1
      if byte == UInt8(ascii: "\\") { content += try escape().utf8 } else { content.append(byte) }
    }
    guard let text = String(validating: content, as: UTF8.self) else { throw failure }
    return text
  }

  private mutating func escape() throws(Failure) -> String {
    guard let byte = current else { throw failure }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(Unicode.Scalar(byte))
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return String(try scalar())
    default: throw failure
    }
  }

  private mutating func scalar() throws(Failure) -> Unicode.Scalar {
    let unit = try codeUnit()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard (0xD800..<0xDC00).contains(unit), skip("\\"), skip("u") else { throw failure }
    let low = try codeUnit()
    guard (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    else { throw failure }
    return scalar
  }

  private mutating func codeUnit() throws(Failure) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Self.digit(byte) else { throw failure }
      unit = unit << 4 | digit
      position += 1
    }
    return unit
  }

  private static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x30...0x39: UInt32(byte - 0x30)
    case 0x41...0x46, 0x61...0x66: UInt32(byte | 0x20) - 0x61 + 10
    default: nil
    }
  }
}
