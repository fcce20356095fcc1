/// Makes tests of a tree.
struct PredicateCompiler {
  let functions: PredicateFunctions
  let limits: PredicateLimits
  let costs: [String: Int]
  /// Whether tests must stay in the order in which they were written.
  var keepsOrder = false
  var attributes: [String] = []
  var isTimeDependent = false
  /// Whether it's known beforehand when the result changes as time passes.
  var isForeseeable = true
  var timedComparisons: [TimedComparison] = []
  var readsWholeItem = false
  /// How many variables there are; each has a place of its own.
  var variableCount = 0
  /// The variables in scope at the compiler's position, the innermost last.
  var variables: [(name: String, place: Int)] = []
  private var attributeNumbers: [String: Int] = [:]
  private var nodeCount = 0
  private var patternSize = 0

  init(_ functions: PredicateFunctions, _ limits: PredicateLimits, _ costs: [String: Int]) {
    self.functions = functions
    self.limits = limits
    self.costs = costs
  }

  // MARK: Limits

  /// Counts a node.
  ///
  /// The depth is checked before going deeper, so a tree of any depth does no harm.
  mutating func enter(_ depth: Int) throws(MetadataPredicateError) {
    nodeCount += 1
    if depth > limits.treeDepthMax {
      throw MetadataPredicateError(
        .limit, "the predicate is more than \(limits.treeDepthMax) levels deep",
        suggestion: "Join conditions with one .and([…]).")
    }
    if nodeCount > limits.nodeCountMax {
      throw MetadataPredicateError(.limit, "the predicate has more than \(limits.nodeCountMax) parts")
    }
  }

  func require(_ feature: PredicateLimits.Features, _ what: String) throws(MetadataPredicateError) {
    if !limits.features.contains(feature) { throw MetadataPredicateError(.limit, "\(what) isn't allowed here") }
  }

  mutating func number(ofAttribute name: String) throws(MetadataPredicateError) -> Int {
    if let known = attributeNumbers[name] { return known }
    if let refusal = limits.refusal(ofAttribute: name) {
      throw MetadataPredicateError(.limit, refusal.message, suggestion: refusal.suggestion)
    }
    let number = attributes.count
    attributes.append(name)
    attributeNumbers[name] = number
    return number
  }

  // MARK: Predicates

  mutating func test(_ predicate: MetadataPredicate, depth: Int) throws(MetadataPredicateError) -> CompiledTest {
    try enter(depth)
    switch predicate {
    case .constant(let value): return .constant(value)
    case .and(let members): return Self.all(try tests(members, depth), keepsOrder, self)
    case .or(let members): return Self.any(try tests(members, depth), keepsOrder, self)
    case .not(let member):
      let inner = try test(member, depth: depth + 1)
      if case .constant(let value) = inner { return .constant(!value) }
      return .not(inner)
    case .comparison(let comparison): return try test(comparison, depth: depth)
    }
  }

  private mutating func tests(_ members: [MetadataPredicate], _ depth: Int) throws(MetadataPredicateError)
    -> [CompiledTest]
  {
    var tests: [CompiledTest] = []
    for member in members { tests.append(try test(member, depth: depth + 1)) }
    return tests
  }

  private static func all(_ tests: [CompiledTest], _ keepsOrder: Bool, _ costs: PredicateCompiler) -> CompiledTest {
    var kept: [CompiledTest] = []
    for test in tests {
      if case .constant(let value) = test {
        // A test before it may assign a variable, but no test reads that any more.
        if !value { return .constant(false) }
      } else {
        kept.append(test)
      }
    }
    if kept.count <= 1 { return kept.first ?? .constant(true) }
    return .all(keepsOrder ? kept : costs.sorted(kept))
  }

  private static func any(_ tests: [CompiledTest], _ keepsOrder: Bool, _ costs: PredicateCompiler) -> CompiledTest {
    var kept: [CompiledTest] = []
    for test in tests {
      if case .constant(let value) = test {
        if value { return .constant(true) }
      } else {
        kept.append(test)
      }
    }
    if kept.count <= 1 { return kept.first ?? .constant(false) }
    return .any(keepsOrder ? kept : costs.sorted(kept))
  }

  // MARK: Comparisons

  private mutating func test(
    _ comparison: PredicateComparison, depth: Int
  ) throws(MetadataPredicateError) -> CompiledTest {
    if comparison.comparator == .matches { try require(.regularExpressions, "MATCHES") }
    let wasTimeDependent = isTimeDependent
    isTimeDependent = false
    let left = try expression(comparison.left, depth: depth + 1)
    let right = try expression(comparison.right, depth: depth + 1)
    let matcher = try matcher(comparison, right)
    let compiled = CompiledComparison(
      source: comparison, left: left, right: right, matcher: matcher, patternSizeMax: limits.patternSizeMax)
    if isTimeDependent { note(timed: TimedComparison(compiled)) }
    isTimeDependent = isTimeDependent || wasTimeDependent
    if let bounds = right.constantValue, comparison.comparator == .between { try check(bounds: bounds) }
    if left.constantValue != nil, right.constantValue != nil { return try folded(compiled) }
    return specialized(compiled)
  }

  private mutating func note(timed comparison: TimedComparison?) {
    if let comparison { timedComparisons.append(comparison) } else { isForeseeable = false }
  }

  private mutating func matcher(
    _ comparison: PredicateComparison, _ right: CompiledExpression
  ) throws(MetadataPredicateError) -> StringMatcher? {
    guard case .constant(.string(let pattern)) = right, let comparator = comparison.matcherComparator else {
      return nil
    }
    let matcher = try StringMatcher(
      comparator, pattern, comparison.options, sizeMax: limits.patternSizeMax,
      foreign: functions.foreignExpressions(limits))
    patternSize += matcher.size
    if patternSize > limits.patternSizeMax {
      throw MetadataPredicateError(.limit, "the patterns have more than \(limits.patternSizeMax) states together")
    }
    return matcher
  }

  private func check(bounds: MetadataValue) throws(MetadataPredicateError) {
    if case .array(let members) = bounds, members.count == 2 { return }
    let count = if case .array(let members) = bounds { "\(members.count) bounds" } else { bounds.kind }
    throw MetadataPredicateError(
      .operands, "BETWEEN needs two bounds, not \(count)", suggestion: "Write BETWEEN {1, 10}.")
  }

  /// Compares constants once and for all; constants that can't be compared are a mistake.
  private func folded(_ comparison: CompiledComparison) throws(MetadataPredicateError) -> CompiledTest {
    var evaluation = Evaluation(MetadataValue.null, limits.stepCountMax)
    let result = evaluation.holds(comparison)
    if let problem = evaluation.problems.first {
      throw MetadataPredicateError(
        .operands, problem.description, suggestion: "Use CAST to make both sides of one kind, or quotes for a text.")
    }
    return .constant(result)
  }

  private func specialized(_ comparison: CompiledComparison) -> CompiledTest {
    let source = comparison.source
    // ANY differs only for collections, which no special test takes, and in that `nil` is unequal to nothing.
    let isSpecial = source.quantifier == .whole || (source.quantifier == .any && source.comparator != .notEqual)
    guard isSpecial, case .attribute(let attribute) = comparison.left, let constant = comparison.right.constantValue
    else { return .comparison(comparison) }
    if let matcher = comparison.matcher {
      guard source.comparator == .notEqual else { return .text(attribute: attribute, matcher, comparison) }
      // Every value that isn't equal is unequal, also a missing one or one that's no string: one test serves for both.
      var opposite = source
      opposite.comparator = .equal
      return .not(
        .text(
          attribute: attribute, matcher,
          CompiledComparison(
            source: opposite, left: comparison.left, right: comparison.right, matcher: matcher,
            patternSizeMax: limits.patternSizeMax)))
    }
    if source.comparator.isRelational, constant.quantity != nil {
      return .number(attribute: attribute, NumberTest(comparator: source.comparator, bound: constant), comparison)
    }
    if source.comparator == .isIn, source.options.isEmpty, let members = constant.members {
      return .member(attribute: attribute, Set(members.map(\.canonical)), comparison)
    }
    return .comparison(comparison)
  }
}

extension PredicateComparison {
  /// The operator of a matcher that makes the comparison with a constant text; `nil` if none does.
  var matcherComparator: PredicateComparator? {
    switch comparator {
    case .equal, .notEqual: .equal
    case .beginsWith, .endsWith, .contains, .like, .matches, .tokenMatches: comparator
    case .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .isIn, .conformsTo, .typeEquals: nil
    }
  }

  /// The error in a pattern that stands in the text.
  func patternProblem(_ limits: PredicateLimits, _ functions: PredicateFunctions) -> MetadataPredicateError? {
    guard comparator == .matches else { return nil }
    if !limits.features.contains(.regularExpressions) {
      return MetadataPredicateError(.limit, "MATCHES isn't allowed here")
    }
    guard case .constant(.string(let pattern)) = right else { return nil }
    do throws(MetadataPredicateError) {
      try StringMatcher.check(
        expression: pattern, options, sizeMax: limits.patternSizeMax, foreign: functions.foreignExpressions(limits))
      return nil
    } catch { return error }
  }
}

extension MetadataExpression {
  /// The error in a call of a function.
  static func callProblem(
    _ name: String, _ count: Int, _ functions: PredicateFunctions, _ limits: PredicateLimits
  ) -> MetadataPredicateError? {
    guard let function = functions.find(name), function.name == name else {
      return MetadataPredicateError(.unknownFunction, "there is no function '\(name)'")
    }
    if function.isRegistered, !limits.features.contains(.registeredFunctions) {
      return MetadataPredicateError(.limit, "the function '\(name)' isn't allowed here")
    }
    if PredefinedFunction.named(name)?.isRandom == true, !limits.features.contains(.randomness) {
      return MetadataPredicateError(.limit, "the function '\(name)' isn't allowed here")
    }
    let expected = function.operandCount
    if expected.contains(count) { return nil }
    let range =
      expected.upperBound == .max
      ? "at least \(expected.lowerBound)"
      : (expected.count == 1 ? "\(expected.lowerBound)" : "\(expected.lowerBound) to \(expected.upperBound)")
    return MetadataPredicateError(.unknownFunction, "the function '\(name)' takes \(range) operands, not \(count)")
  }
}
