import MetadataPredicates
import Testing

// Types of Foundation and of this module have one name: this file imports the module that has them all.
@testable import FoundationCompatibility

private func key(_ path: String) -> NSExpression { NSExpression(forKeyPath: path) }
private func value(_ value: Any?) -> NSExpression { NSExpression(forConstantValue: value) }

private func comparison(
  _ left: NSExpression, _ type: NSComparisonPredicate.Operator, _ right: NSExpression,
  _ options: NSComparisonPredicate.Options = [], _ modifier: NSComparisonPredicate.Modifier = .direct
) -> NSComparisonPredicate {
  NSComparisonPredicate(leftExpression: left, rightExpression: right, modifier: modifier, type: type, options: options)
}

/// Code that reads an entry.
private func block(_ name: String) -> NSExpression {
  NSExpression(block: { object, _, _ in (object as? [String: Any])?[name] ?? NSNull() }, arguments: nil)
}

private nonisolated(unsafe) let item: [String: Any] = ["size": 10, "tags": ["x", "y"], "items": [["n": 1], ["n": 3]]]

@Suite("Predicates with code of the program in them, and of classes of the program's own", .timeLimit(.minutes(4)))
struct PredicatePartTests {
  @Test("A comparison with a block prints its operator, options and quantifier, and equals only itself")
  func comparisonsOfBlocks() {
    let tags = block("tags")
    let table: [(NSComparisonPredicate, String, Bool)] = [
      (comparison(tags, .contains, value("y")), "BLOCK() CONTAINS \"y\"", true),
      (comparison(tags, .equalTo, value("x"), [], .any), "ANY BLOCK() == \"x\"", true),
      (comparison(tags, .equalTo, value("X"), .caseInsensitive, .all), "ALL BLOCK() ==[c] \"X\"", false),
      (comparison(value("x"), .in, tags), "\"x\" IN BLOCK()", true),
    ]
    for (predicate, text, result) in table {
      #expect(predicate.predicateFormat == text && predicate.description == text)
      #expect(predicate.evaluate(with: item) == result, "\(text)")
      #expect(predicate.evaluate(with: item, substitutionVariables: ["v": 1]) == result, "\(text)")
      let twin = comparison(
        predicate.leftExpression, predicate.predicateOperatorType, predicate.rightExpression, predicate.options,
        predicate.comparisonPredicateModifier)
      #expect(predicate == predicate && predicate != twin && predicate.hash == predicate.hash)
      #expect(predicate.copy() as? NSComparisonPredicate === predicate)
    }
  }

  @Test("A comparison of a truth value or of a block holds when that does")
  func shortForms() {
    #expect(NSComparisonPredicate(value: true).evaluate(with: nil))
    #expect(!NSComparisonPredicate(value: false).evaluate(with: nil))
    #expect(NSComparisonPredicate(value: false).description == "1 == 0")
    let isLarge = NSComparisonPredicate { object, variables in
      (object as? Int ?? 0) > (variables?["least"] as? Int ?? 0)
    }
    #expect(isLarge.evaluate(with: 1) && !isLarge.evaluate(with: 0))
    #expect(!isLarge.evaluate(with: 1, substitutionVariables: ["least": 1]))
  }

  @Test("Each operator of Apple's is the one of the format language, both ways")
  func operators() throws {
    let formats: [(NSComparisonPredicate.Operator, String)] = [
      (.lessThan, "<"), (.lessThanOrEqualTo, "<="), (.greaterThan, ">"), (.greaterThanOrEqualTo, ">="),
      (.equalTo, "=="), (.notEqualTo, "!="), (.matches, "MATCHES"), (.like, "LIKE"), (.beginsWith, "BEGINSWITH"),
      (.endsWith, "ENDSWITH"), (.in, "IN"), (.contains, "CONTAINS"),
    ]
    for (type, sign) in formats {
      let read = try #require(NSPredicate(format: "a \(sign) b") as? NSComparisonPredicate)
      #expect(read.predicateOperatorType == type && read == comparison(key("a"), type, key("b")), "\(sign)")
      // With a block, the sign is all that's printed of the operator.
      #expect(comparison(block("a"), type, key("b")).description == "BLOCK() \(sign) b")
    }
    let between = try #require(NSPredicate(format: "a BETWEEN {1, 2}") as? NSComparisonPredicate)
    #expect(between.predicateOperatorType == .between)
  }

  @Test("A compound with a block prints its members in brackets, and equals one with the same members")
  func compoundsOfBlocks() {
    let (code, small) = (comparison(block("tags"), .contains, value("x")), NSPredicate(format: "size < 5"))
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [code, small])
    let either = NSCompoundPredicate(orPredicateWithSubpredicates: [both, code])
    let neither = NSCompoundPredicate(notPredicateWithSubpredicate: either)
    #expect(both.description == "BLOCK() CONTAINS \"x\" AND size < 5")
    #expect(either.description == "(\(both.description)) OR BLOCK() CONTAINS \"x\"")
    #expect(neither.description == "NOT (\(either.description))")
    #expect(!both.evaluate(with: item) && either.evaluate(with: item) && !neither.evaluate(with: item))
    #expect(either.evaluate(with: item, substitutionVariables: ["v": 1]))
    let twin = NSCompoundPredicate(andPredicateWithSubpredicates: [code, small])
    #expect(both == twin && both.hash == twin.hash && both.copy() as? NSCompoundPredicate === both)
    #expect(both != NSCompoundPredicate(orPredicateWithSubpredicates: [code, small]))
    #expect(both != NSCompoundPredicate(andPredicateWithSubpredicates: [small, code]))
  }

  @Test("A subclass of a compound joins predicates like its superclass")
  func compoundSubclass() {
    final class Bounded: NSCompoundPredicate {
      init(_ key: String, from low: Int, to high: Int) {
        super.init(
          joining: [NSPredicate(format: "%K >= %d", key, low), NSPredicate(format: "%K <= %d", key, high)], by: .and)
      }

      required convenience init?(coder: NSCoder) { return nil }
    }
    let range = Bounded("size", from: 5, to: 10)
    #expect(range.evaluate(with: item) && !range.evaluate(with: ["size": 11]))
    #expect(range.description == "size >= 5 AND size <= 10" && range.subpredicates.count == 2)
    #expect(range == NSCompoundPredicate(format: "size >= %@ AND size <= %@", argumentArray: [5, 10]))
  }

  @Test("An expression of a bare kind is the evaluated object or any key; of other kinds it has no value")
  func bareExpressions() {
    final class Doubled: NSExpression {
      override init(expressionType type: ExpressionType) { super.init(expressionType: type) }
      required convenience init?(coder: NSCoder) { nil }

      override func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        (super.expressionValue(with: object, context: context) as? Int).map { 2 * $0 }
      }
    }
    #expect(Doubled(expressionType: .evaluatedObject).expressionValue(with: 4, context: nil) as? Int == 8)
    let anyKey = NSExpression(expressionType: .anyKey)
    #expect(anyKey == .expressionForAnyKey() && anyKey.description == "ANYKEY")
    let function = NSExpression(expressionType: .function)
    #expect(function.expressionType == .constantValue)
    #expect(function.expressionValue(with: item, context: nil) == nil)
    #expect(function.copy() as? NSExpression === function)
  }

  @Test("An expression that's made of a block computes with its value")
  func computedWithBlocks() {
    let (tags, size) = (block("tags"), block("size"))
    let large = comparison(size, .greaterThan, NSExpression(forVariable: "least"))
    let several = comparison(NSExpression(forKeyPath: "SELF"), .notEqualTo, size)
    let table: [(NSComparisonPredicate, Bool)] = [
      (comparison(NSExpression(forUnionSet: tags, with: value(["z"])), .contains, value("z")), true),
      (comparison(NSExpression(forIntersectSet: tags, with: value(["x"])), .contains, value("y")), false),
      (comparison(NSExpression(forMinusSet: tags, with: value(["x"])), .contains, value("x")), false),
      (comparison(key("size"), .between, NSExpression(forAggregate: [size, 20])), true),
      (comparison(NSExpression(forFunction: "add:to:", arguments: [size, key("size")]), .equalTo, value(20)), true),
      (
        comparison(
          NSExpression(forConditional: large, trueExpression: value("a"), falseExpression: value("b")), .equalTo,
          value("b")), true
      ),
      (
        comparison(
          NSExpression(
            forFunction: "count:",
            arguments: [NSExpression(forSubquery: block("items"), usingIteratorVariable: "i", predicate: several)]),
          .equalTo, value(2)), true
      ),
    ]
    for (predicate, result) in table {
      #expect(
        predicate.evaluate(with: item, substitutionVariables: ["least": 11]) == result, "\(predicate.description)")
    }
  }

  @Test("A predicate without a class of Apple's equals itself read again, as a copy and from an archive")
  func otherTrees() throws {
    for text in ["TRUEPREDICATE", "type UTI-CONFORMS-TO 'public.text'"] {
      let predicate = try #require(NSPredicate(format: text) as? FormatPredicate)
      let again = NSPredicate(format: text)
      #expect(predicate == again && predicate.hash == again.hash && predicate.copy() as? NSPredicate === predicate)
      #expect(predicate.description == predicate.predicateFormat && predicate != NSPredicate(format: "a == 1"))
      let archive = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
      #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: FormatPredicate.self, from: archive) == predicate)
    }
    #expect(NSPredicate(format: "FALSEPREDICATE") != NSPredicate(format: "TRUEPREDICATE"))
    let kind = NSPredicate(format: "type UTI-CONFORMS-TO $wanted")
    for (wanted, result) in [("public.text", true), ("public.image", false)] {
      #expect(
        kind.evaluate(with: ["type": "public.plain-text"], substitutionVariables: ["wanted": wanted]) == result)
    }
  }
}

@Suite("Objects of programs in predicates", .timeLimit(.minutes(4)))
struct PredicateObjectValueTests {
  @Test("Each class of Foundation, and each type of Swift, has the value that it stands for")
  func values() throws {
    let identifier = UUID()
    let web = try #require(URL(string: "https://example.org/a"))
    let nested: Int?? = 3
    let missing: Int? = nil
    let table: [(Any?, String)] = [
      (nil, "SELF == nil"), (NSNull(), "SELF == nil"), (NSObject(), "SELF == nil"), (missing as Any, "SELF == nil"),
      (nested as Any, "SELF == 3"), (MetadataValue.integer(3), "SELF == 3"), ("text".dropFirst(), "SELF == 'ext'"),
      (NSString(string: "text"), "SELF == 'text'"), (true, "SELF == YES"), (UInt8(5), "SELF == 5"),
      (UInt64.max, "SELF > 18446744073709550000.0"), (Float(0.5), "SELF == 0.5"), (2.5, "SELF == 2.5"),
      (NSNumber(value: 7), "SELF == 7"), (NSNumber(value: 7.5), "SELF == 7.5"),
      (Date(timeIntervalSinceReferenceDate: 60), "SELF == CAST(60, 'NSDate')"),
      (NSDate(timeIntervalSinceReferenceDate: 60), "SELF == CAST(60, 'NSDate')"),
      (URL(fileURLWithPath: "/d/f"), "SELF == '/d/f'"), (NSURL(fileURLWithPath: "/d/f"), "SELF == '/d/f'"),
      (web, "SELF == 'https://example.org/a'"), (identifier, "SELF == '\(identifier.uuidString)'"),
      (NSUUID(uuidString: identifier.uuidString), "SELF == '\(identifier.uuidString)'"),
    ]
    for (object, format) in table {
      #expect(NSPredicate(format: format).evaluate(with: object), "\(format) for \(String(describing: object))")
    }
    let bytes = NSPredicate(format: "SELF == %@", Data([1, 2]))
    #expect(bytes.evaluate(with: Data([1, 2])) && bytes.evaluate(with: NSData(data: Data([1, 2]))))
    #expect(!bytes.evaluate(with: Data([1])))
  }

  @Test("Collections of Foundation and of Swift have their members; keys that aren't texts are left out")
  func collections() {
    let mixed = NSMutableDictionary(dictionary: ["a": 2])
    mixed.setObject(1, forKey: NSNumber(value: 4))
    let table: [(Any, String)] = [
      (["l": NSArray(array: [1, 2])], "l.@count == 2"), (["l": [1, 2]], "2 IN l"), (["l": Set([1, 2])], "2 IN l"),
      (["l": NSSet(array: [1, 2])], "2 IN l"), (["l": NSDictionary(dictionary: ["a": 1])], "l.a == 1"),
      (["l": ["a": 1]], "l.a == 1"), (["l": mixed], "l.a == 2"), (mixed, "a == 2"),
      (NSDictionary(dictionary: ["a": NSNull()]), "a == nil"),
    ]
    for (object, format) in table { #expect(NSPredicate(format: format).evaluate(with: object), "\(format)") }
  }

  @Test("Values in more than 64 collections are missing")
  func depth() {
    var object: Any = 1
    for _ in 0..<100 { object = ["k": object] }
    func path(_ count: Int) -> String { Array(repeating: "k", count: count).joined(separator: ".") }
    #expect(NSPredicate(format: "\(path(60)) != nil").evaluate(with: object))
    #expect(NSPredicate(format: "\(path(70)) == nil").evaluate(with: object))
  }

  @Test("Versions of one item with one name are equal, and others aren't")
  func versions() {
    let (url, other) = (URL(fileURLWithPath: "/d/f"), URL(fileURLWithPath: "/d/g"))
    let versions = [
      NSFileVersion(url, name: "v1"), NSFileVersion(url, name: "v1"), NSFileVersion(url, name: "v2"),
      NSFileVersion(other, name: "v1"),
    ]
    #expect(versions[0] == versions[1] && versions[0].hash == versions[1].hash)
    #expect(Set(versions).count == 3 && versions[0] != versions[2] && versions[0] != versions[3])
    #expect(!versions[0].isEqual("v1") && versions[2].persistentIdentifier as? String == "v2")
  }
}
