extension Parser {
  /// The smallest complete part of an expression.
  mutating func primary(allowsPredicate: Bool) throws(MetadataPredicateError) -> Operand {
    wasParenthesis = false
    switch kind {
    case .symbol(.openParenthesis): return try parenthesis(allowsPredicate: allowsPredicate)
    case .symbol(.openBrace): return .expression(try aggregate())
    case .keyword(let keyword): return .expression(try keywordExpression(keyword))
    case .substitution(let substitution): return .expression(try argument(substitution))
    case .word(let name):
      if case .symbol(.openParenthesis) = nextKind { return .expression(try call(name)) }
      return .expression(try attribute(name))
    case .selector(let name): return .expression(try call(name))
    case .markedKey(let name): return .expression(try attribute(name))
    case .collectionOperator(let known): return .expression(try simple(.path(.itself, [.collection(known)])))
    case .string(let text): return .expression(try simple(.constant(.string(text))))
    case .real(let number): return .expression(try simple(.constant(.real(number))))
    case .variable(let name): return .expression(try simple(.variable(name)))
    case .integer(let magnitude):
      guard let number = Int64(exactly: magnitude) else { throw error("this number is too large") }
      return .expression(try simple(.constant(.integer(number))))
    case .symbol, .end, .invalid: throw unexpected("an expression")
    }
  }

  /// An expression of one token.
  private mutating func simple(_ node: MetadataExpression) throws(MetadataPredicateError) -> Parsed<MetadataExpression>
  {
    advance()
    return try made(node)
  }

  private mutating func attribute(_ name: String) throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    if let refusal = limits.refusal(ofAttribute: name) {
      throw error(refusal.message, .limit, suggestion: refusal.suggestion)
    }
    return try simple(.path(.itself, [.key(name)]))
  }

  private mutating func parenthesis(allowsPredicate: Bool) throws(MetadataPredicateError) -> Operand {
    advance()
    try enter()
    let content: Operand = allowsPredicate ? try alternatives() : .expression(try expression())
    leave()
    if !isAt(.closeParenthesis), case .expression = content, allowsPredicate {
      throw unexpected("an operator or ')'")
    }
    try expect(.closeParenthesis)
    wasParenthesis = true
    return content
  }

  private mutating func aggregate() throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    advance()
    try enter()
    let members = try list(until: .closeBrace)
    leave()
    return try made(.aggregate(members.map(\.node)), above: members.map(\.depth).max() ?? 0)
  }

  /// Expressions with commas between them, and the sign that ends them.
  private mutating func list(until end: Symbol) throws(MetadataPredicateError) -> [Parsed<MetadataExpression>] {
    if take(end) { return [] }
    var members = [try expression()]
    while take(.comma) { members.append(try expression()) }
    try expect(end, or: "','")
    return members
  }

  // MARK: Words

  private mutating func keywordExpression(_ keyword: Keyword) throws(MetadataPredicateError) -> Parsed<
    MetadataExpression
  > {
    switch keyword {
    // Printed as numbers, and equal to them.
    case .true, .yes: return try simple(.constant(.integer(1)))
    case .false, .no: return try simple(.constant(.integer(0)))
    case .null, .nil: return try simple(.constant(.null))
    case .itself: return try simple(.itself)
    case .anyKey:
      try require(.anyKey, "ANYKEY")
      return try simple(.anyKey)
    case .subquery, .ternary, .function, .cast: return try specialForm(keyword)
    case .fetch:
      throw error("FETCH needs a Core Data store, which there isn't", .unsupported)
    case .any, .some, .all, .none:
      throw unexpected("an expression", suggestion: "\(keyword.rawValue) stands at the beginning of a comparison.")
    default: throw unexpected("an expression")
    }
  }

  func require(_ feature: PredicateLimits.Features, _ what: String) throws(MetadataPredicateError) {
    if !limits.features.contains(feature) { throw error("\(what) isn't allowed here", .limit) }
  }

  private mutating func specialForm(_ keyword: Keyword) throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    let place = start
    if keyword == .subquery { try require(.subqueries, "SUBQUERY") }
    advance()
    try expect(.openParenthesis)
    try enter()
    defer { leave() }
    switch keyword {
    case .subquery: return try subquery()
    case .ternary: return try ternary()
    case .cast: return try cast()
    default: return try functionForm(at: place)
    }
  }

  private mutating func subquery() throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    let collection = try expression()
    try expect(.comma)
    guard case .variable(let name) = kind else { throw unexpected("a variable such as '$x'") }
    advance()
    try expect(.comma)
    let condition = try predicate()
    try expect(.closeParenthesis)
    return try made(
      .subquery(collection.node, variable: name, condition.node), above: collection.depth, condition.depth)
  }

  private mutating func ternary() throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    let condition = try predicate()
    try expect(.comma)
    let first = try expression()
    try expect(.comma)
    let second = try expression()
    try expect(.closeParenthesis)
    return try made(
      .ternary(condition.node, first.node, second.node), above: condition.depth, first.depth, second.depth)
  }

  private mutating func cast() throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    let isParenthesized = isAt(.openParenthesis)
    let operand = try expression()
    try expect(.comma)
    let name = try string("the name of a type")
    guard let type = CastType(name.text) else {
      throw error(
        "there is no type '\(name.text)' to cast to", .unsupported, at: name.place,
        suggestion: "There are " + CastType.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    }
    try expect(.closeParenthesis)
    if !isParenthesized, let literal = type.literal(operand.node) { return try made(.constant(literal)) }
    return try made(.cast(operand.node, type: type.rawValue), above: operand.depth)
  }

  private mutating func string(_ what: String) throws(MetadataPredicateError) -> (text: String, place: Int) {
    guard case .string(let text) = kind else { throw unexpected("\(what), in quotes") }
    let place = start
    advance()
    return (text, place)
  }

  // MARK: Functions

  /// `FUNCTION(target, 'selector:', operands…)`: no message, but a function whose first operand is the target.
  private mutating func functionForm(at place: Int) throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    let target = try expression()
    try expect(.comma)
    let name = try string("the name of a function")
    var operands = [target]
    while take(.comma) { operands.append(try expression()) }
    try expect(.closeParenthesis, or: "','")
    return try function(name.text, operands, at: name.place)
  }

  private mutating func call(_ name: String) throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    let place = start
    advance()
    try expect(.openParenthesis)
    // Refused where it stands, not behind its operands.
    _ = try found(name, at: place)
    try enter()
    let operands = try list(until: .closeParenthesis)
    leave()
    return try function(name, operands, at: place)
  }

  private func found(
    _ name: String, at place: Int
  ) throws(MetadataPredicateError) -> (name: String, operandCount: ClosedRange<Int>, isRegistered: Bool) {
    guard let function = functions.find(name) else {
      let nearest = Spelling.suggestion(for: name, among: functions.names)
      throw error(
        "there is no function '\(name)'", .unknownFunction, at: place,
        suggestion: nearest.map { "Did you mean '\($0)'?" } ?? "Only predefined and registered functions can be called."
      )
    }
    return function
  }

  private mutating func function(
    _ name: String, _ operands: [Parsed<MetadataExpression>], at place: Int
  ) throws(MetadataPredicateError) -> Parsed<MetadataExpression> {
    let function = try found(name, at: place)
    if let problem = MetadataExpression.callProblem(function.name, operands.count, functions, limits) {
      throw error(problem.message, problem.code, at: place, suggestion: problem.suggestion)
    }
    return try made(.function(function.name, operands.map(\.node)), above: operands.map(\.depth).max() ?? 0)
  }
}
