extension Parser {
  mutating func predicate() throws(MetadataPredicateError) -> Parsed<MetadataPredicate> {
    let operand = try alternatives()
    return try asPredicate(operand)
  }

  /// An expression that ends here is no predicate yet.
  ///
  /// The operand has to be read before the call, or the error would name the place where reading began.
  func asPredicate(_ operand: Operand) throws(MetadataPredicateError) -> Parsed<MetadataPredicate> {
    switch operand {
    case .predicate(let predicate): return predicate
    case .expression: throw unexpected("an operator such as '==', CONTAINS or IN")
    }
  }

  // MARK: AND, OR, NOT

  private var isAtOr: Bool { isAt(Symbol.or) || isAt(Keyword.or) }
  private var isAtAnd: Bool { isAt(Symbol.and) || isAt(Keyword.and) }
  private var isAtNot: Bool { isAt(Symbol.not) || isAt(Keyword.not) }

  /// `a OR b`, or a simpler predicate.
  mutating func alternatives() throws(MetadataPredicateError) -> Operand {
    let first = try conditions()
    guard isAtOr else { return first }
    var members = [try asPredicate(first)]
    while isAtOr {
      advance()
      let next = try conditions()
      members.append(try asPredicate(next))
    }
    return .predicate(try made(.or(members.map(\.node)), above: members.map(\.depth).max() ?? 0))
  }

  private mutating func conditions() throws(MetadataPredicateError) -> Operand {
    let first = try negation()
    guard isAtAnd else { return first }
    var members = [try asPredicate(first)]
    while isAtAnd {
      advance()
      let next = try negation()
      members.append(try asPredicate(next))
    }
    return .predicate(try made(.and(members.map(\.node)), above: members.map(\.depth).max() ?? 0))
  }

  private mutating func negation() throws(MetadataPredicateError) -> Operand {
    guard isAtNot else { return try condition() }
    advance()
    try enter()
    let operand = try negation()
    let negated = try asPredicate(operand)
    leave()
    return .predicate(try made(.not(negated.node), above: negated.depth))
  }

  // MARK: Comparisons

  private mutating func condition() throws(MetadataPredicateError) -> Operand {
    if case .keyword(let keyword) = kind {
      switch keyword {
      case .truePredicate, .falsePredicate:
        advance()
        return .predicate(try made(.constant(keyword == .truePredicate)))
      case .any, .some, .all, .none:
        advance()
        let left = try expression()
        let comparison = try comparison(left, keyword == .all ? .all : .any)
        if keyword != .none { return .predicate(comparison) }
        return .predicate(try made(.not(comparison.node), above: comparison.depth))
      default: break
      }
    }
    let operand = try binary(allowsPredicate: true)
    guard case .expression(let left) = operand, try atComparator() else { return operand }
    return .predicate(try comparison(left, .whole))
  }

  private func atComparator() throws(MetadataPredicateError) -> Bool {
    if comparator != nil { return true }
    if case .invalid(let error) = kind { throw error }
    return false
  }

  private var comparator: PredicateComparator? {
    switch kind {
    case .keyword(let keyword): keyword.comparator
    case .symbol(let symbol):
      switch symbol {
      case .equal, .equalSingle: .equal
      case .notEqual, .notEqualAngles: .notEqual
      case .less: .less
      case .lessOrEqual, .equalOrLess: .lessOrEqual
      case .greater: .greater
      case .greaterOrEqual, .equalOrGreater: .greaterOrEqual
      default: nil
      }
    default: nil
    }
  }

  private mutating func comparison(
    _ left: Parsed<MetadataExpression>, _ quantifier: PredicateComparison.Quantifier
  ) throws(MetadataPredicateError) -> Parsed<MetadataPredicate> {
    guard let comparator else { throw unexpected("an operator such as '==', CONTAINS or IN") }
    advance()
    let options = try options()
    let place = start
    let right = try expression()
    let comparison = PredicateComparison(
      left.node, comparator, right.node, options: options, quantifier: quantifier)
    if let problem = comparison.patternProblem(limits, functions) {
      throw error(problem.message, problem.code, at: place, suggestion: problem.suggestion)
    }
    return try made(.comparison(comparison), above: left.depth, right.depth)
  }

  private static let optionLetters: [Character: PredicateComparison.Options] = [
    "c": .caseInsensitive, "d": .diacriticInsensitive, "n": .normalized, "l": .localeSensitive, "w": .wordBased,
  ]

  /// `[cd]`, if there is such a thing.
  private mutating func options() throws(MetadataPredicateError) -> PredicateComparison.Options {
    guard take(.openBracket) else { return [] }
    guard case .word(let letters) = kind else { throw unexpected("the letters c, d, n, l or w") }
    var options: PredicateComparison.Options = []
    for letter in letters.lowercased() {
      guard let option = Self.optionLetters[letter] else {
        throw error("there is no option '\(letter)'", suggestion: "Options are the letters c, d, n, l and w.")
      }
      options.insert(option)
    }
    advance()
    try expect(.closeBracket)
    return options
  }
}
