/// An operand of a comparison: a value, or where to get one.
public indirect enum MetadataExpression: Hashable, Sendable, Codable {
  /// A value that stands in the predicate, or was bound to it.
  case constant(MetadataValue)
  /// `SELF`: the item itself.
  case itself
  /// `ANYKEY`: any attribute of the item. A comparison with it holds if it does for one of them.
  case anyKey
  /// `$name`.
  case variable(String)
  /// `base.a.b.@count`; attributes of the item have `.itself` as base.
  case path(MetadataExpression, [PathStep])
  /// `base[FIRST]` and the like.
  case element(MetadataExpression, ElementIndex)
  /// `{a, b, c}`.
  case aggregate([MetadataExpression])
  /// `-a`.
  case negation(MetadataExpression)
  /// `a + b` and the like.
  case arithmetic(ArithmeticOperator, MetadataExpression, MetadataExpression)
  /// `a UNION b` and the like.
  case setOperation(SetOperator, MetadataExpression, MetadataExpression)
  /// `name(a, b)`: one of the predefined functions, or one that was registered.
  case function(String, [MetadataExpression])
  /// `SUBQUERY(collection, $variable, predicate)`: the members for which the predicate holds.
  case subquery(MetadataExpression, variable: String, MetadataPredicate)
  /// `TERNARY(predicate, a, b)`.
  case ternary(MetadataPredicate, MetadataExpression, MetadataExpression)
  /// `CAST(a, 'type')`.
  case cast(MetadataExpression, type: String)
  /// `$name := a`: its value is that of `a`, and so is the variable's from there on.
  case assignment(variable: String, MetadataExpression)

  /// One step of a key path.
  public enum PathStep: Hashable, Sendable, Codable {
    /// The attribute of that name; of a collection, that of each member.
    case key(String)
    /// `@count` and the like: applies to the values of the rest of the path.
    case collection(CollectionOperator)
  }

  /// Which member of a collection.
  public enum ElementIndex: Hashable, Sendable, Codable {
    /// `[FIRST]`.
    case first
    /// `[LAST]`.
    case last
    /// `[SIZE]`: how many there are.
    case size
    /// `[a]`: a position from 0 in an array, a key of a dictionary.
    case at(MetadataExpression)
  }

  /// Operators between numbers.
  public enum ArithmeticOperator: String, Hashable, Sendable, Codable, CaseIterable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case power = "**"
  }

  /// Operators between collections; the raw value is how it's written.
  public enum SetOperator: String, Hashable, Sendable, Codable, CaseIterable {
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
  }

  /// Operators inside key paths; the raw value is how it's written, without `@`.
  public enum CollectionOperator: String, Hashable, Sendable, Codable, CaseIterable {
    case count, sum, avg, min, max
    case unionOfObjects, distinctUnionOfObjects, unionOfArrays, distinctUnionOfArrays, unionOfSets
    case distinctUnionOfSets
  }

  /// An attribute of the item.
  ///
  /// - Parameter path: Its name; dots divide the steps, and `@` begins a collection operator.
  /// - Returns: The expression; a word after `@` that is no operator is taken for a key.
  public static func attribute(_ path: String) -> MetadataExpression {
    .path(.itself, steps(of: path))
  }

  static func steps(of path: String) -> [PathStep] {
    path.split(separator: ".", omittingEmptySubsequences: false).map { component in
      if component.first == "@", let known = CollectionOperator(rawValue: String(component.dropFirst())) {
        return .collection(known)
      }
      return .key(String(component))
    }
  }
}
