import MetadataPredicates
import Testing

/// The table of evaluation rules, row by row.
///
/// Other tests go deeper; here each row is found under its own words.
@Suite("The table of evaluation")
struct EvaluationTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let formats: [(text: String, expected: Bool)]

    init(_ title: String, true holding: [String] = [], false failing: [String] = []) {
      testDescription = title
      formats = holding.map { ($0, true) } + failing.map { ($0, false) }
    }
  }

  private static let item: MetadataValue = [
    "name": "Text", "wide": "\u{FF34}ext", "empty": "", "nobody": .array([]), "null": nil, "flag": true, "size": 3,
    "dict": ["k": "v"], "numbers": [1, 2, 3], "tags": ["x", "y"], "a10": "a10", "star": "*", "mark": "?",
    "composed": "é", "decomposed": "e\u{301}", "set": .set([1, 2]),
  ]

  @Test(
    arguments: [
      Row(
        "nil == nil, and NSNull counts as nil",
        true: ["nil == nil", "missing == nil", "null == nil", "null == missing"]),
      Row("missing != value", true: ["missing != 3", "null != 'x'"]),
      Row("< or > with one side nil", false: ["missing < 3", "missing > 3", "3 < missing", "3 > missing"]),
      Row(
        "<=, >= with both nil", true: ["missing <= nil", "missing >= null"], false: ["missing <= 3", "3 >= missing"]),
      Row(
        "Any string operator with nil",
        false: ["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "TOKENMATCHES"].flatMap {
          ["missing \($0) 'a'", "name \($0) missing"]
        }),
      Row("ANY over nil", false: ["ANY missing == 1", "ANY missing == nil"]),
      Row("ALL over nil", true: ["ALL missing == 1", "ALL missing == nil"]),
      Row(
        "ANY {}, ALL {}, SOME {}, NONE {}",
        true: ["ALL nobody == 1", "NONE nobody == 1", "ALL {} == 1", "NONE {} == 1"],
        false: ["ANY nobody == 1", "SOME nobody == 1", "ANY {} == 1", "SOME {} == 1"]),
      Row("\"42\" == 42", false: ["'42' == 42", "42 == '42'", "size == '3'"]),
      Row(
        "NO == 0, YES == 1; booleans in numeric comparison", true: ["NO == 0", "YES == 1", "flag > 0", "flag <= 1.0"]),
      Row(
        "BEGINSWITH '', ENDSWITH '', CONTAINS ''",
        false: ["BEGINSWITH", "ENDSWITH", "CONTAINS"].flatMap {
          ["name \($0) ''", "empty \($0) ''", "name \($0) empty"]
        }),
      Row(
        "LIKE: anchored; ? one, * any number; \\? \\* literal; case-sensitive without [c]",
        true: ["name LIKE 'T?x*'", "name LIKE[c] 't*'", "star LIKE '\\\\*'", "mark LIKE '\\\\?'", "name LIKE 'Text*'"],
        false: [
          "name LIKE 'ex'", "name LIKE 't*'", "name LIKE 'Tex?t'", "name LIKE '\\\\*'",
          "name LIKE '\\\\?\\\\?\\\\?\\\\?'",
        ]),
      Row(
        "MATCHES: the whole string; an empty pattern gives false", true: ["name MATCHES 'T.*'"],
        false: ["name MATCHES 'ex'", "name MATCHES ''", "empty MATCHES ''"]),
      Row(
        "String <: by compare", true: ["'ABC' <= 'abc'", "'abc' > 'ABC'", "'a10' < 'a2'"], false: ["'abc' <= 'ABC'"]),
      Row(
        "[c], [d] also ignore width", true: ["wide ==[c] 'text'", "wide ==[d] 'Text'", "wide CONTAINS[d] 'T'"],
        false: ["wide == 'Text'", "wide ==[d] 'text'"]),
      Row(
        "[n]: byte comparison; supersedes c and d", true: ["composed == decomposed", "name ==[n] 'Text'"],
        false: ["composed ==[n] decomposed", "name ==[nc] 'text'", "composed ==[nd] 'e'"]),
      Row("[l]: locale-sensitive", true: ["'a2' <[l] a10", "name LIKE[l] 'T*'"], false: ["'a10' <[l] 'a2'"]),
      Row(
        "BETWEEN: inclusive, bounds in either order", true: ["size BETWEEN {3, 4}", "size BETWEEN {3, 1}"],
        false: ["size BETWEEN {4, 5}"]),
      Row("Integer division truncates", true: ["41 / 2 * 2 == 40", "63 / 42.0 == 1.5", "-7 / 2 == -3"]),
      Row(
        "{1,2,3} == $array: element by element", true: ["{1, 2, 3} == numbers", "numbers == {1.0, 2, 3}"],
        false: ["{1, 2} == numbers", "{3, 2, 1} == numbers"]),
      Row(
        "UNION: a set; compared with an array: not equal", true: ["{1} UNION {2} == set"],
        false: ["{1} UNION {2} == {1, 2}", "numbers UNION {} == numbers"]),
      Row(
        "{}[FIRST] == 1: false, not a trap", true: ["nobody[LAST] == nil"],
        false: ["{}[FIRST] == 1", "nobody[FIRST] == 1"]),
      Row("x IN dict: among the values", true: ["'v' IN dict"], false: ["'k' IN dict"]),
      Row(
        "x IN 'text': a part of it", true: ["'ex' IN name", "'ex' IN 'text'"], false: ["'xe' IN name", "'' IN name"]),
      Row(
        "'text' CONTAINS x, coll CONTAINS x", true: ["name CONTAINS 'ex'", "tags CONTAINS 'x'", "dict CONTAINS 'v'"],
        false: ["tags CONTAINS 'z'", "dict CONTAINS 'k'"]),
      Row(
        "Linux: ß is SS with [c]; composed and decomposed forms are equal unless compared literally",
        true: ["'ß' ==[c] 'SS'", "composed == decomposed", "composed BEGINSWITH decomposed"], false: ["'ß' == 'SS'"]),
    ])
  func row(row: Row) throws {
    for (text, expected) in row.formats { #expect(try holds(text, for: Self.item) == expected, "\(text)") }
  }

  @Test("AND of nothing is true, OR of nothing is false; NOT of nothing can't be written")
  func nothing() throws {
    #expect(try MetadataPredicate.and([]).compiled().matches(Self.item))
    #expect(try !MetadataPredicate.or([]).compiled().matches(Self.item))
    #expect(try error { () throws(MetadataPredicateError) in _ = try MetadataPredicate(format: "NOT") }.code == .syntax)
  }

  @Test(
    "Comparisons that raise there are errors here: an order between string and number, two bounds that aren't two",
    arguments: ["'a' < 3", "3 >= 'a'", "size BETWEEN {1}", "size BETWEEN {1, 2, 3}", "size BETWEEN 3"])
  func raising(format: String) throws {
    let predicate = try MetadataPredicate(format: format)
    #expect(try error { () throws(MetadataPredicateError) in _ = try predicate.compiled() }.code == .operands)
  }

  @Test("Substitution of nothing, a dictionary that lacks a used variable, and an unbound variable are errors")
  func variables() throws {
    let predicate = try MetadataPredicate(format: "$x == $y")
    for values: [String: MetadataValue] in [[:], ["x": 1]] {
      let error = try error { () throws(MetadataPredicateError) in _ = try predicate.substituting(values) }
      #expect(error.code == .unboundVariable)
    }
    #expect(try error { () throws(MetadataPredicateError) in _ = try predicate.compiled() }.code == .unboundVariable)
    #expect(try predicate.substituting(["x": 1, "y": 1.0]).compiled().matches(Self.item))
  }

  @Test("TRUEPREDICATE is always the same")
  func shared() throws {
    let first = try MetadataPredicate(format: "TRUEPREDICATE")
    #expect(first == MetadataPredicate.constant(true))
    #expect(try first.hashValue == MetadataPredicate(format: "(truepredicate)").hashValue)
  }
}
