extension MetadataPredicate {
  /// Replaces variables by values.
  ///
  /// Variables that `SUBQUERY` or `:=` declare are left alone where those are meant.
  ///
  /// - Parameter values: A value for each variable, by its name without `$`; more than are used do no harm.
  /// - Returns: The predicate without variables of its own.
  /// - Throws: ``MetadataPredicateError`` with code `.unboundVariable` for a variable without a value, `.limit` for too
  ///   deep a tree, and `.arguments` for a number that isn't finite.
  /// - Note: Rules P47 and P48.
  public func substituting(_ values: [String: MetadataValue]) throws(MetadataPredicateError) -> MetadataPredicate {
    if let name = values.first(where: { !$0.value.isFinite })?.key {
      throw MetadataPredicateError(.arguments, "the value of '$\(name)' has a number that isn't finite")
    }
    let walk = VariableSubstitution(values: values)
    return try walk.replaced(self, assignedVariables, PredicateLimits.standard.treeDepthMax)
  }

  /// The variables that a `:=` in it gives a value to.
  var assignedVariables: Set<String> {
    var finder = AssignmentFinder()
    finder.look(at: self, PredicateLimits.standard.treeDepthMax)
    return finder.names
  }
}

extension MetadataExpression {
  /// Replaces variables by values, as ``MetadataPredicate/substituting(_:)`` does.
  ///
  /// - Parameter values: A value for each variable, by its name without `$`.
  /// - Returns: The expression without variables of its own.
  /// - Throws: ``MetadataPredicateError`` as that does.
  package func substituting(_ values: [String: MetadataValue]) throws(MetadataPredicateError) -> MetadataExpression {
    let holder = MetadataPredicate.comparison(PredicateComparison(self, .equal, .constant(.null)))
    guard case .comparison(let comparison) = try holder.substituting(values) else { return self }
    return comparison.left
  }
}

/// Replaces variables in a tree.
private struct VariableSubstitution {
  let values: [String: MetadataValue]

  private func check(_ depthLeft: Int) throws(MetadataPredicateError) {
    if depthLeft <= 0 { throw MetadataPredicateError(.limit, "the predicate is too deep") }
  }

  func replaced(
    _ predicate: MetadataPredicate, _ declared: Set<String>, _ depthLeft: Int
  ) throws(MetadataPredicateError) -> MetadataPredicate {
    try check(depthLeft)
    let rest = depthLeft - 1
    switch predicate {
    case .constant: return predicate
    case .and(let members): return .and(try replaced(members, declared, rest))
    case .or(let members): return .or(try replaced(members, declared, rest))
    case .not(let member): return .not(try replaced(member, declared, rest))
    case .comparison(var comparison):
      comparison.left = try replaced(comparison.left, declared, rest)
      comparison.right = try replaced(comparison.right, declared, rest)
      return .comparison(comparison)
    }
  }

  private func replaced(
    _ members: [MetadataPredicate], _ declared: Set<String>, _ depthLeft: Int
  ) throws(MetadataPredicateError) -> [MetadataPredicate] {
    var result: [MetadataPredicate] = []
    for member in members { result.append(try replaced(member, declared, depthLeft)) }
    return result
  }

  private func replaced(
    _ members: [MetadataExpression], _ declared: Set<String>, _ depthLeft: Int
  ) throws(MetadataPredicateError) -> [MetadataExpression] {
    var result: [MetadataExpression] = []
    for member in members { result.append(try replaced(member, declared, depthLeft)) }
    return result
  }

  private func replaced(
    _ expression: MetadataExpression, _ declared: Set<String>, _ depthLeft: Int
  ) throws(MetadataPredicateError) -> MetadataExpression {
    try check(depthLeft)
    let rest = depthLeft - 1
    switch expression {
    case .constant, .itself, .anyKey: return expression
    case .variable(let name):
      if declared.contains(name) { return expression }
      if let value = values[name] { return .bound(value) }
      throw MetadataPredicateError(.unboundVariable, "there is no value for the variable '$\(name)'")
    case .path(let base, let steps): return .path(try replaced(base, declared, rest), steps)
    case .element(let base, .at(let place)):
      return .element(try replaced(base, declared, rest), .at(try replaced(place, declared, rest)))
    case .element(let base, let index): return .element(try replaced(base, declared, rest), index)
    case .aggregate(let members): return .aggregate(try replaced(members, declared, rest))
    case .negation(let operand): return .negation(try replaced(operand, declared, rest))
    case .arithmetic(let sign, let left, let right):
      return .arithmetic(sign, try replaced(left, declared, rest), try replaced(right, declared, rest))
    case .setOperation(let word, let left, let right):
      return .setOperation(word, try replaced(left, declared, rest), try replaced(right, declared, rest))
    case .function(let name, let operands): return .function(name, try replaced(operands, declared, rest))
    case .subquery(let collection, let name, let condition):
      return .subquery(
        try replaced(collection, declared, rest), variable: name,
        try replaced(condition, declared.union([name]), rest))
    case .ternary(let condition, let first, let second):
      return .ternary(
        try replaced(condition, declared, rest), try replaced(first, declared, rest),
        try replaced(second, declared, rest))
    case .cast(let operand, let type): return .cast(try replaced(operand, declared, rest), type: type)
    case .assignment(let name, let value):
      return .assignment(variable: name, try replaced(value, declared, rest))
    }
  }
}

/// Searches for `:=`.
///
/// Trees that are too deep are refused elsewhere.
private struct AssignmentFinder {
  var names: Set<String> = []

  mutating func look(at predicate: MetadataPredicate, _ depthLeft: Int) {
    if depthLeft <= 0 { return }
    switch predicate {
    case .constant: break
    case .and(let members), .or(let members): for member in members { look(at: member, depthLeft - 1) }
    case .not(let member): look(at: member, depthLeft - 1)
    case .comparison(let comparison):
      look(at: comparison.left, depthLeft - 1)
      look(at: comparison.right, depthLeft - 1)
    }
  }

  private mutating func look(at expression: MetadataExpression, _ depthLeft: Int) {
    if depthLeft <= 0 { return }
    let rest = depthLeft - 1
    switch expression {
    case .assignment(let name, let value):
      names.insert(name)
      look(at: value, rest)
    case .constant, .itself, .anyKey, .variable: break
    case .path(let base, _), .negation(let base), .cast(let base, _): look(at: base, rest)
    case .element(let base, let index):
      look(at: base, rest)
      if case .at(let place) = index { look(at: place, rest) }
    case .aggregate(let members), .function(_, let members): for member in members { look(at: member, rest) }
    case .arithmetic(_, let left, let right), .setOperation(_, let left, let right):
      look(at: left, rest)
      look(at: right, rest)
    case .subquery(let collection, _, let condition):
      look(at: collection, rest)
      look(at: condition, rest)
    case .ternary(let condition, let first, let second):
      look(at: condition, rest)
      look(at: first, rest)
      look(at: second, rest)
    }
  }
}
