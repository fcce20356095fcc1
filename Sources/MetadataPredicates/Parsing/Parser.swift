/// Makes a tree of the tokens of a text in the format language.
///
/// A parenthesis may hold a predicate or an expression, and which one shows only behind it. Instead of trying both, the
/// parser reads an ``Operand``, which can be either, and the tokens behind it decide. So each token is read once, and
/// each level of nesting, which ``PredicateLimits/nestingDepthMax`` limits, is one level of recursion.
struct Parser {
  private let tokens: [Token]
  let scalars: [Unicode.Scalar]
  let functions: PredicateFunctions
  let limits: PredicateLimits
  let arguments: [MetadataValue]
  var argumentIndex = 0
  private var index = 0
  private var nestingDepth = 0
  /// Whether the last primary stood in parentheses.
  var wasParenthesis = false
  private var nodeCount = 0

  init(
    _ text: String, _ arguments: [MetadataValue], _ functions: PredicateFunctions, _ limits: PredicateLimits
  ) throws(MetadataPredicateError) {
    if text.utf8.count > limits.textLengthMax {
      throw MetadataPredicateError(
        .limit, "the text has \(text.utf8.count) bytes; at most \(limits.textLengthMax) are allowed",
        suggestion: "Pass long lists as one argument: name IN %@.")
    }
    (tokens, scalars) = Lexer.tokens(of: text)
    self.arguments = arguments
    self.functions = functions
    self.limits = limits
  }

  /// A part of the tree with the number of its levels.
  struct Parsed<Node> {
    let node: Node
    let depth: Int
  }

  /// The result of reading a parenthesis, or the beginning of a comparison.
  enum Operand {
    case predicate(Parsed<MetadataPredicate>)
    case expression(Parsed<MetadataExpression>)
  }

  mutating func parse() throws(MetadataPredicateError) -> MetadataPredicate {
    if case .end = kind {
      throw error("the text is empty", suggestion: "TRUEPREDICATE holds for everything.")
    }
    let predicate = try predicate()
    guard case .end = kind else { throw unexpected("AND, OR or the end") }
    try checkThatArgumentsAreUsed()
    return predicate.node
  }

  /// An expression alone.
  mutating func parseExpression() throws(MetadataPredicateError) -> MetadataExpression {
    if case .end = kind { throw error("the text is empty") }
    let expression = try expression()
    guard case .end = kind else { throw unexpected("an operator such as '+', or the end") }
    try checkThatArgumentsAreUsed()
    return expression.node
  }

  // MARK: Tokens

  var kind: Token.Kind { tokens[index].kind }
  var start: Int { tokens[index].start }

  /// The token behind the current one; the last one is its own successor.
  var nextKind: Token.Kind { tokens[min(index + 1, tokens.count - 1)].kind }

  mutating func advance() { index = min(index + 1, tokens.count - 1) }

  func isAt(_ symbol: Symbol) -> Bool {
    if case .symbol(symbol) = kind { return true }
    return false
  }

  func isAt(_ keyword: Keyword) -> Bool {
    if case .keyword(keyword) = kind { return true }
    return false
  }

  mutating func take(_ symbol: Symbol) -> Bool {
    guard isAt(symbol) else { return false }
    advance()
    return true
  }

  mutating func expect(_ symbol: Symbol, or others: String = "") throws(MetadataPredicateError) {
    if !take(symbol) { throw unexpected(others.isEmpty ? "'\(symbol.rawValue)'" : "\(others) or '\(symbol.rawValue)'") }
  }

  /// Whether a string has a part that would be a substitution outside quotes.
  var tokensAreQuotingArguments: Bool {
    tokens.contains { token in
      if case .string(let text) = token.kind { return text.contains("%@") || text.contains("%K") }
      return false
    }
  }

  // MARK: Errors

  func error(
    _ message: String, _ code: MetadataPredicateError.Code = .syntax, at place: Int? = nil, suggestion: String? = nil
  ) -> MetadataPredicateError {
    MetadataPredicateError(
      code, message, at: MetadataPredicateError.Location(place ?? start, in: scalars), suggestion: suggestion)
  }

  /// The current token can't stand here.
  func unexpected(_ expected: String, suggestion: String? = nil) -> MetadataPredicateError {
    if case .invalid(let error) = kind { return error }
    return error("expected \(expected), found \(found)", suggestion: suggestion ?? usualSuggestion)
  }

  private var found: String {
    switch kind {
    case .end: "the end of the text"
    case .string: "a string"
    case .word, .selector, .keyword, .integer, .real, .variable, .markedKey, .collectionOperator, .substitution,
      .symbol, .invalid:
      "'\(spelling)'"
    }
  }

  private var spelling: String { String(String.UnicodeScalarView(scalars[start..<tokens[index].end])) }

  /// The probable intention of a text that joins conditions by one sign instead of two.
  private var joinSuggestion: String? {
    for token in tokens[..<index].reversed() {
      if case .symbol(.bitwiseAnd) = token.kind { return "'&' is for bits. Conditions are joined by '&&' or AND." }
      if case .symbol(.bitwiseOr) = token.kind { return "'|' is for bits. Conditions are joined by '||' or OR." }
    }
    return nil
  }

  private var usualSuggestion: String? {
    if let joinSuggestion { return joinSuggestion }
    return switch kind {
    case .symbol(.equalSingle), .symbol(.equal): "Equality is '==' or '='."
    case .symbol(.star): "A pattern stands in quotes, or is passed as one value: name LIKE %@."
    case .string: "Strings aren't glued together: put the whole text into one."
    case .keyword(let keyword) where keyword != .and && keyword != .or:
      "'\(spelling)' is a keyword; the key is '#\(spelling)'."
    default: nil
    }
  }

  // MARK: Limits

  /// One level deeper into the text.
  mutating func enter() throws(MetadataPredicateError) {
    nestingDepth += 1
    if nestingDepth > limits.nestingDepthMax {
      throw error(
        "this is nested more than \(limits.nestingDepthMax) levels deep", .limit,
        suggestion: "Leave out needless parentheses, or divide the predicate.")
    }
  }

  mutating func leave() { nestingDepth -= 1 }

  /// A node above others.
  mutating func made<Node>(_ node: Node, above depths: Int...) throws(MetadataPredicateError) -> Parsed<Node> {
    let depth = 1 + (depths.max() ?? 0)
    nodeCount += 1
    if depth > limits.treeDepthMax {
      throw error(
        "more than \(limits.treeDepthMax) operators build on each other", .limit,
        suggestion: "Use parentheses to make groups of them.")
    }
    if nodeCount > limits.nodeCountMax {
      throw error(
        "there are more than \(limits.nodeCountMax) parts", .limit,
        suggestion: "Pass long lists as one argument: name IN %@.")
    }
    return Parsed(node: node, depth: depth)
  }
}
