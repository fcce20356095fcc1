import FoundationEssentials
import MetadataPredicates

/// Values of attributes, for people and for programs.
enum AttributeText {
  /// For a cell of a table: `-` for no value, and commas between the members of a list.
  static func cell(_ value: MetadataValue) -> String {
    switch value {
    case .null: "-"
    case .bool(let flag): flag ? "true" : "false"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .string(let text): text.onOneLine
    case .date(let date): time(date)
    case .data(let bytes): hexadecimal(bytes)
    case .array(let members): members.map(cell).joined(separator: ",")
    case .set(let members): members.map(cell).sorted().joined(separator: ",")
    case .dictionary(let members): members.map { "\($0.key)=\(cell($0.value))" }.sorted().joined(separator: ",")
    }
  }

  /// The same with the types of JSON.
  static func json(_ value: MetadataValue) -> JSON {
    switch value {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(Int(number))
    case .string(let text): .string(text)
    case .array(let members): .array(members.map(json))
    case .set(let members): .array(members.sorted { cell($0) < cell($1) }.map(json))
    case .dictionary(let members): .object(members.sorted { $0.key < $1.key }.map { ($0.key, json($0.value)) })
    case .real, .date, .data: .string(cell(value))
    }
  }

  static func time(_ date: Date) -> String {
    date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  private static func time(_ date: MetadataDate) -> String {
    time(Date(timeIntervalSinceReferenceDate: date.secondsSince2001))
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
