/// A value of JSON, RFC 8259.
indirect enum JSON {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case seconds(Duration)
  case string(String)
  case array([JSON])
  /// Members in the order in which they're written.
  case object([(String, JSON)])

  init(_ text: String?) { self = text.map(JSON.string) ?? .null }
  init(_ bool: Bool?) { self = bool.map(JSON.bool) ?? .null }
  init(_ integer: Int?) { self = integer.map(JSON.integer) ?? .null }

  /// On one line.
  var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    // JSON has no infinity, and nothing that isn't a number.
    case .number(let value): value.isFinite ? "\(value)" : "null"
    case .seconds(let duration): Self.number(duration)
    case .string(let value): Self.quoted(value)
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quoted($0.0) + ":" + $0.1.text }.joined(separator: ",") + "}"
    }
  }

  /// Seconds with three digits behind the point.
  private static func number(_ duration: Duration) -> String {
    let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    let digits = String(milliseconds % 1000)
    return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - digits.count) + digits
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      // Line ends for some readers of lines, and control characters, which JSON doesn't allow.
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
