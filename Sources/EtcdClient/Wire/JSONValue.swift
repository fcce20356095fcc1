/// A value of JSON, RFC 8259.
package indirect enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// The digits as they were written: 64-bit integers don't fit a `Double`.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])
}

extension JSONValue {
  /// A member of an object; absent ones, and those of other values, are `null`, as the gateway leaves out zeros and empty values.
  package subscript(_ name: String) -> JSONValue {
    if case .object(let members) = self { members[name] ?? .null } else { .null }
  }

  /// The elements of an array; none for other values.
  package var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

  /// The text of a string.
  package var text: String? { if case .string(let text) = self { text } else { nil } }

  /// Whether it's `true`.
  package var isTrue: Bool { self == .bool(true) }

  /// Whether it's an object.
  package var isObject: Bool { if case .object = self { true } else { false } }

  /// A 64-bit integer, which the gateway writes as a string, or a number; 0 if it's absent, `nil` if it's something else.
  package var integer: Int64? {
    switch self {
    case .null: 0
    case .number(let digits), .string(let digits): Int64(digits) ?? UInt64(digits).map { Int64(bitPattern: $0) }
    case .bool, .array, .object: nil
    }
  }

  /// The bytes of a string in Base64; none if it's absent, `nil` if it's something else.
  package var bytes: [UInt8]? {
    switch self {
    case .null: []
    case .string(let text): Base64.decode(text)
    case .bool, .number, .array, .object: nil
    }
  }
}

// MARK: - Writing

extension JSONValue {
  /// An integer as the gateway wants it.
  package static func integer(_ value: Int64) -> JSONValue { .string(String(value)) }

  /// Bytes as the gateway wants them.
  package static func bytes(_ bytes: [UInt8]) -> JSONValue { .string(Base64.encode(bytes)) }

  /// The value on one line, members in the order of their names.
  package var encoded: [UInt8] {
    var output: [UInt8] = []
    write(to: &output)
    return output
  }

  private func write(to output: inout [UInt8]) {
    switch self {
    case .null: output += "null".utf8
    case .bool(let value): output += (value ? "true" : "false").utf8
    case .number(let digits): output += digits.utf8
    case .string(let text): Self.write(text, to: &output)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        element.write(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        Self.write(member.key, to: &output)
        output.append(UInt8(ascii: ":"))
        member.value.write(to: &output)
      }
      output.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        output += "\\u\(digits.count == 1 ? "000" : "00")\(digits)".utf8
      default: output.append(byte)
      }
    }
    output.append(UInt8(ascii: "\""))
  }
}
