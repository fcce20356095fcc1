import MetadataPredicates
import Testing

@Suite("Attributes with several values")
struct SeveralValuesTests {
  private static let item: MetadataValue = [
    "tree": ["public.png", "public.image"], "tags": [], "sizes": .set([1, 20]), "name": "a.txt",
    "single": "public.image",
  ]

  @Test(
    "For queries a comparison with one value holds if it does for one of them; elsewhere collections are compared",
    arguments: [
      ("tree == 'public.image'", true, false), ("'public.image' == tree", true, false), ("tree == 'x'", false, false),
      ("tree != 'public.image'", false, true), ("'public.image' != tree", false, true), ("tree != 'x'", true, true),
      ("tree LIKE '*.ima*'", true, false), ("tree LIKE[c] '*.JPEG'", false, false),
      ("tree ==[c] 'PUBLIC.IMAGE'", true, false),
      ("tree IN {'public.image', 'x'}", true, false), ("tree IN {'x'}", false, false),
      ("tree IN 'a public.png'", true, false),
      ("tree BEGINSWITH 'public'", true, false), ("tree ENDSWITH 'png'", true, false),
      ("tree MATCHES '.*png'", true, false),
      ("tree TOKENMATCHES 'image'", true, false), ("tree CONTAINS 'public.image'", true, true),
      ("tree CONTAINS 'image'", false, false),
      ("sizes > 19", true, false), ("sizes >= 21", false, false), ("sizes BETWEEN {10, 20}", true, false),
      ("sizes == 1", true, false),
      ("tree == {'public.png', 'public.image'}", true, true), ("tree == nil", false, false),
      ("missing == nil", true, true),
      ("missing != 'x'", true, true), ("missing == 'x'", false, false), ("missing IN {nil}", true, true),
      ("missing IN {'x'}", false, false),
      ("missing BETWEEN {1, 2}", false, false), ("tags == 'x'", false, false), ("tags != 'x'", true, true),
      ("tags == nil", false, false),
      ("ALL tree BEGINSWITH 'public'", true, true), ("NONE tree == 'x'", true, true),
      ("NOT tree == 'public.image'", false, true),
      ("name == 'a.txt' AND (tree == 'public.png' OR name == 'b')", true, false),
      ("single == 'public.image'", true, true),
      ("single != 'public.image'", false, false), ("tree.@count == 2", true, true),
      ("tree[FIRST] == 'public.png'", true, true),
      ("tree UTI-CONFORMS-TO 'public.data'", true, true), ("1 + 1 == 2", true, true), ("name == name", true, true),
    ])
  func comparing(format: String, forQueries: Bool, elsewhere: Bool) throws {
    let predicate = try MetadataPredicate(format: format)
    #expect(try predicate.comparingEachValue(exceptOf: []).compiled().matches(Self.item) == forQueries)
    #expect(try predicate.compiled().matches(Self.item) == elsewhere)
    #expect(
      predicate.comparingEachValue(exceptOf: ["tree", "sizes", "name", "tags", "missing", "single"]) == predicate)
  }

  @Test("An attribute with one value is compared as ever, for any quantifier", arguments: 0..<300)
  func single(seed: Int) throws {
    let operators = [
      "==", "!=", "<", "<=", ">", ">=", "LIKE", "BEGINSWITH", "ENDSWITH", "CONTAINS", "MATCHES", "TOKENMATCHES",
    ]
    let constants = ["1", "'a'", "'1'", "2.5", "nil", "{1, 'a'}", "TRUE"]
    let comparison = "key \(operators[seed % operators.count]) \(constants[seed / operators.count % constants.count])"
    let predicate = try MetadataPredicate(format: comparison)
    let each = try predicate.comparingEachValue(exceptOf: []).compiled()
    let whole = try predicate.compiled()
    for value: MetadataValue in [nil, 1, 2.5, "a", "1", true, .date(MetadataDate(secondsSince2001: 1)), .data([1])] {
      let item: MetadataValue = .dictionary(["key": value])
      #expect(each.matches(item) == whole.matches(item), "\(comparison) for \(value)")
    }
  }
}

@Suite("Operators on bits")
struct BitOperatorTests {
  @Test(
    "Operators on bits bind as in C among themselves, and all of them tighter than comparisons",
    arguments: [
      "(flags & 4) == 4", "flags & 4 == 4", "flags & 2 == 0", "flags | 2 == 7", "flags ^ 1 == 4", "~flags == -6",
      "~~flags == flags", "flags << 2 == 20", "flags >> 1 == 2", "1 << 2 + 1 == 8", "6 & 3 | 8 == 10",
      "1 | 2 ^ 2 & 3 == 1",
      "1 << 2 << 1 == 8", "-1 & 255 == 255", "~0 == -1", "flags & ~1 == 4", "flags&1==1&&flags|0==5",
      "NOT flags & 2 != 0",
      "bitwiseAnd:with:(flags, 4) == flags & 4", "leftshift:by:(1, 3) == 1 << 3", "{flags & 1, 2} == {1, 2}",
      "SUBQUERY(list, $x, $x & 1 == 1).@count == 2", "flag & 1 == 1", "1 << 100 == 0", "list & 0 == nil",
    ])
  func bits(format: String) throws {
    let item: MetadataValue = ["flags": 5, "list": [1, 2, 3], "flag": true]
    let predicate = try MetadataPredicate(format: format)
    let (holds, _) = try predicate.compiled().diagnosedMatches(item)
    #expect(holds)
    #expect(try MetadataPredicate(format: predicate.formatString) == predicate)
  }

  @Test("Only whole numbers have bits", arguments: ["a & 1 == 1", "b | 1 == 1", "~c == 1", "missing << 1 == 2"])
  func noBits(format: String) throws {
    let item: MetadataValue = ["a": "x", "b": 1.5, "c": [1]]
    #expect(try !MetadataPredicate(format: format).compiled().matches(item))
  }

  @Test("Deep complements are refused")
  func depth() throws {
    let text = String(repeating: "~", count: 10_000) + "a == 1"
    #expect(try error { () throws(MetadataPredicateError) in _ = try MetadataPredicate(format: text) }.code == .limit)
  }
}
