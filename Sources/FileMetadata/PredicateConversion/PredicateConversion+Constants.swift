import FoundationEssentials
import MetadataPredicates

extension PredicateConversion {
  /// The value of an attribute that a constant stands for; `nil` if none.
  static func value(of constant: Any) -> MetadataValue? {
    switch constant {
    case let value as MetadataValue: return value
    case let text as String: return .string(text)
    case let text as Substring: return .string(String(text))
    case let character as Character: return .string(String(character))
    case let flag as Bool: return .integer(flag ? 1 : 0)
    case let number as any BinaryInteger: return Int64(exactly: number).map(MetadataValue.integer)
    case let number as any BinaryFloatingPoint: return real(Double(number)).map(MetadataValue.real)
    case let date as Date:
      return real(date.timeIntervalSinceReferenceDate).map { .date(MetadataDate(secondsSince2001: $0)) }
    case let data as Data: return .data(Array(data))
    case let value as any MetadataValueConvertible: return value.metadataValue
    case let elements as [Any]: return values(of: elements).map(MetadataValue.array)
    case let entries as [String: Any]: return dictionary(entries)
    case let elements as Set<AnyHashable>: return values(of: elements.map(\.base)).map { .set(Set($0)) }
    default: return isNothing(constant) ? .null : nil
    }
  }

  /// Predicates are text as well, in which a number that isn't finite can't be written.
  private static func real(_ number: Double) -> Double? { number.isFinite ? number : nil }

  private static func values(of elements: [Any]) -> [MetadataValue]? {
    let values = elements.compactMap(value)
    return values.count == elements.count ? values : nil
  }

  private static func dictionary(_ entries: [String: Any]) -> MetadataValue? {
    let values = entries.compactMapValues(value)
    return values.count == entries.count ? .dictionary(values) : nil
  }

  /// An optional without a value can't be found by a cast, which unwraps it.
  private static func isNothing(_ constant: Any) -> Bool {
    let mirror = Mirror(reflecting: constant)
    return mirror.displayStyle == .optional && mirror.children.isEmpty
  }

  /// Constants in the form that the parser gives them.
  static func expression(_ value: MetadataValue) -> MetadataExpression {
    switch value {
    case .array(let elements): .aggregate(elements.map(expression))
    case .bool(let flag): flag ? .yes : .no
    case .null, .integer, .real, .string, .date, .data, .set, .dictionary: .constant(value)
    }
  }
}

extension PredicateExpressions.Value: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    guard let value = PredicateConversion.value(of: value) else {
      throw PredicateConversionError(
        .constant, "no attribute has values of the type '\(Output.self)' such as '\(value)'")
    }
    return .expression(PredicateConversion.expression(value))
  }
}

extension PredicateExpressions.NilLiteral: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .expression(.constant(.null))
  }
}

// MARK: Ranges

/// A range of values that are known.
protocol KnownRange {
  /// Its bounds, as values, and whether the upper one belongs to it.
  var knownBounds: (lower: Any?, upper: Any?, isClosed: Bool) { get }
}

extension Range: KnownRange {
  var knownBounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, false) }
}

extension ClosedRange: KnownRange {
  var knownBounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, true) }
}

extension PartialRangeFrom: KnownRange {
  var knownBounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, nil, false) }
}

extension PartialRangeUpTo: KnownRange {
  var knownBounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, false) }
}

extension PartialRangeThrough: KnownRange {
  var knownBounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, true) }
}
