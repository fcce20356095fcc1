import FoundationEssentials
import KeyValueReplicas
import KeyValueStore

/// Values of keys as JSON: bytes and dates, which it hasn't, are objects with one member, `$data` in Base64 or `$date` in ISO 8601.
enum ValueText {
  static func json(_ value: StoredValue?) -> JSON {
    switch value {
    case nil: .null
    case .boolean(let value): .bool(value)
    case .integer(let value): .integer(Int(value))
    case .real(let value): .number(value)
    case .string(let value): .string(value)
    case .data(let value): .object([("$data", .string(Data(value).base64EncodedString()))])
    case .date(let value):
      .object([("$date", .string(Date(timeIntervalSinceReferenceDate: value).formatted(dateStyle)))])
    case .array(let elements): .array(elements.map(json))
    case .dictionary(let members): .object(members.sorted { $0.key < $1.key }.map { ($0.key, json($0.value)) })
    }
  }

  private static let dateStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// The value that a word of the command line stands for: JSON, or else a text.
  static func value(of word: String) throws(Failure) -> StoredValue {
    guard let parsed = try? JSONDecoder().decode(ParsedJSON.self, from: Data(word.utf8)) else { return .string(word) }
    if let digits = longInteger(in: word) {
      throw Failure(
        .dataError, "'\(digits)' has too many digits for a number, and would lose some; as a text it's '\"\(digits)\"'")
    }
    guard let value = parsed.value else {
      throw Failure(
        .dataError, "'\(word)' has a null, which no value can be; 'filecoord values remove' removes a key")
    }
    return value
  }

  /// The first integer in JSON that 64 bits don't hold: a real number would have other digits.
  private static func longInteger(in json: String) -> String? {
    // A text goes from one quotation mark to the next that has no backslash before it.
    var (isInText, isEscaped, token) = (false, false, "")
    for character in json.unicodeScalars + [" "] {
      if isInText {
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == "\"" {
          isInText = false
        }
      } else if character.isNumeral {
        token.unicodeScalars.append(character)
      } else {
        if !token.isEmpty, token.unicodeScalars.allSatisfy(\.isDigitOrMinus), Int64(token) == nil { return token }
        (isInText, token) = (character == "\"", "")
      }
    }
    return nil
  }

  /// JSON that was read.
  private struct ParsedJSON: Decodable {
    /// `nil` for a null somewhere.
    let value: StoredValue?

    init(from decoder: any Decoder) throws {
      if let members = try? decoder.singleValueContainer().decode([String: ParsedJSON].self) {
        value = Self.special(members) ?? Self.all(members).map(StoredValue.dictionary)
      } else if let elements = try? decoder.singleValueContainer().decode([ParsedJSON].self) {
        let values = elements.compactMap(\.value)
        value = values.count == elements.count ? .array(values) : nil
      } else {
        value = try Self.simple(decoder.singleValueContainer())
      }
    }

    private static func simple(_ container: any SingleValueDecodingContainer) throws -> StoredValue? {
      if container.decodeNil() { return nil }
      if let value = try? container.decode(Bool.self) { return .boolean(value) }
      if let value = try? container.decode(Int64.self) { return .integer(value) }
      if let value = try? container.decode(Double.self) { return .real(value) }
      return .string(try container.decode(String.self))
    }

    private static func special(_ members: [String: ParsedJSON]) -> StoredValue? {
      guard members.count == 1, let (name, member) = members.first, case .string(let text) = member.value else {
        return nil
      }
      switch name {
      case "$data": return Data(base64Encoded: text).map { .data(Array($0)) }
      case "$date":
        return (try? Date(text, strategy: dateStyle)).map { .date($0.timeIntervalSinceReferenceDate) }
      default: return nil
      }
    }

    private static func all(_ members: [String: ParsedJSON]) -> [String: StoredValue]? {
      let values = members.compactMapValues(\.value)
      return values.count == members.count ? values : nil
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isDigitOrMinus: Bool { ("0"..."9").contains(self) || self == "-" }

  /// Whether numbers of JSON may have it.
  fileprivate var isNumeral: Bool { isDigitOrMinus || [".", "+", "e", "E"].contains(self) }
}

extension StoreChange.Reason {
  /// As people and programs read it.
  var text: String {
    switch self {
    case .server: "server"
    case .initialSync: "initialSync"
    case .quotaViolation: "quotaViolation"
    case .accountChange: "accountChange"
    case .otherProcess: "otherProcess"
    }
  }
}
