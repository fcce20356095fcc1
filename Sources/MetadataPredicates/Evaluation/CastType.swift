/// The target types of `CAST`; the raw value is how one is written.
enum CastType: String, CaseIterable, Sendable {
  case number = "NSNumber"
  case string = "NSString"
  case date = "NSDate"
  case data = "NSData"
  case array = "NSArray"
  case set = "NSSet"
  case dictionary = "NSDictionary"

  /// Finds a type by its name, with or without `NS`.
  init?(_ name: String) {
    guard let type = CastType(rawValue: name) ?? CastType(rawValue: "NS" + name) else { return nil }
    self = type
  }

  /// The constant that a cast of a literal spells: values that have no literal of their own are written so.
  func literal(_ operand: MetadataExpression) -> MetadataValue? {
    switch (self, operand) {
    case (.date, .constant(.integer)), (.date, .constant(.real)), (.data, .constant(.string)): break
    case (.array, .aggregate), (.set, .aggregate), (.dictionary, .aggregate): break
    default: return nil
    }
    guard let value = operand.literalValue, case let result = apply(value), result != .null else { return nil }
    return result
  }

  /// Converts a value; `null` when that isn't possible.
  func apply(_ value: MetadataValue) -> MetadataValue {
    switch self {
    case .number: return Self.number(value)
    case .string: return Self.text(value).map(MetadataValue.string) ?? .null
    case .date: return Self.date(value)
    case .data:
      if case .data = value { return value }
      guard case .string(let digits) = value else { return .null }
      return Self.bytes(digits).map(MetadataValue.data) ?? .null
    case .array: return value.members.map(MetadataValue.array) ?? .null
    case .set: return value.members.map { .set(Set($0)) } ?? .null
    case .dictionary: return Self.dictionary(value)
    }
  }

  private static func number(_ value: MetadataValue) -> MetadataValue {
    switch value {
    case .integer, .real, .bool: return value
    case .date(let date): return .real(date.secondsSince2001)
    case .string(let text):
      if let whole = Int64(text) { return .integer(whole) }
      guard let real = Double(text), real.isFinite else { return .null }
      return .real(real)
    case .null, .data, .array, .set, .dictionary: return .null
    }
  }

  private static func date(_ value: MetadataValue) -> MetadataValue {
    switch value {
    case .date: return value
    case .string(let text): return CivilTime.date(iso8601: text).map(MetadataValue.date) ?? .null
    default: return value.quantity.map { .date(MetadataDate(secondsSince2001: $0.real)) } ?? .null
    }
  }

  private static func text(_ value: MetadataValue) -> String? {
    switch value {
    case .string(let text): text
    case .bool(let flag): flag ? "1" : "0"
    case .integer(let number): String(number)
    case .real(let number): number.description
    case .date(let date): date.secondsSince2001.description
    case .null, .data, .array, .set, .dictionary: nil
    }
  }

  /// Names and values by turns.
  private static func dictionary(_ value: MetadataValue) -> MetadataValue {
    if case .dictionary = value { return value }
    guard case .array(let elements) = value, elements.count.isMultiple(of: 2) else { return .null }
    var entries: [String: MetadataValue] = [:]
    for index in stride(from: 0, to: elements.count, by: 2) {
      guard case .string(let name) = elements[index] else { return .null }
      entries[name] = elements[index + 1]
    }
    return .dictionary(entries)
  }

  // MARK: Bytes

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func bytes(_ digits: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var digits = digits.utf8.makeIterator()
    func value(_ digit: UInt8) -> UInt8? { Character(Unicode.Scalar(digit)).hexDigitValue.map { UInt8($0) } }
    while let first = digits.next() {
      guard let high = value(first), let second = digits.next(), let low = value(second) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}

extension MetadataExpression {
  /// The value of a constant or of an aggregate of constants; `nil` for anything else.
  package var literalValue: MetadataValue? {
    switch self {
    case .constant(let value): return value
    case .aggregate(let members):
      let values = members.compactMap(\.literalValue)
      return values.count == members.count ? .array(values) : nil
    default: return nil
    }
  }
}
