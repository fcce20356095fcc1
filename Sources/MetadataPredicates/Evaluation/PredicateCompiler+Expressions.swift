extension PredicateCompiler {
  mutating func expression(
    _ expression: MetadataExpression, depth: Int
  ) throws(MetadataPredicateError) -> CompiledExpression {
    try enter(depth)
    switch expression {
    case .constant(let value): return .constant(value)
    case .itself:
      try requireWholeItem("SELF")
      return .itself
    case .anyKey:
      try require(.anyKey, "ANYKEY")
      try requireWholeItem("ANYKEY")
      return .anyKey
    case .variable(let name): return .variable(try slot(of: name))
    case .path(let base, let steps): return try path(base, steps, depth)
    case .element(let base, let index): return try element(base, index, depth)
    case .aggregate(let members): return folded(.aggregate(try expressions(members, depth)))
    case .negation(let operand): return folded(.negation(try self.expression(operand, depth: depth + 1)))
    case .arithmetic(let sign, let left, let right):
      let operands = try expressions([left, right], depth)
      return folded(.arithmetic(sign, operands[0], operands[1]))
    case .setOperation(let word, let left, let right):
      let operands = try expressions([left, right], depth)
      return folded(.setOperation(word, operands[0], operands[1]))
    case .function(let name, let operands): return try call(name, operands, depth)
    case .subquery(let collection, let variable, let condition):
      return try subquery(collection, variable, condition, depth)
    case .ternary(let condition, let first, let second):
      let condition = try test(condition, depth: depth + 1)
      let values = try expressions([first, second], depth)
      if case .constant(let value) = condition { return values[value ? 0 : 1] }
      return .ternary(condition, values[0], values[1])
    case .cast(let operand, let name):
      guard let type = CastType(name) else {
        throw MetadataPredicateError(.unsupported, "there is no type '\(name)' to cast to")
      }
      return folded(.cast(try self.expression(operand, depth: depth + 1), type))
    case .assignment(let name, let value): return try assignment(name, value, depth)
    }
  }

  private mutating func expressions(
    _ members: [MetadataExpression], _ depth: Int
  ) throws(MetadataPredicateError) -> [CompiledExpression] {
    var compiled: [CompiledExpression] = []
    for member in members { compiled.append(try expression(member, depth: depth + 1)) }
    return compiled
  }

  private mutating func requireWholeItem(_ what: String) throws(MetadataPredicateError) {
    if limits.attributes != nil {
      throw MetadataPredicateError(.limit, "\(what) isn't allowed here, because only some attributes are")
    }
    readsWholeItem = true
  }

  // MARK: Key paths

  private mutating func path(
    _ base: MetadataExpression, _ steps: [MetadataExpression.PathStep], _ depth: Int
  ) throws(MetadataPredicateError) -> CompiledExpression {
    guard case .itself = base, case .key(let name)? = steps.first else {
      return .path(try expression(base, depth: depth + 1), steps)
    }
    let attribute = CompiledExpression.attribute(try number(ofAttribute: name))
    return steps.count == 1 ? attribute : .path(attribute, Array(steps.dropFirst()))
  }

  private mutating func element(
    _ base: MetadataExpression, _ index: MetadataExpression.ElementIndex, _ depth: Int
  ) throws(MetadataPredicateError) -> CompiledExpression {
    let collection = try expression(base, depth: depth + 1)
    switch index {
    case .first: return folded(.element(collection, .first))
    case .last: return folded(.element(collection, .last))
    case .size: return folded(.element(collection, .size))
    case .at(let place): return folded(.element(collection, .at(try expression(place, depth: depth + 1))))
    }
  }

  // MARK: Variables

  private func slot(of name: String) throws(MetadataPredicateError) -> Int {
    if let place = place(of: name) { return place }
    throw MetadataPredicateError(
      .unboundVariable, "nothing was substituted for the variable '$\(name)'",
      suggestion: "Call substituting([\"\(name)\": value]) before compiling.")
  }

  private func place(of name: String) -> Int? { variables.last { $0.name == name }?.place }

  private mutating func declare(_ name: String) -> Int {
    variables.append((name, variableCount))
    variableCount += 1
    return variableCount - 1
  }

  private mutating func subquery(
    _ collection: MetadataExpression, _ name: String, _ condition: MetadataPredicate, _ depth: Int
  ) throws(MetadataPredicateError) -> CompiledExpression {
    try require(.subqueries, "SUBQUERY")
    let members = try expression(collection, depth: depth + 1)
    let outer = variables
    let slot = declare(name)
    let test = try test(condition, depth: depth + 1)
    variables = outer
    return .subquery(members, variable: slot, test)
  }

  private mutating func assignment(
    _ name: String, _ value: MetadataExpression, _ depth: Int
  ) throws(MetadataPredicateError) -> CompiledExpression {
    try require(.assignments, "':='")
    let compiled = try expression(value, depth: depth + 1)
    return .assignment(variable: place(of: name) ?? declare(name), compiled)
  }

  // MARK: Functions

  private mutating func call(
    _ name: String, _ operands: [MetadataExpression], _ depth: Int
  ) throws(MetadataPredicateError) -> CompiledExpression {
    if let problem = MetadataExpression.callProblem(name, operands.count, functions, limits) { throw problem }
    let compiled = try expressions(operands, depth)
    if let body = functions.registered[name]?.body { return .registered(name, body, compiled) }
    guard let function = PredefinedFunction(rawValue: name) else {
      throw MetadataPredicateError(.unknownFunction, "there is no function '\(name)'")
    }
    if function.isTimeDependent { isTimeDependent = true }
    if function.isTimeDependent || function.isRandom { return .predefined(function, compiled) }
    return folded(.predefined(function, compiled))
  }

  // MARK: Constants

  /// Computes an expression that depends on nothing, unless that is a problem: then it's one of each evaluation.
  private func folded(_ expression: CompiledExpression) -> CompiledExpression {
    let operands: [CompiledExpression]
    switch expression {
    case .aggregate(let members): operands = members
    case .negation(let operand), .cast(let operand, _): operands = [operand]
    case .arithmetic(_, let left, let right), .setOperation(_, let left, let right): operands = [left, right]
    case .predefined(_, let members): operands = members
    case .element(let base, .at(let index)): operands = [base, index]
    case .element(let base, _): operands = [base]
    default: return expression
    }
    if operands.contains(where: { $0.constantValue == nil }) { return expression }
    var evaluation = Evaluation(MetadataValue.null, limits.stepCountMax)
    let value = evaluation.value(expression)
    return evaluation.problems.isEmpty ? .constant(value) : expression
  }
}
