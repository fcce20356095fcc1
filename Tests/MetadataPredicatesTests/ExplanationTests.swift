import MetadataPredicates
import Testing

@Suite("Explanations of predicates")
struct ExplanationTests {
  @Test("The explanation says what was compiled to what, cheapest first")
  func steps() throws {
    let predicate = try MetadataPredicate(
      format: "kMDItemFSName MATCHES '[a-z]+' AND kMDItemFSName LIKE[c] '*.md' AND kMDItemFSSize > 10 AND a IN {1, 2}")
    let explanation = try predicate.compiled().explanation(indexed: ["kMDItemFSSize"])
    #expect(
      explanation.description == """
        all of, cheapest first:
          kMDItemFSSize: number > 10 [index]
          kMDItemFSName: folded text ends as "*.md"
          a: look-up among 2 constants
          kMDItemFSName: whole text matches "[a-z]+" (5 steps, table of 3 states for ASCII)
        attributes: kMDItemFSName, kMDItemFSSize, a
        """)
    #expect(explanation.attributes == ["kMDItemFSName", "kMDItemFSSize", "a"])
    #expect(!explanation.isTimeDependent)
  }

  @Test("Dear attributes are read last")
  func costs() throws {
    let predicate = try MetadataPredicate(format: "xattr == 1 AND name CONTAINS 'a' AND size > 1")
    let cheap = try predicate.compiled().explanation().steps.map(\.attributes)
    #expect(cheap == [[], ["xattr"], ["size"], ["name"]])
    let dear = try predicate.compiled(attributeCosts: ["xattr": 100]).explanation().steps.map(\.attributes)
    #expect(dear == [[], ["size"], ["name"], ["xattr"]])
  }

  @Test("The order stays where it means something")
  func keptOrder() throws {
    let predicate = try MetadataPredicate(format: "name MATCHES '.*' AND ($x := a) == 1 AND b == 2")
    #expect(try predicate.compiled().explanation().steps.map(\.attributes) == [[], ["name"], ["a"], ["b"]])
  }

  @Test(
    "Constants are computed once",
    arguments: [
      ("1 + 1 == 2", "holds always"), ("'a' == 'b'", "holds never"), ("a == 1 OR 1 == 1", "holds always"),
      ("a == 1 AND FALSEPREDICATE", "holds never"), ("NOT (2 > 1)", "holds never"), ("'abc' LIKE 'a*'", "holds always"),
    ])
  func constants(format: String, expected: String) throws {
    let explanation = try MetadataPredicate(format: format).compiled().explanation()
    #expect(explanation.steps.map(\.text) == [expected])
  }

  @Test("A predicate that depends on the moment, or on all attributes, says so")
  func needs() throws {
    let timed = try MetadataPredicate(query: "kMDItemFSContentChangeDate >= $time.today(-1)").compiled().explanation()
    #expect(timed.isTimeDependent)
    #expect(timed.description.contains("changes as time passes, at moments that are known"))
    let erratic = try MetadataPredicate(format: "TERNARY(a > now(), 1, 2) == 1").compiled().explanation()
    #expect(erratic.isTimeDependent && !erratic.isForeseeable)
    #expect(erratic.description.contains("changes as time passes: looked at every second"))
    let whole = try MetadataPredicate(format: "ANYKEY == 'x' OR SELF.a == 1").compiled().explanation(indexed: ["a"])
    #expect(whole.readsWholeItem)
    #expect(whole.description.contains("reads every attribute"))
    #expect(whole.steps.map(\.isAnsweredByIndex) == [false, true, false])
  }

  /// Records the attributes that are read.
  private final class Reader: PredicateItem {
    var reads: [String] = []
    func value(forAttribute name: String, index: Int) -> MetadataValue {
      reads.append("\(name) \(index)")
      return name == "size" ? 1 : "text"
    }
    var wholeValue: MetadataValue { [:] }
  }

  @Test("An attribute isn't read when a cheaper test has decided")
  func laziness() throws {
    let compiled = try MetadataPredicate(format: "name LIKE 'a*b*' AND size > 10").compiled()
    #expect(compiled.attributes == ["name", "size"])
    let reader = Reader()
    #expect(!compiled.matches(reader))
    #expect(reader.reads == ["size 1"])
  }
}
