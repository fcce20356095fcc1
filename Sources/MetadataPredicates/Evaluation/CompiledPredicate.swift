/// A predicate that's ready to be evaluated, by any number of threads at the same time.
///
/// Compilation checks everything that can be checked beforehand, prepares texts and regular expressions, computes what is constant, and puts
/// cheap tests before dear ones where their order makes no difference. Evaluation never traps and never throws: a comparison that can't
/// be made doesn't hold, and is reported as a ``PredicateProblem`` to those who ask.
public struct CompiledPredicate: Sendable {
  /// The tree that it was made of.
  public let predicate: MetadataPredicate
  /// The attributes that an evaluation may read, in the order of their first use.
  public let attributes: [String]
  /// Whether the result changes as time passes, without any change of the item.
  public let isTimeDependent: Bool
  /// Whether it reads every attribute of an item, through `SELF` or `ANYKEY`.
  public let readsWholeItem: Bool

  let test: CompiledTest
  let variableCount: Int
  let stepCountMax: Int

  init(
    _ predicate: MetadataPredicate, _ functions: PredicateFunctions, _ limits: PredicateLimits, _ costs: [String: Int]
  ) throws(MetadataPredicateError) {
    var compiler = PredicateCompiler(functions, limits, costs)
    compiler.keepsOrder = !predicate.assignedVariables.isEmpty
    test = try compiler.test(predicate, depth: 1)
    self.predicate = predicate
    attributes = compiler.attributes
    isTimeDependent = compiler.isTimeDependent
    readsWholeItem = compiler.readsWholeItem
    variableCount = compiler.variableCount
    stepCountMax = limits.stepCountMax
  }

  /// Whether the predicate holds for an item.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - environment: The present moment and the like.
  /// - Returns: Whether it holds.
  /// - Complexity: O(*n*) in the size of the predicate and of the values it looks at; see ``PredicateLimits`` for what bounds it.
  public func matches(_ item: some PredicateItem, in environment: PredicateEnvironment = .standard) -> Bool {
    if let result = quickResult(test, item) { return result }
    var evaluation = Evaluation(self, item, environment)
    return evaluation.holds(test)
  }

  /// The result of tests that need nothing but a value of the usual kind; `nil` if one of them needs more.
  ///
  /// Most predicates consist of such tests, and setting up an evaluation takes longer than one of them.
  private func quickResult(_ test: CompiledTest, _ item: some PredicateItem) -> Bool? {
    switch test {
    case .constant(let value): return value
    case .all(let tests):
      for test in tests {
        guard let result = quickResult(test, item) else { return nil }
        if !result { return false }
      }
      return true
    case .any(let tests):
      for test in tests {
        guard let result = quickResult(test, item) else { return nil }
        if result { return true }
      }
      return false
    case .not(let test): return quickResult(test, item).map { !$0 }
    case .text(let number, let matcher, _):
      switch item.value(forAttribute: attributes[number], index: number) {
      case .string(let text): return matcher.matches(text)
      case .null: return false
      case .bool, .integer, .real, .date, .data, .array, .set, .dictionary: return nil
      }
    case .number(let number, let test, _):
      return test.holds(item.value(forAttribute: attributes[number], index: number))
    case .member, .comparison: return nil
    }
  }

  /// Whether the predicate holds for an item, and what couldn't be compared on the way.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - environment: The present moment and the like.
  /// - Returns: The result and at most eight problems. What a test before it has decided isn't looked at.
  public func diagnosedMatches(
    _ item: some PredicateItem, in environment: PredicateEnvironment = .standard
  ) -> (matches: Bool, problems: [PredicateProblem]) {
    var evaluation = Evaluation(self, item, environment)
    let result = evaluation.holds(test)
    return (result, evaluation.problems)
  }
}

extension PredicateEnvironment {
  /// No moment, UTC, the usual types.
  public static let standard = PredicateEnvironment()
}

extension MetadataPredicate {
  /// Prepares the predicate for evaluation.
  ///
  /// - Parameters:
  ///   - functions: The functions that may be called.
  ///   - limits: What it may cost and use.
  ///   - attributeCosts: What reading an attribute costs, compared with 1 for looking at a number that's at hand. Dear ones
  ///     are read last.
  /// - Returns: What is evaluated.
  /// - Throws: ``MetadataPredicateError`` for a function that there isn't, an unbound variable, a regular expression that can't be used, constants
  ///   that can't be compared, and whatever the limits exclude.
  /// - Complexity: O(*n*) in the size of the tree, and what regular expressions need.
  /// - Note: Rules P21, P24, P44, P47 and P55.
  public func compiled(
    functions: PredicateFunctions = .predefined, limits: PredicateLimits = .standard,
    attributeCosts: [String: Int] = [:]
  ) throws(MetadataPredicateError) -> CompiledPredicate {
    try CompiledPredicate(self, functions, limits, attributeCosts)
  }
}
