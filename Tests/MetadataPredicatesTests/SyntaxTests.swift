import MetadataPredicates
import Testing

@Suite("Syntax of the format language")
struct SyntaxTests {
  @Test("P51, P52: a valid text parses, prints and parses again to an equal tree", arguments: ValidFormats.all)
  func roundTrip(sample: ValidFormats.Sample) throws {
    let predicate = try MetadataPredicate(format: sample.text, arguments: sample.arguments)
    let printed = predicate.formatString
    let again = try MetadataPredicate(format: printed)
    #expect(again == predicate, "\(printed)")
    #expect(again.formatString == printed)
    #expect(again.hashValue == predicate.hashValue)
  }

  @Test("P51: an invalid text is refused at the first token that can't stand there", arguments: InvalidFormats.all)
  func refusal(sample: InvalidFormats.Sample) throws {
    let error = try error { () throws(MetadataPredicateError) in
      _ = try MetadataPredicate(format: sample.text, arguments: sample.arguments)
    }
    #expect(error.location?.utf8Offset == sample.offset, "\(error)")
    #expect(!error.message.isEmpty)
  }

  @Test("P51: there are at least 150 valid and 100 invalid texts, each once")
  func enough() {
    let valid = ValidFormats.all.map { "\($0.text) \($0.arguments)" }
    #expect(Set(valid).count >= 150)
    let invalid = InvalidFormats.all.map { "\($0.text) \($0.arguments)" }
    #expect(Set(invalid).count == invalid.count)
    #expect(invalid.count >= 100)
  }

  private func tree(_ format: String, _ arguments: [MetadataValue] = []) throws -> MetadataPredicate {
    try MetadataPredicate(format: format, arguments: arguments)
  }

  @Test("P1: AND, && and and are the same")
  func spellingsOfAnd() throws {
    let expected = try tree("size >= 10 AND size <= 20")
    #expect(try tree("size >= 10 && size <= 20") == expected)
    #expect(try tree("size >= 10 and size <= 20") == expected)
    #expect(try tree("a == 1 || b == 2") == tree("a == 1 OR b == 2"))
    #expect(try tree("!(a == 1)") == tree("NOT a == 1"))
  }

  @Test(
    "P2: each operator has a second spelling",
    arguments: [("=>", ">="), ("=<", "<="), ("<>", "!="), ("=", "==")])
  func spellingsOfOperators(second: String, first: String) throws {
    #expect(try tree("a \(second) 1") == tree("a \(first) 1"))
  }

  @Test("P3, P4: NOT binds tighter than AND, and AND tighter than OR")
  func precedence() throws {
    #expect(try tree("NOT a == 1 AND b == 2") == tree("(NOT (a == 1)) AND b == 2"))
    #expect(try tree("a == 1 OR b == 1 AND c == 1") == tree("a == 1 OR (b == 1 AND c == 1)"))
    #expect(try tree("a == 1 AND b == 1 OR c == 1") == tree("(a == 1 AND b == 1) OR c == 1"))
  }

  @Test("P16: the order and the case of options mean nothing")
  func options() throws {
    #expect(try tree("a ==[dc] 'x'") == tree("a ==[cd] 'x'"))
    #expect(try tree("a ==[CD] 'x'") == tree("a ==[cd] 'x'"))
  }

  @Test("P29: NONE is NOT ANY")
  func none() throws {
    #expect(try tree("NONE tags == 'x'") == tree("NOT ANY tags == 'x'"))
    #expect(try tree("SOME tags == 'x'") == tree("ANY tags == 'x'"))
  }

  @Test("P7: %K with dots walks several keys")
  func keyPathArgument() throws {
    #expect(try tree("%K == 1", ["a.b"]) == tree("a.b == 1"))
    #expect(try tree("%K == 1", ["a.@count"]) == tree("a.@count == 1"))
    #expect(try tree("%K == 1", ["in"]) == tree("#in == 1"))
  }

  @Test("P41: powers group to the right, other operators to the left")
  func grouping() throws {
    #expect(try tree("2 ** a ** 2 == 1") == tree("2 ** (a ** 2) == 1"))
    #expect(try tree("a - b - c == 1") == tree("(a - b) - c == 1"))
    #expect(try tree("a - b - c == 1") != tree("a - (b - c) == 1"))
  }

  @Test("P54: equal texts make equal predicates with equal hashes")
  func equality() throws {
    let first = try tree("a == 1 AND b LIKE[c] 'x*'")
    let second = try tree("a = 1 && b like[c] \"x*\"")
    #expect(first == second)
    #expect(Set([first, second]).count == 1)
    #expect(try first != tree("a == 2 AND b LIKE[c] 'x*'"))
  }

  @Test(
    "P56: ten thousand of anything nested is refused, without exhausting the stack",
    arguments: [
      ("(", "a == 1", ")"), ("NOT ", "a == 1", ""), ("!", "a == 1", ""), ("a == ", "-", "1"), ("-", "a", " == 1"),
      ("{", "", "} == 1"), ("a[", "0", "] == 1"), ("sum(", "a", ") == 1"), ("a ** ", "2", " == 1"),
      ("SUBQUERY(a, $x, ", "a == 1", ").@count == 1"), ("TERNARY(", "a == 1", ", 1, 2) == 1"), ("1 + ", "1", " == 2"),
      ("$x := ", "1", " == 1"), ("FUNCTION(", "a", ", 'abs:') == 1"), ("CAST(", "a", ", 'NSNumber') == 1"),
      ("(1 + ", "1", ") == 2"), ("(", "a", ")[0] == 1"),
    ])
  func nesting(open: String, middle: String, close: String) throws {
    let text = String(repeating: open, count: 10_000) + middle + String(repeating: close, count: 10_000)
    let error = try error { () throws(MetadataPredicateError) in _ = try MetadataPredicate(format: text) }
    #expect(error.code == .limit || error.code == .syntax)
  }

  @Test("P56: chains of ten thousand steps are parsed or refused")
  func chains() throws {
    let conditions = Array(repeating: "a == 1", count: 10_000).joined(separator: " AND ")
    #expect(try tree(conditions).compiled().matches(["a": 1] as MetadataValue))
    let path = Array(repeating: "a", count: 10_000).joined(separator: ".")
    #expect(try !tree("\(path) == 1").compiled().matches([:] as MetadataValue))
    let sum = Array(repeating: "1", count: 10_000).joined(separator: " + ")
    let error = try error { () throws(MetadataPredicateError) in _ = try MetadataPredicate(format: sum + " == 1") }
    #expect(error.code == .limit)
  }

  @Test("The limit of nesting is reached by what it allows")
  func nestingLimit() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "(", count: depth) + "a == 1" + String(repeating: ")", count: depth)
    }
    let depth = PredicateLimits.standard.nestingDepthMax
    #expect(try tree(nested(depth)) == tree("a == 1"))
    let error = try error { () throws(MetadataPredicateError) in _ = try MetadataPredicate(format: nested(depth + 1)) }
    #expect(error.code == .limit)
    #expect(error.location?.utf8Offset == depth + 1)
  }
}
