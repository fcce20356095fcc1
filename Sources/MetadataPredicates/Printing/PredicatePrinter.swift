/// Writes a tree as text of the format language that parses to an equal tree.
///
/// Compounds inside others stand in parentheses. Values without a literal of their own are written as casts, `CAST(0.0, "NSDate")`,
/// which the parser takes for the value; an actual cast of a literal has its operand in parentheses.
struct PredicatePrinter {
  private(set) var text = ""

  mutating func print(_ predicate: MetadataPredicate, isNested: Bool = false) {
    switch predicate {
    case .constant(let value): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): print(comparison)
    case .and(let members): print(members, " AND ", empty: "TRUEPREDICATE", isNested)
    case .or(let members): print(members, " OR ", empty: "FALSEPREDICATE", isNested)
    case .not(let member):
      text += "NOT "
      print(member, isNested: true)
    }
  }

  private mutating func print(_ members: [MetadataPredicate], _ word: String, empty: String, _ isNested: Bool) {
    if members.isEmpty { return text += empty }
    if members.count == 1 { return print(members[0], isNested: isNested) }
    if isNested { text += "(" }
    for (index, member) in members.enumerated() {
      if index > 0 { text += word }
      print(member, isNested: true)
    }
    if isNested { text += ")" }
  }

  private mutating func print(_ comparison: PredicateComparison) {
    switch comparison.quantifier {
    case .whole: break
    case .any: text += "ANY "
    case .all: text += "ALL "
    }
    print(comparison.left)
    text += " \(comparison.comparator.rawValue)\(comparison.options.spelling) "
    print(comparison.right)
  }

  // MARK: Expressions

  /// Where an expression stands: an operator that binds at least so tight needs no parentheses.
  private enum Place: Int, Comparable {
    case whole, set, sum, product, power, unary, base

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  private mutating func print(_ expression: MetadataExpression, _ place: Place = .whole) {
    let needsParentheses = Self.tightness(of: expression) < place
    if needsParentheses { text += "(" }
    printBare(expression)
    if needsParentheses { text += ")" }
  }

  private static func tightness(of expression: MetadataExpression) -> Place {
    switch expression {
    case .assignment: .whole
    case .setOperation: .set
    case .arithmetic(.add, _, _), .arithmetic(.subtract, _, _): .sum
    case .arithmetic(.multiply, _, _), .arithmetic(.divide, _, _): .product
    case .arithmetic(.power, _, _): .power
    case .negation: .unary
    case .constant(.integer(let number)): number < 0 ? .unary : .base
    case .constant(.real(let number)): number.sign == .minus ? .unary : .base
    case .constant, .itself, .anyKey, .variable, .path, .element, .aggregate, .function, .subquery, .ternary, .cast:
      .base
    }
  }

  private mutating func printBare(_ expression: MetadataExpression) {
    switch expression {
    case .constant(let value): print(value)
    case .itself: text += "SELF"
    case .anyKey: text += "ANYKEY"
    case .variable(let name): text += "$" + name
    case .path(let base, let steps): print(base, steps)
    case .element(let base, let index): print(base, index)
    case .aggregate(let members): print(members, "{", "}")
    case .negation(let operand): printNegation(of: operand)
    case .arithmetic(let sign, let left, let right): print(sign, left, right)
    case .setOperation(let word, let left, let right):
      print(left, .set)
      text += " \(word.rawValue) "
      print(right, .sum)
    case .function(let name, let operands): print(operands, Self.spelling(ofFunction: name) + "(", ")")
    case .subquery, .ternary, .cast, .assignment: printForm(expression)
    }
  }

  mutating func append(_ part: String) { text += part }

  /// The expression before a dot or a bracket; a path in parentheses, so that it ends there.
  mutating func printBase(_ expression: MetadataExpression) {
    if case .path = expression { return print(expression, nil) }
    print(expression, .base)
  }

  mutating func printOperand(_ expression: MetadataExpression) { print(expression) }

  private mutating func printForm(_ expression: MetadataExpression) {
    switch expression {
    case .subquery(let collection, let name, let condition):
      text += "SUBQUERY("
      print(collection)
      text += ", $\(name), "
      print(condition)
      text += ")"
    case .ternary(let condition, let first, let second):
      text += "TERNARY("
      print(condition)
      print([first, second], ", ", ")")
    case .cast(let operand, let type):
      text += "CAST("
      // A bare literal would be taken for the value that the cast spells.
      print(operand, CastType(type)?.literal(operand) == nil ? .whole : nil)
      text += ", \(type.quotedForPredicate))"
    case .assignment(let name, let value):
      text += "$\(name) := "
      print(value)
    default: break
    }
  }

  /// With parentheses in any case if there's no place.
  private mutating func print(_ expression: MetadataExpression, _ place: Place?) {
    if let place { return print(expression, place) }
    text += "("
    printBare(expression)
    text += ")"
  }

  private mutating func print(_ members: [MetadataExpression], _ begin: String, _ end: String) {
    text += begin
    for (index, member) in members.enumerated() {
      if index > 0 { text += ", " }
      print(member)
    }
    text += end
  }

  private mutating func print(
    _ sign: MetadataExpression.ArithmeticOperator, _ left: MetadataExpression, _ right: MetadataExpression
  ) {
    let (leftPlace, rightPlace): (Place, Place) =
      switch sign {
      case .add, .subtract: (.sum, .product)
      case .multiply, .divide: (.product, .power)
      // Groups to the right.
      case .power: (.unary, .power)
      }
    print(left, leftPlace)
    text += " \(sign.rawValue) "
    print(right, rightPlace)
  }

  /// A sign directly before a number belongs to the number.
  private mutating func printNegation(of operand: MetadataExpression) {
    text += "-"
    let isNumber = if let value = operand.numericConstant { value.quantity != nil } else { false }
    print(operand, isNumber ? nil : .base)
  }

  /// `sum` for `sum:`; all parts where there are several.
  private static func spelling(ofFunction name: String) -> String {
    name.count { $0 == ":" } == 1 && name.last == ":" ? String(name.dropLast()) : name
  }
}

extension MetadataExpression {
  fileprivate var numericConstant: MetadataValue? {
    switch self {
    case .constant(let value): value
    default: nil
    }
  }
}

extension MetadataExpression: CustomStringConvertible {
  /// The expression in the format language; parses to an equal tree.
  ///
  /// - Complexity: O(*n*) in the size of the tree.
  public var formatString: String {
    var printer = PredicatePrinter()
    printer.printOperand(self)
    return printer.text
  }

  /// The same as ``formatString``.
  public var description: String { formatString }
}

extension MetadataPredicate: CustomStringConvertible {
  /// The predicate in the format language; parses to an equal tree.
  ///
  /// `AND` and `OR` of a single predicate print as that one, and of none as `TRUEPREDICATE` and `FALSEPREDICATE`.
  ///
  /// - Complexity: O(*n*) in the size of the tree.
  /// - Note: Rule P52.
  public var formatString: String {
    var printer = PredicatePrinter()
    printer.print(self)
    return printer.text
  }

  /// The same as ``formatString``.
  public var description: String { formatString }
}

extension PredicateComparison.Options {
  /// `[cd]`, or an empty text.
  var spelling: String {
    let letters: [(Self, String)] = [
      (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
      (.wordBased, "w"),
    ]
    let present = letters.filter { contains($0.0) }.map(\.1).joined()
    return present.isEmpty ? "" : "[\(present)]"
  }
}
