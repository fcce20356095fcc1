extension MetadataValue {
  /// Whether predicates take two values for equal.
  ///
  /// Numbers and booleans are compared by their numbers, strings by canonical equivalence (`é` in one scalar or two),
  /// dates also with numbers of seconds since 2001, arrays element by element. An array never equals a set, and `nil`
  /// only `nil`.
  ///
  /// - Parameter other: The value to compare with.
  /// - Returns: Whether they are equal; a number that isn't one (NaN) equals nothing.
  /// - Complexity: O(*n*) in the size of the smaller value.
  /// - Note: Rules P12, P43 and P45.
  public func isEqual(to other: MetadataValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.string(let left), .string(let right)): left == right
    case (.data(let left), .data(let right)): left == right
    case (.array(let left), .array(let right)): left.elementsEqual(right) { $0.isEqual(to: $1) }
    case (.set(let left), .set(let right)): Set(left.map(\.canonical)) == Set(right.map(\.canonical))
    case (.dictionary(let left), .dictionary(let right)):
      left.count == right.count && left.allSatisfy { key, value in right[key].map(value.isEqual(to:)) ?? false }
    default: numericOrder(with: other) == .some(.equal)
    }
  }

  /// The same value in one spelling: equal in a predicate means equal by `==` afterwards.
  var canonical: MetadataValue {
    switch self {
    case .null, .string, .data, .integer: self
    case .bool(let flag): .integer(flag ? 1 : 0)
    case .real(let number): Int64(exactly: number).map(MetadataValue.integer) ?? self
    case .date(let date): MetadataValue.real(date.secondsSince2001).canonical
    case .array(let elements): .array(elements.map(\.canonical))
    case .set(let elements): .set(Set(elements.map(\.canonical)))
    case .dictionary(let entries): .dictionary(entries.mapValues(\.canonical))
    }
  }

  /// How two numbers or dates are ordered; `nil` when one of them is something else, or no number at all (NaN).
  func numericOrder(with other: MetadataValue) -> ValueOrder? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): return ValueOrder(left, right)
    case (.real(let left), .real(let right)): return left.isNaN || right.isNaN ? nil : ValueOrder(left, right)
    default: break
    }
    guard let left = quantity, let right = other.quantity else { return nil }
    return left.order(with: right)
  }

  /// The number that a number, a boolean or a date stands for.
  var quantity: Quantity? {
    switch self {
    case .bool(let flag): .integer(flag ? 1 : 0)
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .date(let date): .real(date.secondsSince2001)
    case .null, .string, .data, .array, .set, .dictionary: nil
    }
  }
}

/// The result of comparing two values.
enum ValueOrder: Equatable {
  case less, equal, greater

  init<Value: Comparable>(_ left: Value, _ right: Value) {
    self = left < right ? .less : (left == right ? .equal : .greater)
  }

  var reversed: ValueOrder {
    switch self {
    case .less: .greater
    case .equal: .equal
    case .greater: .less
    }
  }
}

/// A number, whole or not, that is compared without losing digits.
enum Quantity: Equatable {
  case integer(Int64)
  case real(Double)

  var real: Double {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    }
  }

  func order(with other: Quantity) -> ValueOrder? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): return ValueOrder(left, right)
    case (.real(let left), .real(let right)): return left.isNaN || right.isNaN ? nil : ValueOrder(left, right)
    case (.integer(let left), .real(let right)): return Self.order(left, right)
    case (.real(let left), .integer(let right)): return Self.order(right, left)?.reversed
    }
  }

  /// Not by `Double(left)`: that has no room for all digits of a whole number.
  private static func order(_ left: Int64, _ right: Double) -> ValueOrder? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return .less }
    if right < -0x1p63 { return .greater }
    let whole = right.rounded(.towardZero)
    let order = ValueOrder(left, Int64(whole))
    return order == .equal ? ValueOrder(whole, right) : order
  }
}
