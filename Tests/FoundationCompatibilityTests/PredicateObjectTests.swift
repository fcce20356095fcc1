import FoundationCompatibility
import Testing

// Types of both modules have one name: this file imports the one that has them all.

nonisolated(unsafe) private let item: [String: Any] = [
  "name": "Étude.md", "size": 10, "tags": ["x", "y"], "items": [["n": 1], ["n": 3]], "missing": NSNull(),
]

private func key(_ path: String) -> NSExpression { NSExpression(forKeyPath: path) }
private func value(_ value: Any?) -> NSExpression { NSExpression(forConstantValue: value) }

private func comparison(
  _ left: NSExpression, _ type: NSComparisonPredicate.Operator, _ right: NSExpression,
  _ options: NSComparisonPredicate.Options = [], _ modifier: NSComparisonPredicate.Modifier = .direct
) -> NSComparisonPredicate {
  NSComparisonPredicate(leftExpression: left, rightExpression: right, modifier: modifier, type: type, options: options)
}

@Suite("Predicates put together from expressions", .timeLimit(.minutes(4)))
struct PredicateObjectTests {
  @Test("A predicate of expressions equals the one of its format, says the same, and is printed like it")
  func builtAndRead() {
    let table: [(built: NSPredicate, format: String, result: Bool)] = [
      (comparison(key("size"), .lessThan, value(11)), "size < 11", true),
      (comparison(key("size"), .lessThanOrEqualTo, value(9)), "size <= 9", false),
      (comparison(key("size"), .greaterThan, value(10)), "size > 10", false),
      (comparison(key("size"), .greaterThanOrEqualTo, value(10.0)), "size >= 10.0", true),
      (comparison(key("size"), .equalTo, value(10)), "size == 10", true),
      (comparison(key("missing"), .notEqualTo, value(nil)), "missing != nil", false),
      (comparison(key("name"), .matches, value(".tude.*")), "name MATCHES '.tude.*'", true),
      (
        comparison(key("name"), .like, value("etude*"), [.caseInsensitive, .diacriticInsensitive]),
        "name LIKE[cd] 'etude*'", true
      ),
      (comparison(key("name"), .beginsWith, value("étude"), .caseInsensitive), "name BEGINSWITH[c] 'étude'", true),
      (comparison(key("name"), .endsWith, value(".md"), .normalized), "name ENDSWITH[n] '.md'", true),
      (comparison(key("size"), .in, value([9, 10])), "size IN {9, 10}", true),
      (comparison(key("tags"), .contains, value("z")), "tags CONTAINS 'z'", false),
      (comparison(key("size"), .between, NSExpression(forAggregate: [value(1), 20])), "size BETWEEN {1, 20}", true),
      (comparison(key("tags"), .equalTo, value("y"), [], .any), "ANY tags == 'y'", true),
      (comparison(key("tags"), .equalTo, value("y"), [], .all), "ALL tags == 'y'", false),
      (comparison(.expressionForAnyKey(), .equalTo, value(10)), "ANYKEY == 10", true),
      (comparison(key("tags.@count"), .equalTo, value(2)), "tags.@count == 2", true),
      (comparison(key("SELF.size"), .equalTo, value(10)), "SELF.size == 10", true),
      (
        comparison(NSExpression(forFunction: "add:to:", arguments: [key("size"), value(1)]), .equalTo, value(11)),
        "size + 1 == 11", true
      ),
      (
        comparison(NSExpression(forFunction: "max:", arguments: [key("items.n")]), .equalTo, value(3)),
        "max(items.n) == 3", true
      ),
      (
        comparison(NSExpression(forUnionSet: key("tags"), with: value(["z"])), .contains, value("z")),
        "tags UNION {'z'} CONTAINS 'z'", true
      ),
      (
        comparison(NSExpression(forIntersectSet: key("tags"), with: value(["z"])), .contains, value("x")),
        "tags INTERSECT {'z'} CONTAINS 'x'", false
      ),
      (
        comparison(NSExpression(forMinusSet: key("tags"), with: value(["x"])), .contains, value("x")),
        "tags MINUS {'x'} CONTAINS 'x'", false
      ),
      (
        comparison(
          NSExpression(
            forFunction: NSExpression(
              forSubquery: key("items"), usingIteratorVariable: "i",
              predicate: comparison(
                NSExpression(
                  forFunction: NSExpression(forVariable: "i"), selectorName: "valueForKeyPath:", arguments: ["n"]),
                .greaterThan, value(1))),
            selectorName: "valueForKeyPath:", arguments: ["@count"]), .equalTo, value(1)),
        "SUBQUERY(items, $i, $i.n > 1).@count == 1", true
      ),
      (
        comparison(
          NSExpression(
            forConditional: comparison(key("size"), .greaterThan, value(1)), trueExpression: value("a"),
            falseExpression: value("b")),
          .equalTo, value("a")), "TERNARY(size > 1, 'a', 'b') == 'a'", true
      ),
      (
        NSCompoundPredicate(type: .not, subpredicates: [comparison(key("size"), .equalTo, value(1))]), "NOT size == 1",
        true
      ),
      (NSCompoundPredicate(type: .or, subpredicates: []), "FALSEPREDICATE", false),
      (NSCompoundPredicate(type: .and, subpredicates: []), "TRUEPREDICATE", true),
      (NSComparisonPredicate(value: true), "1 == 1", true),
    ]
    for (built, format, result) in table {
      let read = NSPredicate(format: format)
      #expect(built.description == read.description, "\(format)")
      #expect(built.evaluate(with: item) == result && read.evaluate(with: item) == result, "\(format)")
      let isEmpty = (built as? NSCompoundPredicate)?.subpredicates.isEmpty == true
      #expect((built == read) == !isEmpty && (isEmpty || built.hash == read.hash), "\(format)")
    }
  }

  @Test("A format becomes the class that it is on Apple platforms, whose parts can be taken")
  func classes() throws {
    let compound = try #require(
      NSPredicate(format: "a == 1 OR NOT ANY b BEGINSWITH[c] %@", "x") as? NSCompoundPredicate)
    #expect(compound.compoundPredicateType == .or && compound.subpredicates.count == 2)
    let first = try #require(compound.subpredicates[0] as? NSComparisonPredicate)
    #expect(first.predicateOperatorType == .equalTo && first.comparisonPredicateModifier == .direct)
    #expect(first.leftExpression.expressionType == .keyPath && first.leftExpression.keyPath == "a")
    #expect(first.rightExpression.constantValue as? Int == 1)
    #expect(compound.subpredicates[0] === first)
    let negated = try #require(compound.subpredicates[1] as? NSCompoundPredicate)
    let second = try #require(negated.subpredicates.first as? NSComparisonPredicate)
    #expect(negated.compoundPredicateType == .not && second.comparisonPredicateModifier == .any)
    #expect(second.options == .caseInsensitive && second.rightExpression.constantValue as? String == "x")
    #expect(
      NSComparisonPredicate(format: "a IN %@", ["b"] as NSArray).rightExpression.constantValue as? [String] == ["b"])
    #expect(NSCompoundPredicate(format: "a == 1 AND b == 2").compoundPredicateType == .and)
    #expect(!(NSPredicate(format: "TRUEPREDICATE") is NSCompoundPredicate))
  }

  @Test("Compounds are told apart, print what they join, and may have blocks and Foundation's predicates in them")
  func compounds() {
    let (small, large) = (NSPredicate(format: "size < 5"), NSPredicate(format: "size > 50"))
    let either = NSCompoundPredicate(orPredicateWithSubpredicates: [small, large])
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [small, either])
    #expect(either.description == "size < 5 OR size > 50" && both.description == "size < 5 AND (size < 5 OR size > 50)")
    #expect(either != both && either == NSCompoundPredicate(type: .or, subpredicates: [small, large]))
    let isText = NSPredicate { object, _ in object is String }
    let mixed = NSCompoundPredicate(andPredicateWithSubpredicates: [isText, NSPredicate(value: true)])
    #expect(mixed.evaluate(with: "x") && !mixed.evaluate(with: 1))
    #expect(NSCompoundPredicate(notPredicateWithSubpredicate: mixed).evaluate(with: 1))
    let known = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(value: true))
    #expect(known.description == "NOT TRUEPREDICATE" && !known.evaluate(with: nil))
  }

  @Test("Joining one predicate after another isn't limited by the depth of trees")
  func deepCompounds() {
    var joined = NSPredicate(format: "n != 0")
    for number in 1...1_000 {
      let next = NSPredicate(format: "n != %d", number)
      joined = NSCompoundPredicate(andPredicateWithSubpredicates: [joined, next])
    }
    #expect(joined.evaluate(with: ["n": 2_000]) && !joined.evaluate(with: ["n": 500]))
  }

  @Test("A subclass answers for itself, also inside of compounds")
  func subclasses() {
    final class Never: NSComparisonPredicate {
      override func evaluate(with object: Any?) -> Bool { false }
      override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool { false }
    }
    let never = Never(
      leftExpression: value(1), rightExpression: value(1), modifier: .direct, type: .equalTo, options: [])
    #expect(!NSCompoundPredicate(orPredicateWithSubpredicates: [never]).evaluate(with: nil))
  }

  @Test("Expressions have values, for objects and with variables")
  func values() {
    func number(_ expression: NSExpression, _ context: NSMutableDictionary? = nil) -> Int? {
      expression.expressionValue(with: item, context: context) as? Int
    }
    #expect(number(NSExpression(format: "size * 2 + %d", 1)) == 21)
    #expect(number(NSExpression(format: "$x + 1"), ["x": 4]) == 5)
    #expect(number(NSExpression(forKeyPath: "items.@sum.n")) == 4)
    #expect(number(NSExpression(format: "SUBQUERY(items, $i, $i.n > $least).@count"), ["least": 2]) == 1)
    let block = NSExpression(block: { _, values, _ in (values[0] as? Int ?? 0) + 1 }, arguments: [key("size")])
    #expect(number(block) == 11 && number(NSExpression(forFunction: "multiply:by:", arguments: [block, 2])) == 22)
    #expect((NSExpression.expressionForEvaluatedObject().expressionValue(with: "x", context: nil) as? String) == "x")
    #expect(key("absent").expressionValue(with: item, context: nil) == nil)
    let url = URL(string: "https://example.com")
    #expect(value(url).constantValue as? URL == url)
    #expect(block.description == "BLOCK(size)" && block == block && block != value(1))
  }

  @Test(
    "Each kind of expression has its parts",
    arguments: [
      ("1", NSExpression.ExpressionType.constantValue), ("SELF", .evaluatedObject), ("$x", .variable),
      ("a.b", .keyPath),
      ("a + 1", .function), ("-a", .function), ("sum(a)", .function), ("a[FIRST]", .function),
      ("CAST(a, 'NSDate')", .function),
      ("a UNION b", .unionSet), ("a INTERSECT b", .intersectSet), ("a MINUS b", .minusSet), ("{1, a}", .aggregate),
      ("SUBQUERY(a, $x, $x == 1)", .subquery), ("TERNARY(a == 1, 2, 3)", .conditional), ("ANYKEY", .anyKey),
    ])
  func kinds(format: String, type: NSExpression.ExpressionType) throws {
    let expression = NSExpression(format: format)
    #expect(expression.expressionType == type)
    switch type {
    case .function: #expect(expression.arguments?.isEmpty == false && !expression.function.isEmpty)
    case .unionSet, .intersectSet, .minusSet: #expect(expression.left == key("a") && expression.right == key("b"))
    case .aggregate: #expect((expression.collection as? [NSExpression])?.count == 2)
    case .subquery: #expect(expression.variable == "x" && expression.collection as? NSExpression == key("a"))
    case .conditional: #expect(expression.true == value(2) && expression.predicate.description == "a == 1")
    default: break
    }
    let archive = try NSKeyedArchiver.archivedData(withRootObject: expression, requiringSecureCoding: true)
    #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: archive) == expression)
  }

  @Test("Comparisons and compounds are archived under their own classes; objects with a block aren't")
  func archives() throws {
    let comparison = comparison(key("name"), .like, value("x*"), .caseInsensitive)
    let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [comparison, NSPredicate(value: false)])
    var archive = try NSKeyedArchiver.archivedData(withRootObject: comparison, requiringSecureCoding: true)
    #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSComparisonPredicate.self, from: archive) == comparison)
    archive = try NSKeyedArchiver.archivedData(withRootObject: compound, requiringSecureCoding: true)
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSCompoundPredicate.self, from: archive)
    #expect(read == compound && read?.subpredicates.count == 2)
    let block = NSCompoundPredicate(type: .and, subpredicates: [NSPredicate { _, _ in true }])
    archive = try NSKeyedArchiver.archivedData(withRootObject: block, requiringSecureCoding: true)
    #expect((try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSCompoundPredicate.self, from: archive)) == nil)
  }

  @Test("Variables get values in comparisons, also beside blocks")
  func variables() {
    let template = comparison(key("size"), .greaterThan, NSExpression(forVariable: "least"))
    #expect(template.evaluate(with: item, substitutionVariables: ["least": 9]))
    #expect(template.withSubstitutionVariables(["least": 11]).evaluate(with: item) == false)
    let block = NSExpression(block: { _, _, context in context?["least"] ?? 0 }, arguments: nil)
    #expect(comparison(block, .equalTo, value(3)).evaluate(with: item, substitutionVariables: ["least": 3]))
  }

  @Test("Mistakes for which Apple's classes end the program end it here, too")
  func misuse() async {
    await #expect(processExitsWith: .failure) { _ = NSExpression(forFunction: "launch:", arguments: [1]) }
    await #expect(processExitsWith: .failure) { _ = NSExpression(forConstantValue: 1).keyPath }
    await #expect(processExitsWith: .failure) { _ = NSCompoundPredicate(type: .not, subpredicates: []) }
  }
}
