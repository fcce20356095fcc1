/// A JSON value whose members keep their order.
package indirect enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  /// One value per line in lists of the outermost object, so that two reports can be compared line by line.
  package var text: String {
    guard case .object(let members) = self else { return compactText }
    let lines = members.map { name, value -> String in
      guard case .array(let elements) = value, !elements.isEmpty else {
        return "  \(Self.quoted(name)): \(value.compactText)"
      }
      let rows = elements.map { "    \($0.compactText)" }.joined(separator: ",\n")
      return "  \(Self.quoted(name)): [\n\(rows)\n  ]"
    }
    return "{\n\(lines.joined(separator: ",\n"))\n}\n"
  }

  package var compactText: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let value): Self.text(of: value)
    case .string(let value): Self.quoted(value)
    case .array(let elements): "[\(elements.map(\.compactText).joined(separator: ", "))]"
    case .object(let members):
      "{\(members.map { "\(Self.quoted($0)): \($1.compactText)" }.joined(separator: ", "))}"
    }
  }

  /// JSON has no infinity and no NaN; whole numbers have no fraction.
  private static func text(of number: Double) -> String {
    if !number.isFinite { return "null" }
    if let whole = Int64(exactly: number) { return String(whole) }
    return "\(number)"
  }

  private static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}

extension Report {
  /// The report for programs.
  package var json: JSONValue {
    .object([
      ("machine", machineJSON),
      ("results", .array(results.map(json))),
      ("targets", .array(targets.map(Self.json))),
      ("counters", .array(counters.map(Self.json))),
      ("absent", .array(absent.map(JSONValue.string))),
      ("noisy", .array(results.filter(\.measurement.isNoisy).map { .string($0.id) })),
    ])
  }

  private var machineJSON: JSONValue {
    .object([
      ("processors", .number(Double(machine.processorCount))), ("model", .string(machine.processorModel)),
      ("kernel", .string(machine.kernel)), ("swift", .string(machine.swiftVersion)),
    ])
  }

  private func json(_ row: ResultRow) -> JSONValue {
    .object([
      ("id", .string(row.id)), ("subject", .string(row.subject)), ("unit", .string(row.unit)),
      ("median", .number(row.measurement.median)), ("min", .number(row.measurement.min)),
      ("max", .number(row.measurement.max)), ("timesFloor", timesFloor(row).map(JSONValue.number) ?? .null),
    ])
  }

  private static func json(_ line: TargetLine) -> JSONValue {
    .object([
      ("id", .string(line.id)), ("what", .string(line.whatWithGoal)),
      ("ratio", line.ratio.map(JSONValue.number) ?? .null), ("target", .number(line.target)),
      ("higherIsBetter", .bool(line.higherIsBetter)), ("holds", line.holds.map(JSONValue.bool) ?? .null),
    ])
  }

  private static func json(_ line: CounterLine) -> JSONValue {
    .object([
      ("id", .string(line.id)), ("what", .string(line.what)), ("value", .number(line.value)),
      ("limit", line.limit.map(JSONValue.number) ?? .null), ("holds", line.holds.map(JSONValue.bool) ?? .null),
    ])
  }
}
