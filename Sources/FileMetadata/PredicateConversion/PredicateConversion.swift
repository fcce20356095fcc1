import FoundationEssentials
import MetadataPredicates

/// A node of Foundation's trees that has a counterpart, or can say why it has none.
protocol ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression
}

/// Goes through a tree of Foundation's.
struct PredicateConversion {
  /// The names of attributes by the properties that they stand for.
  let attributes: [AnyKeyPath: String]
  /// The expressions that the variables of closures stand for.
  private var bindings: [PredicateExpressions.VariableID: MetadataExpression] = [:]
  private var variableCount = 0

  init(attributes: [AnyKeyPath: String]) { self.attributes = attributes }

  mutating func bind(_ variable: PredicateExpressions.VariableID, to expression: MetadataExpression) {
    bindings[variable] = expression
  }

  /// A name for the members that a closure is called with.
  mutating func declare(_ variable: PredicateExpressions.VariableID) -> String {
    variableCount += 1
    let name = "member\(variableCount)"
    bindings[variable] = .variable(name)
    return name
  }

  func binding(of variable: PredicateExpressions.VariableID) throws(PredicateConversionError) -> MetadataExpression {
    if let binding = bindings[variable] { return binding }
    throw PredicateConversionError(.expression, "a variable is used outside of the closure that it belongs to")
  }

  // MARK: Nodes

  mutating func convert(_ node: some PredicateExpression) throws(PredicateConversionError) -> ConvertedExpression {
    guard let node = node as? any ConvertibleExpression else {
      throw PredicateConversionError(.expression, "\(Self.name(of: type(of: node))) can't be converted")
    }
    return try node.converted(&self)
  }

  mutating func predicate(_ node: some PredicateExpression) throws(PredicateConversionError) -> MetadataPredicate {
    try convert(node).predicate()
  }

  mutating func expression(_ node: some PredicateExpression) throws(PredicateConversionError) -> MetadataExpression {
    try convert(node).expression()
  }

  /// The name of a kind of node, without its generic arguments.
  static func name(of type: Any.Type) -> String { "'\(String(describing: type).prefix { $0 != "<" })'" }
}

/// The result of converting a node: something that holds or not, or something that has a value.
enum ConvertedExpression {
  case predicate(MetadataPredicate)
  case expression(MetadataExpression)
  /// A predicate behind `?.`: `nil` if the expression is, otherwise the predicate.
  case optional(MetadataExpression, MetadataPredicate)
  /// A property that no attribute was named for yet: one of its own properties may have one.
  case unnamed(MetadataExpression, AnyKeyPath)
  /// A property, with the key path from the variable on.
  case named(MetadataExpression, base: MetadataExpression, AnyKeyPath)

  func expression() throws(PredicateConversionError) -> MetadataExpression {
    switch self {
    case .expression(let expression), .named(let expression, _, _): expression
    case .predicate(let predicate): .ternary(predicate, .yes, .no)
    case .optional(let wrapped, let predicate):
      .ternary(.compare(wrapped, .notEqual, .constant(.null)), .ternary(predicate, .yes, .no), .constant(.null))
    case .unnamed(_, let path): throw Self.unknown(path)
    }
  }

  func predicate() throws(PredicateConversionError) -> MetadataPredicate {
    switch self {
    case .predicate(let predicate): return predicate
    case .expression(.constant(.bool(let flag))): return .constant(flag)
    case .expression(.constant(.integer(let number))): return .constant(number != 0)
    case .expression, .optional, .unnamed, .named: return .compare(try expression(), .equal, .yes)
    }
  }

  private static func unknown(_ path: AnyKeyPath) -> PredicateConversionError {
    PredicateConversionError(
      .property, "no attribute was named for '\(path)'", suggestion: "Add '\(path): \"name\"' to the attributes.")
  }
}

extension MetadataExpression {
  static var yes: Self { .constant(.integer(1)) }
  static var no: Self { .constant(.integer(0)) }

  /// The name of an attribute, applied to something.
  static func attribute(_ name: String, of base: MetadataExpression) -> Self {
    guard case .path(_, let steps) = MetadataExpression.attribute(name) else { return base }
    if case .path(let inner, let first) = base { return .path(inner, first + steps) }
    return .path(base, steps)
  }

  /// The number of members.
  var memberCount: Self {
    if case .path(let base, let steps) = self { return .path(base, steps + [.collection(.count)]) }
    return .path(self, [.collection(.count)])
  }
}

extension MetadataPredicate {
  static func compare(
    _ left: MetadataExpression, _ comparator: PredicateComparator, _ right: MetadataExpression
  ) -> MetadataPredicate { .comparison(PredicateComparison(left, comparator, right)) }
}
