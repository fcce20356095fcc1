extension PredicateCompiler {
  /// Cheap tests first; those of equal cost stay in order.
  func sorted(_ tests: [CompiledTest]) -> [CompiledTest] {
    tests.map { (test: $0, cost: cost(of: $0)) }.sorted { $0.cost < $1.cost }.map(\.test)
  }

  /// The cost of a test, compared with 1 for reading a number.
  private func cost(of test: CompiledTest) -> Int {
    switch test {
    case .constant: 0
    case .all(let tests), .any(let tests): tests.reduce(0) { min($0 + cost(of: $1), Self.costMax) }
    case .not(let test): cost(of: test)
    case .number(let attribute, _, _): cost(ofAttribute: attribute)
    case .member(let attribute, _, _): cost(ofAttribute: attribute) + 4
    case .text(let attribute, let matcher, _): cost(ofAttribute: attribute) + cost(of: matcher)
    case .comparison(let comparison):
      min(cost(of: comparison.left) + cost(of: comparison.right) + 4, Self.costMax)
    }
  }

  private static let costMax = 1_000_000
  private static let subqueryCost = 200

  private func cost(ofAttribute number: Int) -> Int { max(1, costs[attributes[number]] ?? 1) }

  private func cost(of matcher: StringMatcher) -> Int {
    let isDear = !matcher.options.isDisjoint(with: [.wordBased, .diacriticInsensitive])
    switch matcher.test {
    case .never: return 0
    case .equal, .prefix, .suffix: return isDear ? 4 : 1
    case .contains: return isDear ? 8 : 3
    case .like: return 8
    case .expression: return 12
    case .tokens: return 40
    case .foreign: return 400
    }
  }

  private func cost(of expression: CompiledExpression) -> Int {
    switch expression {
    case .constant: 0
    case .variable: 1
    case .attribute(let number): cost(ofAttribute: number)
    case .itself, .anyKey: 50
    case .path(let base, let steps): cost(of: base) + 4 * steps.count
    case .element(let base, _): cost(of: base) + 2
    case .aggregate(let members), .predefined(_, let members):
      members.reduce(4) { min($0 + cost(of: $1), Self.costMax) }
    case .registered(_, _, let members): members.reduce(20) { min($0 + cost(of: $1), Self.costMax) }
    case .negation(let operand), .cast(let operand, _), .assignment(_, let operand): cost(of: operand) + 2
    case .arithmetic(_, let left, let right): cost(of: left) + cost(of: right) + 2
    case .setOperation(_, let left, let right): cost(of: left) + cost(of: right) + 20
    case .subquery(let collection, _, let test):
      min(cost(of: collection) + Self.subqueryCost + 10 * cost(of: test), Self.costMax)
    case .ternary(let test, let first, let second): cost(of: test) + cost(of: first) + cost(of: second)
    }
  }
}
