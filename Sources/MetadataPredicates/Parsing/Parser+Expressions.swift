extension Parser {
  mutating func expression() throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    let operand = try binary(allowsPredicate: false)
    return try asExpression(operand)
  }

  private func asExpression(_ operand: Operand) throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    switch operand {
    case .expression(let expression): return expression
    case .predicate: throw unexpected("an expression")
    }
  }

  // MARK: Operators between expressions

  private enum BinaryOperator {
    case arithmetic(MetadataExpression.ArithmeticOperator)
    case set(MetadataExpression.SetOperator)
    case bits(PredefinedFunction)

    /// Higher binds tighter: among operators on bits as in C, but all of them before comparisons.
    var precedence: Int {
      switch self {
      case .set: 0
      case .bits(.bitwiseOr): 1
      case .bits(.bitwiseXor): 2
      case .bits(.bitwiseAnd): 3
      case .bits: 4
      case .arithmetic(.add), .arithmetic(.subtract): 5
      case .arithmetic(.multiply), .arithmetic(.divide): 6
      case .arithmetic(.power): 7
      }
    }

    /// `2 ** 3 ** 2` is 2 ** 9 (P41).
    var groupsToTheRight: Bool {
      if case .arithmetic(.power) = self { return true }
      return false
    }

    func applied(_ left: MetadataExpression, _ right: MetadataExpression) -> MetadataExpression {
      switch self {
      case .arithmetic(let sign): .arithmetic(sign, left, right)
      case .set(let word): .setOperation(word, left, right)
      case .bits(let function): .function(function.rawValue, [left, right])
      }
    }

    /// The functions that signs between numbers stand for.
    init?(bits symbol: Symbol) {
      switch symbol {
      case .bitwiseAnd: self = .bits(.bitwiseAnd)
      case .bitwiseOr: self = .bits(.bitwiseOr)
      case .bitwiseXor: self = .bits(.bitwiseXor)
      case .shiftLeft: self = .bits(.leftshift)
      case .shiftRight: self = .bits(.rightshift)
      default: return nil
      }
    }
  }

  private var binaryOperator: BinaryOperator? {
    switch kind {
    case .symbol(let symbol):
      MetadataExpression.ArithmeticOperator(rawValue: symbol.rawValue).map(BinaryOperator.arithmetic)
        ?? BinaryOperator(bits: symbol)
    case .keyword(let keyword): MetadataExpression.SetOperator(rawValue: keyword.rawValue).map(BinaryOperator.set)
    default: nil
    }
  }

  /// Operands with operators between them.
  ///
  /// - Parameters:
  ///   - precedence: The least precedence of an operator that belongs to it.
  ///   - allowsPredicate: Whether a parenthesis at its beginning may hold a predicate.
  /// - Returns: An expression; a predicate only if just one parenthesis was read.
  /// - Throws: The error of the first token that can't stand there.
  mutating func binary(precedence: Int = 0, allowsPredicate: Bool) throws(MetadataPredicateError) -> Operand {
    if precedence == 0, case .variable(let name) = kind, case .symbol(.assign) = nextKind {
      return .expression(try assignment(of: name))
    }
    let first = try unary(allowsPredicate: allowsPredicate)
    guard case .expression(var left) = first else { return first }
    while let sign = binaryOperator, sign.precedence >= precedence {
      advance()
      let isPower = sign.groupsToTheRight
      if isPower { try enter() }
      let operand = try binary(precedence: sign.precedence + (isPower ? 0 : 1), allowsPredicate: false)
      let right = try asExpression(operand)
      if isPower { leave() }
      left = try made(sign.applied(left.node, right.node), above: left.depth, right.depth)
    }
    return .expression(left)
  }

  private mutating func assignment(of name: String) throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    advance()
    advance()
    try enter()
    let value = try expression()
    leave()
    return try made(.assignment(variable: name, value.node), above: value.depth)
  }

  private mutating func unary(allowsPredicate: Bool) throws(MetadataPredicateError) -> Operand {
    if isAt(Symbol.complement) {
      advance()
      let operand = try nestedUnary()
      let function = PredefinedFunction.onesComplement.rawValue
      return .expression(try made(.function(function, [operand.node]), above: operand.depth))
    }
    guard isAt(Symbol.minus) else { return try postfix(allowsPredicate: allowsPredicate) }
    let place = start
    advance()
    if case .integer(let magnitude) = kind {
      // The least number has no positive counterpart.
      guard let number = Int64(exactly: -Int128(magnitude)) else {
        throw error("this number is too small", at: place)
      }
      advance()
      return .expression(try made(.constant(.integer(number))))
    }
    if case .real(let magnitude) = kind {
      advance()
      return .expression(try made(.constant(.real(-magnitude))))
    }
    let operand = try nestedUnary()
    return .expression(try made(.negation(operand.node), above: operand.depth))
  }

  private mutating func nestedUnary() throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    try enter()
    let inner = try unary(allowsPredicate: false)
    let operand = try asExpression(inner)
    leave()
    return operand
  }

  // MARK: Key paths and members

  private mutating func postfix(allowsPredicate: Bool) throws(MetadataPredicateError) -> Operand {
    let first = try primary(allowsPredicate: allowsPredicate)
    guard case .expression(var base) = first else { return first }
    // A path that stands in parentheses, or ends in brackets, isn't continued but is the base of another one.
    var isPath = canContinuePath(base.node)
    while true {
      if take(.dot) {
        let steps = try pathSteps()
        if isPath, case .path(let root, let before) = base.node {
          base = Parsed(node: .path(root, before + steps), depth: base.depth)
        } else if !steps.isEmpty {
          base = try made(.path(base.node, steps), above: base.depth)
          isPath = true
        }
      } else if take(.openBracket) {
        base = try element(of: base)
        isPath = false
      } else {
        return .expression(base)
      }
    }
  }

  /// Whether a primary was a bare key, not a path in parentheses.
  private func canContinuePath(_ node: MetadataExpression) -> Bool {
    if case .path = node { return !wasParenthesis }
    return false
  }

  private mutating func pathSteps() throws(MetadataPredicateError) -> [MetadataExpression.PathStep] {
    switch kind {
    case .word(let name), .markedKey(let name):
      if case .symbol(.openParenthesis) = nextKind, case .word = kind {
        throw error("'\(name)' can't be called on a value", suggestion: "Write \(name)(value).")
      }
      advance()
      return [.key(name)]
    case .collectionOperator(let known):
      advance()
      return [.collection(known)]
    case .substitution(.keyPath): return try keyPathArgument()
    case .keyword(.itself):
      advance()
      return []
    case .selector, .keyword, .string, .integer, .real, .variable, .substitution, .symbol, .end, .invalid:
      throw unexpected("a key or a collection operator")
    }
  }

  private mutating func element(
    of base: Parsed<MetadataExpression>
  ) throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    if case .word(let word) = kind, case .symbol(.closeBracket) = nextKind,
      let index = Self.namedIndices[word.uppercased()]
    {
      advance()
      advance()
      return try made(.element(base.node, index), above: base.depth)
    }
    try enter()
    let index = try expression()
    leave()
    try expect(.closeBracket)
    return try made(.element(base.node, .at(index.node)), above: base.depth, index.depth)
  }

  static let namedIndices: [String: MetadataExpression.ElementIndex] = [
    "FIRST": .first, "LAST": .last, "SIZE": .size,
  ]
}
