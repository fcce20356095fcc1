import MetadataPredicates

/// Makes up trees and items.
///
/// The same seed makes the same.
struct RandomPredicates {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  private mutating func next(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((bits ^ bits >> 31) % UInt64(bound))
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[next(elements.count)] }

  // MARK: Values

  private static let plainLetters = ["a", "A", "b", "B", "e", "o", "s", "k", "1", "."]
  /// Among them letters that are equal to one of ASCII: the sign of Kelvin always, one of full width to some.
  private static let letters =
    plainLetters + ["é", "e\u{301}", "É", "ö", "ß", "a", "A", "b", "e", "\u{212A}", "\u{FF41}"]

  /// Usually short, so that texts resemble each other; sometimes longer than the length that is compared at once.
  mutating func text() -> String {
    let letters = next(3) == 0 ? Self.plainLetters : Self.letters
    let count = next(8) == 0 ? next(40) : next(6)
    return (0..<count).map { _ in pick(letters) }.joined()
  }

  /// A single value; a normal one has numbers for booleans, as the parser makes them.
  private mutating func scalar(isNormal: Bool = false) -> MetadataValue {
    switch next(8) {
    case 0: .null
    case 1: isNormal ? .integer(1) : .bool(next(2) == 0)
    case 2, 3: .integer(Int64(next(7)) - 3)
    case 4: .real(pick([0, 0.5, 1, 1.5, 2, -1]))
    case 5: .date(MetadataDate(secondsSince2001: Double(next(3))))
    default: .string(text())
    }
  }

  private mutating func scalars() -> [MetadataValue] { (0..<next(4)).map { _ in scalar() } }

  mutating func item() -> MetadataValue {
    [
      "a": scalar(), "b": scalar(), "name": .string(text()), "tags": .array(scalars()), "set": .set(Set(scalars())),
      "items": .array((0..<next(4)).map { _ in ["n": scalar(), "name": .string(text()), "parts": .array(scalars())] }),
      "dict": ["k": scalar(), "a": scalar()], "wildcards": patterns(Self.wildcards),
      "expressions": patterns(Self.expressions),
    ]
  }

  private static let patternCount = 3

  private mutating func patterns(_ patterns: [String]) -> MetadataValue {
    .array((0..<Self.patternCount).map { _ in .string(pick(patterns)) })
  }

  // MARK: Predicates

  mutating func predicate(depth: Int, _ variables: [String] = []) -> MetadataPredicate {
    switch depth > 0 ? next(8) : 7 {
    case 0: .and((0..<2 + next(2)).map { _ in predicate(depth: depth - 1, variables) })
    case 1: .or((0..<2 + next(2)).map { _ in predicate(depth: depth - 1, variables) })
    case 2: .not(predicate(depth: depth - 1, variables))
    case 3 where next(4) == 0: .constant(next(2) == 0)
    default: .comparison(next(3) == 0 ? plainComparison() : comparison(depth: depth, variables))
    }
  }

  private static let options: [PredicateComparison.Options] = [
    [], [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
  ]
  private static let expressions = [
    "a*", "[ab]+", "(a|b)*e?", ".*1.*", "[^a]+", "a{1,2}b?", "é|e", ".", "\\w+", "\\d*\\.?", "",
  ]
  private static let wildcards = ["*", "a*", "*b", "*e*", "?", "a?*", "*.?", "*é*", "??", "", "a*b*e", "\\*", "*s"]

  /// An attribute and a constant, as most people compare; the text to find is often a part of the names.
  private mutating func plainComparison() -> PredicateComparison {
    let comparators: [PredicateComparator] = [
      .equal, .notEqual, .beginsWith, .endsWith, .contains, .like, .like, .matches, .less, .greaterOrEqual, .isIn,
    ]
    let comparator = pick(comparators)
    let right: MetadataExpression =
      switch comparator {
      case .like: .constant(.string(pick([pick(Self.wildcards), "*" + text(), text() + "*", "*" + text() + "*"])))
      case .matches: .constant(.string(pick(Self.expressions)))
      case .isIn: .aggregate((0..<next(4)).map { _ in .constant(scalar(isNormal: true)) })
      default: .constant(next(4) == 0 ? scalar(isNormal: true) : .string(text()))
      }
    return PredicateComparison(
      .attribute(pick(["name", "name", "name", "a", "b", "tags"])), comparator, right, options: pick(Self.options),
      quantifier: next(6) == 0 ? .any : .whole)
  }

  private mutating func comparison(depth: Int, _ variables: [String]) -> PredicateComparison {
    let comparators: [PredicateComparator] = [
      .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .isIn, .contains, .beginsWith,
      .endsWith,
      .like, .matches,
    ]
    let comparator = pick(comparators)
    let left = next(12) == 0 ? MetadataExpression.anyKey : expression(depth: depth, variables)
    let right: MetadataExpression =
      switch comparator {
      case .like: pattern(Self.wildcards, "wildcards")
      case .matches: pattern(Self.expressions, "expressions")
      case .between: .aggregate([.constant(scalar(isNormal: true)), .constant(scalar(isNormal: true))])
      default: expression(depth: depth, variables)
      }
    let isWhole = left == .anyKey || next(3) > 0
    return PredicateComparison(
      left, comparator, right, options: pick(Self.options), quantifier: isWhole ? .whole : pick([.any, .all]))
  }

  /// Most patterns are constant, some are computed: one of those that the item has.
  private mutating func pattern(_ patterns: [String], _ attribute: String) -> MetadataExpression {
    if next(4) > 0 { return .constant(.string(pick(patterns))) }
    return .element(.attribute(attribute), .at(.constant(.integer(Int64(next(Self.patternCount))))))
  }

  private mutating func expression(depth: Int, _ variables: [String]) -> MetadataExpression {
    switch depth > 0 ? next(20) : next(7) {
    case 0, 1: return .constant(scalar(isNormal: true))
    case 2: return .aggregate((0..<next(4)).map { _ in .constant(scalar(isNormal: true)) })
    case 3 where !variables.isEmpty:
      return pick([.variable(pick(variables)), .path(.variable(pick(variables)), [.key("n")])])
    case 3, 4, 5, 6, 7, 8: return .attribute(pick(Self.paths))
    case 9: return .element(.attribute(pick(Self.collections)), index(depth, variables))
    case 10: return .negation(expression(depth: depth - 1, variables))
    case 11:
      return .arithmetic(
        pick([.add, .subtract, .multiply, .divide]), .attribute(pick(["a", "b", "dict.k"])),
        pick([.attribute("a"), .constant(.integer(2)), .constant(.real(0.5)), .constant(.integer(0))]))
    case 12:
      return .setOperation(
        pick([.union, .intersect, .minus]), .attribute(pick(Self.collections)), .attribute(pick(Self.collections)))
    case 13:
      return .function(pick(["count:", "uppercase:", "length:", "abs:"]), [expression(depth: depth - 1, variables)])
    case 14:
      let name = pick(["x", "y"])
      return .subquery(
        .attribute(pick(["items", "tags"])), variable: name, predicate(depth: depth - 1, variables + [name]))
    case 15:
      return .ternary(
        predicate(depth: depth - 1, variables), expression(depth: depth - 1, variables),
        expression(depth: depth - 1, variables))
    case 16, 17:
      let name = pick(["bitwiseAnd:with:", "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:"])
      return .function(name, [operandOfBits(depth), operandOfBits(depth)])
    case 18: return .cast(.attribute(pick(["a", "tags", "name"])), type: pick(["NSNumber", "NSSet"]))
    default: return .function("add:to:", [.attribute("a"), .constant(.integer(1))])
    }
  }

  /// An operand of `&` and the like: of each precedence something, so that printing has to group.
  private mutating func operandOfBits(_ depth: Int) -> MetadataExpression {
    switch next(6) {
    case 0: .attribute(pick(["a", "b", "dict.k"]))
    case 1: .constant(.integer(Int64(next(9)) - 2))
    case 2: .function("onesComplement:", [.attribute("a")])
    case 3: .arithmetic(pick([.add, .multiply]), .attribute("a"), .constant(.integer(3)))
    case 4: .negation(.attribute("b"))
    default: expression(depth: depth - 1, [])
    }
  }

  private static let collections = ["tags", "set", "items", "a", "missing", "items.n"]
  private static let paths = [
    "a", "b", "name", "tags", "set", "dict", "dict.k", "items.n", "items.name", "missing", "items.@count",
    "tags.@count",
    "items.@sum.n", "items.@unionOfObjects.name", "items.@distinctUnionOfObjects.n", "missing.x",
  ]

  private mutating func index(_ depth: Int, _ variables: [String]) -> MetadataExpression.ElementIndex {
    pick([.first, .last, .size, .at(.constant(.integer(Int64(next(4)) - 1))), .at(.constant(.string("k")))])
  }
}
