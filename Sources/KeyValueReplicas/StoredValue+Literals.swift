extension StoredValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }

  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// A number with a fraction.
  public init(floatLiteral value: Double) { self = .real(value) }

  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }

  /// Values in order.
  public init(arrayLiteral elements: StoredValue...) { self = .array(elements) }

  /// Values with names; the last one of those with the same name.
  public init(dictionaryLiteral elements: (String, StoredValue)...) {
    self = .dictionary(Dictionary(elements) { $1 })
  }
}
