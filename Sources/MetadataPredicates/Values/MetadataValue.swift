/// A value of an attribute, or a constant in a predicate.
///
/// Two values are equal in the sense of `==` when they are of the same kind and hold the same. Predicates compare more
/// freely: to them 1, 1.0 and true are equal. That is ``isEqual(to:)``.
public enum MetadataValue: Hashable, Sendable, Codable {
  /// No value: a missing attribute, `nil` and `NULL`.
  case null
  /// True or false; counts as 1 or 0 among numbers.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A number with a fraction.
  case real(Double)
  /// Text.
  case string(String)
  /// A moment.
  case date(MetadataDate)
  /// Bytes.
  case data([UInt8])
  /// Values in order.
  case array([MetadataValue])
  /// Values without order.
  case set(Set<MetadataValue>)
  /// Values by name.
  case dictionary([String: MetadataValue])
}

extension MetadataValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes the value of a literal.
  public init(nilLiteral: ()) { self = .null }
  /// Makes the value of a literal.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes the value of a literal.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Makes the value of a literal.
  public init(floatLiteral value: Double) { self = .real(value) }
  /// Makes the value of a literal.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes the value of a literal.
  public init(arrayLiteral elements: MetadataValue...) { self = .array(elements) }

  /// Makes a dictionary; of two equal keys the later one counts.
  ///
  /// - Parameter elements: Names and values.
  public init(dictionaryLiteral elements: (String, MetadataValue)...) {
    self = .dictionary(Dictionary(elements) { _, later in later })
  }
}

extension MetadataValue {
  /// The kind of value, for messages.
  var kind: String {
    switch self {
    case .null: "nil"
    case .bool, .integer, .real: "a number"
    case .string: "a string"
    case .date: "a date"
    case .data: "data"
    case .array: "an array"
    case .set: "a set"
    case .dictionary: "a dictionary"
    }
  }

  /// The members of a collection, the values of a dictionary; `nil` for anything else.
  ///
  /// - Complexity: O(1) for arrays, O(*n*) otherwise. Members of sets come in no order.
  package var members: [MetadataValue]? {
    switch self {
    case .array(let elements): elements
    case .set(let elements): Array(elements)
    case .dictionary(let entries): Array(entries.values)
    case .null, .bool, .integer, .real, .string, .date, .data: nil
    }
  }

  /// Whether each number in it is finite, so that it can be written down and equals itself.
  var isFinite: Bool {
    switch self {
    case .null, .bool, .integer, .string, .data: true
    case .real(let number): number.isFinite
    case .date(let date): date.secondsSince2001.isFinite
    case .array, .set, .dictionary: (members ?? []).allSatisfy(\.isFinite)
    }
  }

  /// Its depth, as long as that isn't above a limit: 1 for a single value.
  func depth(atMost limit: Int) -> Int? {
    guard limit > 0 else { return nil }
    var deepest = 0
    for member in members ?? [] {
      guard let depth = member.depth(atMost: limit - 1) else { return nil }
      deepest = max(deepest, depth)
    }
    return deepest + 1
  }
}
