extension MetadataExpression {
  /// Reads an expression in the format language, such as `size / 1024` or `SUBQUERY(items, $i, $i.price > 5).@count`.
  ///
  /// - Parameters:
  ///   - format: The text.
  ///   - arguments: One for each `%@`, `%K`, `%d` and the like outside quotes.
  ///   - functions: The functions that may be called.
  ///   - limits: The costs and features that are allowed to the text.
  /// - Throws: ``MetadataPredicateError`` with the place of the first token that can't stand there.
  /// - Complexity: O(*n*) in the length of the text.
  public init(
    format: String, arguments: [MetadataValue] = [], functions: PredicateFunctions = .predefined,
    limits: PredicateLimits = .standard
  ) throws(MetadataPredicateError) {
    var parser = try Parser(format, arguments, functions, limits)
    self = try parser.parseExpression()
  }

  /// Calls a function.
  ///
  /// - Parameters:
  ///   - name: Its name; the first part of the selector is enough.
  ///   - operands: The operands.
  ///   - functions: The functions that may be called.
  /// - Returns: The call; for a function that has a sign, the expression that the sign makes.
  /// - Throws: ``MetadataPredicateError`` with code `.unknownFunction` for a function that there isn't, or that takes other operands.
  package static func call(
    _ name: String, _ operands: [MetadataExpression], functions: PredicateFunctions = .predefined
  ) throws(MetadataPredicateError) -> MetadataExpression {
    let full = functions.find(name)?.name ?? name
    if let problem = callProblem(full, operands.count, functions, .standard) { throw problem }
    guard let sign = ArithmeticOperator.allCases.first(where: { $0.functionName == full }) else {
      return .function(full, operands)
    }
    return .arithmetic(sign, operands[0], operands[1])
  }
}

extension MetadataExpression.ArithmeticOperator {
  /// The function that does the same.
  package var functionName: String {
    let function: PredefinedFunction =
      switch self {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      case .divide: .divide
      case .power: .raise
      }
    return function.rawValue
  }
}
