/// One evaluation of a compiled predicate for one item.
struct Evaluation<Item: PredicateItem> {
  private static var problemCountMax: Int { 8 }

  let item: Item
  let attributes: [String]
  let environment: PredicateEnvironment
  var variables: [MetadataValue]
  private(set) var problems: [PredicateProblem] = []
  private var stepsLeft: Int
  /// How many random numbers were drawn.
  var drawCount: UInt64 = 0
  /// While every attribute is tried, most of them are of another kind: that's no problem.
  private var isTryingAny = false

  init(_ predicate: CompiledPredicate, _ item: Item, _ environment: PredicateEnvironment) {
    self.item = item
    attributes = predicate.attributes
    self.environment = environment
    variables = Array(repeating: .null, count: predicate.variableCount)
    stepsLeft = predicate.stepCountMax
  }

  /// For an expression; without attributes, for one that depends on no item.
  init(
    _ item: Item, _ stepCountMax: Int, _ attributes: [String] = [], _ variableCount: Int = 0,
    _ environment: PredicateEnvironment = .standard
  ) {
    self.item = item
    self.attributes = attributes
    self.environment = environment
    variables = Array(repeating: .null, count: variableCount)
    stepsLeft = stepCountMax
  }

  mutating func note(_ problem: PredicateProblem) {
    if !isTryingAny, problems.count < Self.problemCountMax { problems.append(problem) }
  }

  /// Counts visits of members; `false` when there were too many.
  mutating func visit(_ count: Int = 1) -> Bool {
    stepsLeft -= count
    if stepsLeft >= 0 { return true }
    if stepsLeft + count >= 0 { note(.tooManySteps) }
    stepsLeft = -1
    return false
  }

  func attribute(_ number: Int) -> MetadataValue { item.value(forAttribute: attributes[number], index: number) }

  // MARK: Tests

  mutating func holds(_ test: CompiledTest) -> Bool {
    switch test {
    case .constant(let value): return value
    case .all(let tests):
      for test in tests where !holds(test) { return false }
      return true
    case .any(let tests):
      for test in tests where holds(test) { return true }
      return false
    case .not(let test): return !holds(test)
    case .text(let number, let matcher, let comparison):
      let value = attribute(number)
      if case .string(let text) = value { return matcher.matches(text) }
      if case .null = value { return false }
      return holds(comparison, value, comparison.right.constantValue ?? .null)
    case .number(let number, let test, let comparison):
      let value = attribute(number)
      return test.holds(value) ?? holds(comparison, value, test.bound)
    case .member(let number, let members, let comparison):
      let value = attribute(number)
      switch value {
      case .string, .integer: return members.contains(value)
      default: return holds(comparison, value, comparison.right.constantValue ?? .null)
      }
    case .comparison(let comparison): return holds(comparison)
    }
  }

  /// Makes the tests of a program from one of its steps on.
  ///
  /// - Parameters:
  ///   - program: The program.
  ///   - first: The number of the step.
  /// - Returns: Whether the predicate holds.
  mutating func finish(_ program: PredicateProgram, _ first: Int) -> Bool {
    var place = first
    while place >= 0 { place = program.next(after: place, holds(program.tests[place])) }
    return place == PredicateProgram.accepted
  }

  mutating func holds(_ comparison: CompiledComparison) -> Bool {
    if case .anyKey = comparison.left { return holdsForAnyKey(comparison) }
    let left = value(comparison.left)
    let right = value(comparison.right)
    return holds(comparison, left, right)
  }

  private mutating func holds(_ comparison: CompiledComparison, _ left: MetadataValue, _ right: MetadataValue) -> Bool {
    switch comparison.source.quantifier {
    case .whole: return compare(left, right, comparison)
    case .any:
      for member in members(under: left) where compare(member, right, comparison) { return true }
      return false
    case .all:
      for member in members(under: left) where !compare(member, right, comparison) { return false }
      return true
    }
  }

  /// The members that ANY and ALL test: none of `nil`; a single value counts as the only one.
  private mutating func members(under value: MetadataValue) -> [MetadataValue] {
    if case .null = value { return [] }
    guard let members = value.members else { return [value] }
    return visit(members.count) ? members : []
  }

  private mutating func holdsForAnyKey(_ comparison: CompiledComparison) -> Bool {
    let right = value(comparison.right)
    let wasTrying = isTryingAny
    isTryingAny = true
    defer { isTryingAny = wasTrying }
    // With ANY, which Spotlight's `*` comes with, also the members of an attribute that has several values.
    let isForEach = comparison.source.quantifier == .any
    for value in item.wholeValue.members ?? [] {
      if isForEach ? holds(comparison, value, right) : compare(value, right, comparison) { return true }
    }
    return false
  }
}
