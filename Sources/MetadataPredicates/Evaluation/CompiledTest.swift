/// The rest of a predicate after compilation: something that holds or not.
indirect enum CompiledTest: Sendable {
  case constant(Bool)
  case all([CompiledTest])
  case any([CompiledTest])
  case not(CompiledTest)
  /// An attribute against a constant text; other values than strings go the general way.
  case text(attribute: Int, StringMatcher, CompiledComparison)
  /// An attribute against a constant number or date.
  case number(attribute: Int, NumberTest, CompiledComparison)
  /// An attribute among constants.
  case member(attribute: Int, Set<MetadataValue>, CompiledComparison)
  case comparison(CompiledComparison)
}

/// A comparison that nothing simpler could be made of.
///
/// A class for the same reason as ``StringMatcher``.
final class CompiledComparison: Sendable {
  let source: PredicateComparison
  let left: CompiledExpression
  let right: CompiledExpression
  /// For a constant text on the right.
  let matcher: StringMatcher?
  /// For texts on the right that are computed.
  let patterns: PatternCache?

  /// The allowed size of a computed pattern.
  private let patternSizeMax: Int

  init(
    source: PredicateComparison, left: CompiledExpression, right: CompiledExpression, matcher: StringMatcher?,
    patternSizeMax: Int
  ) {
    self.source = source
    self.left = left
    self.right = right
    self.matcher = matcher
    patterns = matcher == nil && source.comparator.looksIntoTexts ? PatternCache() : nil
    self.patternSizeMax = patternSizeMax
  }

  /// Prepares a text that was computed.
  ///
  /// - Parameters:
  ///   - comparator: The operator, as it's meant from the side of the pattern.
  ///   - pattern: The text or pattern to search for.
  /// - Returns: The pattern, from a cache if it was there lately.
  /// - Throws: ``MetadataPredicateError`` for a regular expression that can't be used.
  func matcher(
    _ comparator: PredicateComparator, _ pattern: String
  ) throws(MetadataPredicateError) -> StringMatcher {
    let options = source.options
    let sizeMax = patternSizeMax
    func prepare(_ pattern: String) throws(MetadataPredicateError) -> StringMatcher {
      try StringMatcher(comparator, pattern, options, sizeMax: sizeMax)
    }
    guard let patterns else { return try prepare(pattern) }
    return try patterns.pattern(pattern, prepare).get()
  }
}

/// A comparison with a constant number.
struct NumberTest: Sendable {
  let comparator: PredicateComparator
  let bound: MetadataValue

  /// Whether a value passes; `nil` if it's neither number nor date.
  func holds(_ value: MetadataValue) -> Bool? {
    guard let order = value.numericOrder(with: bound) else { return nil }
    return comparator.holds(for: order)
  }
}

extension PredicateComparator {
  /// Whether it's `==` or `!=` or asks for an order.
  var isRelational: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
    case .between, .isIn, .contains, .beginsWith, .endsWith, .like, .matches, .tokenMatches, .conformsTo, .typeEquals:
      false
    }
  }

  /// Whether it may search texts.
  var looksIntoTexts: Bool {
    switch self {
    case .isIn, .contains, .beginsWith, .endsWith, .like, .matches, .tokenMatches: true
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .conformsTo, .typeEquals: false
    }
  }

  func holds(for order: ValueOrder) -> Bool {
    switch self {
    case .less: order == .less
    case .lessOrEqual: order != .greater
    case .greater: order == .greater
    case .greaterOrEqual: order != .less
    case .equal: order == .equal
    case .notEqual: order != .equal
    default: false
    }
  }
}

/// Where a comparison gets a value from.
indirect enum CompiledExpression: Sendable {
  case constant(MetadataValue)
  case attribute(Int)
  case itself
  case anyKey
  case variable(Int)
  case path(CompiledExpression, [MetadataExpression.PathStep])
  case element(CompiledExpression, Index)
  case aggregate([CompiledExpression])
  case negation(CompiledExpression)
  case arithmetic(MetadataExpression.ArithmeticOperator, CompiledExpression, CompiledExpression)
  case setOperation(MetadataExpression.SetOperator, CompiledExpression, CompiledExpression)
  case predefined(PredefinedFunction, [CompiledExpression])
  case registered(String, PredicateFunctions.Body, [CompiledExpression])
  case subquery(CompiledExpression, variable: Int, CompiledTest)
  case ternary(CompiledTest, CompiledExpression, CompiledExpression)
  case cast(CompiledExpression, CastType)
  case assignment(variable: Int, CompiledExpression)

  enum Index: Sendable {
    case first, last, size
    case at(CompiledExpression)
  }

  var constantValue: MetadataValue? {
    if case .constant(let value) = self { return value }
    return nil
  }
}
