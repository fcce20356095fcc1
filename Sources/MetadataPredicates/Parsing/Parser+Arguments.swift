extension Parser {
  /// How deep an argument may be.
  private static let argumentDepthMax = 32

  private mutating func nextArgument() throws(MetadataPredicateError) -> MetadataValue {
    guard argumentIndex < arguments.count else {
      throw error(
        "there is no argument for '%\(argumentCountNote)", .arguments,
        suggestion: "Pass one argument for each '%@', '%K' and '%d' outside quotes.")
    }
    let value = arguments[argumentIndex]
    argumentIndex += 1
    if value.depth(atMost: Self.argumentDepthMax) == nil {
      throw error("argument \(argumentIndex) is more than \(Self.argumentDepthMax) levels deep", .limit)
    }
    if !value.isFinite {
      throw error("argument \(argumentIndex) has a number that isn't finite", .arguments)
    }
    return value
  }

  private var argumentCountNote: String { "' number \(argumentIndex + 1); there are \(arguments.count)" }

  mutating func argument(_ substitution: Token.Substitution) throws(MetadataPredicateError) -> Parsed<
    MetadataExpression
  > {
    switch substitution {
    case .keyPath: return try made(.path(.itself, try keyPathArgument()))
    case .value:
      let value = try nextArgument()
      advance()
      return try made(.bound(value))
    case .number(let conversion):
      let value = try nextArgument()
      guard value.quantity != nil else {
        throw error(
          "'\(conversion)' takes a number; argument \(argumentIndex) is \(value.kind)", .arguments,
          suggestion: "Use '%@' for a value of any kind.")
      }
      advance()
      return try made(.bound(value))
    }
  }

  /// The steps of an argument for `%K`; dots divide them.
  mutating func keyPathArgument() throws(MetadataPredicateError) -> [MetadataExpression.PathStep] {
    let value = try nextArgument()
    guard case .string(let path) = value else {
      throw error("'%K' takes a key path as a string; argument \(argumentIndex) is \(value.kind)", .arguments)
    }
    let steps = MetadataExpression.steps(of: path)
    if steps.contains(.key("")) {
      throw error("argument \(argumentIndex), the key path '\(path)', has an empty step", .arguments)
    }
    advance()
    return steps
  }

  func checkThatArgumentsAreUsed() throws(MetadataPredicateError) {
    if argumentIndex == arguments.count { return }
    let isQuoted = tokensAreQuotingArguments
    throw error(
      "there are \(arguments.count) arguments, but \(argumentIndex) places for them", .arguments,
      suggestion: isQuoted
        ? "Inside quotes '%@' is plain text. Make the whole pattern first and pass it as one '%@' without quotes." : nil
    )
  }
}

extension MetadataExpression {
  /// A value that is bound to a predicate, spelled as the parser spells literals.
  ///
  /// - Parameter value: The value.
  /// - Returns: A constant; for an array an aggregate of constants.
  package static func bound(_ value: MetadataValue) -> MetadataExpression {
    switch value {
    case .array(let elements): .aggregate(elements.map(bound))
    case .bool(let flag): .constant(.integer(flag ? 1 : 0))
    case .null, .integer, .real, .string, .date, .data, .set, .dictionary: .constant(value)
    }
  }
}
