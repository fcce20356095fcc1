/// A predicate that's ready to be evaluated, by any number of threads at the same time.
///
/// Compilation checks everything that can be checked beforehand, prepares texts and regular expressions, computes
/// constant parts, and puts cheap tests before dear ones where their order makes no difference. Evaluation never traps
/// and never throws: a comparison that can't be made doesn't hold, and is reported as a ``PredicateProblem`` on
/// request.
public struct CompiledPredicate: Sendable {
  /// The tree that it was made of.
  public let predicate: MetadataPredicate
  /// The attributes that an evaluation may read, in the order of their first use.
  public let attributes: [String]
  /// Whether the result changes as time passes, without any change of the item.
  public let isTimeDependent: Bool
  /// Whether it's known beforehand when the result changes as time passes, as for dates that are compared with `now()` or the beginning of a
  /// day; see ``nextMoment(for:in:)``.
  package let isForeseeable: Bool
  /// Whether it reads every attribute of an item, through `SELF` or `ANYKEY`.
  public let readsWholeItem: Bool

  let test: CompiledTest
  let timedComparisons: [TimedComparison]
  @usableFromInline let program: PredicateProgram
  let variableCount: Int
  let stepCountMax: Int

  init(
    _ predicate: MetadataPredicate, _ functions: PredicateFunctions, _ limits: PredicateLimits, _ costs: [String: Int]
  ) throws(MetadataPredicateError) {
    var compiler = PredicateCompiler(functions, limits, costs)
    compiler.keepsOrder = !predicate.assignedVariables.isEmpty
    test = try compiler.test(predicate, depth: 1)
    program = PredicateProgram(test, compiler.attributes)
    self.predicate = predicate
    attributes = compiler.attributes
    isTimeDependent = compiler.isTimeDependent
    isForeseeable = compiler.isForeseeable
    timedComparisons = compiler.timedComparisons
    readsWholeItem = compiler.readsWholeItem
    variableCount = compiler.variableCount
    stepCountMax = limits.stepCountMax
  }

  /// Whether the predicate holds for an item, at no particular moment.
  ///
  /// A comparison of an attribute with a constant takes some nanoseconds and allocates nothing, see ``PredicateItem/answer(_:)``.
  ///
  /// - Parameter item: The item.
  /// - Returns: Whether it holds in the environment ``PredicateEnvironment/standard``.
  /// - Complexity: O(*n*) in the size of the predicate and of the values it reads; see ``PredicateLimits`` for the
  ///   bounds.
  @inlinable
  public func matches(_ item: some PredicateItem) -> Bool {
    let place = place(for: item)
    return place >= 0 ? finish(place, item, .standard) : place == PredicateProgram.accepted
  }

  /// Whether the predicate holds for an item.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - environment: The present moment and the like.
  /// - Returns: Whether it holds.
  /// - Complexity: O(*n*) in the size of the predicate and of the values it reads; see ``PredicateLimits`` for the
  ///   bounds.
  @inlinable
  public func matches(_ item: some PredicateItem, in environment: PredicateEnvironment) -> Bool {
    let place = place(for: item)
    return place >= 0 ? finish(place, item, environment) : place == PredicateProgram.accepted
  }

  /// The comparison of one attribute with a constant, if the predicate is one; otherwise `nil`.
  package var columnTest: ColumnTest? { program.columnTest }

  /// The end that the program comes to for an item, or the step that can't decide by one value alone.
  @inlinable
  func place(for item: some PredicateItem) -> Int {
    var place = program.start
    while place >= 0, !program.isGeneral(place) {
      let next = item.answer(PredicateQuestion(program, place)).next
      if next == PredicateProgram.undecided { break }
      place = next
    }
    return place
  }

  /// Goes on from a step that can't decide by one value alone.
  @usableFromInline
  func finish(_ place: Int, _ item: some PredicateItem, _ environment: PredicateEnvironment) -> Bool {
    var evaluation = Evaluation(self, item, environment)
    return evaluation.finish(program, place)
  }

  /// Whether the predicate holds for an item, and the parts that couldn't be compared on the way.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - environment: The present moment and the like.
  /// - Returns: The result and at most eight problems. Parts whose result an earlier test has decided aren't evaluated.
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
  ///   - limits: The costs and features that are allowed to it.
  ///   - attributeCosts: The costs of reading attributes, compared with 1 for a number that's at hand. Dear ones are
  ///     read last.
  /// - Returns: The compiled predicate.
  /// - Throws: ``MetadataPredicateError`` for a missing function, an unbound variable, an unusable regular expression,
  ///   constants that can't be compared, and everything that the limits exclude.
  /// - Complexity: O(*n*) in the size of the tree, and the costs of regular expressions.
  /// - Note: Rules P21, P24, P44, P47 and P55.
  public func compiled(
    functions: PredicateFunctions = .predefined, limits: PredicateLimits = .standard,
    attributeCosts: [String: Int] = [:]
  ) throws(MetadataPredicateError) -> CompiledPredicate {
    try CompiledPredicate(self, functions, limits, attributeCosts)
  }
}
