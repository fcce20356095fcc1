/// An expression that's ready to be evaluated, by any number of threads at the same time.
package struct CompiledMetadataExpression: Sendable {
  private let expression: CompiledExpression
  private let attributes: [String]
  private let variableCount: Int
  private let stepCountMax: Int

  /// Prepares an expression.
  ///
  /// - Parameters:
  ///   - expression: The expression.
  ///   - functions: The functions that may be called.
  ///   - limits: The costs and features that are allowed to it.
  /// - Throws: ``MetadataPredicateError`` as compiling a predicate does.
  package init(
    _ expression: MetadataExpression, functions: PredicateFunctions = .predefined, limits: PredicateLimits = .standard
  ) throws(MetadataPredicateError) {
    var compiler = PredicateCompiler(functions, limits, [:])
    self.expression = try compiler.expression(expression, depth: 1)
    attributes = compiler.attributes
    variableCount = compiler.variableCount
    stepCountMax = limits.stepCountMax
  }

  /// The value for an item, and the parts that couldn't be computed on the way.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - environment: The present moment and the like.
  /// - Returns: The value, `null` if it can't be computed, and at most eight problems.
  package func value(
    for item: some PredicateItem, in environment: PredicateEnvironment
  ) -> (value: MetadataValue, problems: [PredicateProblem]) {
    var evaluation = Evaluation(item, stepCountMax, attributes, variableCount, environment)
    let value = evaluation.value(expression)
    return (value, evaluation.problems)
  }
}
