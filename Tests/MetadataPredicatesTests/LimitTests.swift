import MetadataPredicates
import Testing

@Suite("Limits and profiles of predicates")
struct LimitTests {
  private func limited(_ format: String, _ limits: PredicateLimits, _ arguments: [MetadataValue] = []) throws
    -> MetadataPredicateError
  {
    try error { () throws(MetadataPredicateError) in
      _ = try MetadataPredicate(format: format, arguments: arguments, limits: limits).compiled(limits: limits)
    }
  }

  @Test(
    "Untrusted text can't use what is slow, random or foreign",
    arguments: [
      "SUBQUERY(a, $x, $x == 1).@count == 1", "random() == 1", "randomn(3) == 1", "($x := 1) == 1", "ANYKEY == 1",
      "a MATCHES '(a{100}){100}'",
    ])
  func untrusted(format: String) throws {
    #expect(try limited(format, .untrusted).code == .limit)
    _ = try? MetadataPredicate(format: format)
  }

  @Test("Untrusted text can use the rest")
  func untrustedUse() throws {
    let text =
      "kMDItemFSName LIKE[cd] '*.md' AND (kMDItemFSSize BETWEEN {1, 100} OR name MATCHES 'a+') AND ANY tags IN {'x'}"
    let predicate = try MetadataPredicate(format: text, limits: .untrusted)
    let item: MetadataValue = ["kMDItemFSName": "A.MD", "kMDItemFSSize": 5, "tags": ["x"]]
    #expect(try predicate.compiled(limits: .untrusted).matches(item))
  }

  @Test("A tree that didn't come from text is held to the same limits")
  func trees() throws {
    func code(_ predicate: MetadataPredicate, _ limits: PredicateLimits) throws -> MetadataPredicateError.Code {
      try error { () throws(MetadataPredicateError) in _ = try predicate.compiled(limits: limits) }.code
    }
    var deep: MetadataPredicate = .fileName == "a"
    for _ in 0..<1_000 { deep = !deep }
    #expect(try code(deep, .standard) == .limit)
    #expect(try error { () throws(MetadataPredicateError) in _ = try deep.substituting([:]) }.code == .limit)
    let wide = MetadataPredicate.or((0..<600).map { .fileSize == .bytes($0) })
    #expect(try code(wide, .untrusted) == .limit)
    #expect(try wide.compiled().matches(["kMDItemFSSize": 599] as MetadataValue))
    let sub = try MetadataPredicate(format: "SUBQUERY(a, $x, $x == 1).@count == 1")
    #expect(try code(sub, .untrusted) == .limit)
    let unknown = MetadataPredicate.comparison(PredicateComparison(.function("launch", []), .equal, .constant(1)))
    #expect(try code(unknown, .standard) == .unknownFunction)
    let cast = MetadataPredicate.comparison(
      PredicateComparison(.cast(.constant(1), type: "NSWindow"), .equal, .constant(1)))
    #expect(try code(cast, .standard) == .unsupported)
  }

  @Test("Only some attributes")
  func attributes() throws {
    var limits = PredicateLimits.untrusted
    limits.attributes = ["kMDItemFSName", "tags"]
    let allowed = try MetadataPredicate(format: "kMDItemFSName == 'a' AND ANY tags.x == 1", limits: limits)
    #expect(try allowed.compiled(limits: limits).attributes == ["kMDItemFSName", "tags"])
    #expect(try limited("kMDItemFSNam == 'a'", limits).suggestion?.contains("kMDItemFSName") == true)
    #expect(try limited("SELF.secret == 'a'", limits).code == .limit)
    #expect(try limited("SELF == 'a'", limits).code == .limit)
    #expect(try limited("%K == 'a'", limits, ["secret.x"]).code == .limit)
    // Where the text names the attribute, the error has the place.
    for format in ["tags == 1 AND secret == 'a'", "tags == 1 AND #secret == 'a'", "tags == 1 AND secret.x == 1"] {
      let error = #expect(throws: MetadataPredicateError.self) { try MetadataPredicate(format: format, limits: limits) }
      #expect(error?.code == .limit && error?.location?.utf8Offset == 14, "\(format)")
    }
    let query = #expect(throws: MetadataPredicateError.self) {
      try MetadataPredicate(query: "tags == 1 && secret == 2", limits: limits)
    }
    #expect(query?.code == .limit && query?.location?.utf8Offset == 13)
  }

  @Test("A text that's too long, or has too many parts")
  func size() throws {
    let long = "a == '" + String(repeating: "x", count: 5_000) + "'"
    #expect(try limited(long, .untrusted).code == .limit)
    let many = "a IN {" + Array(repeating: "1", count: 600).joined(separator: ",") + "}"
    #expect(try limited(many, .untrusted).code == .limit)
    #expect(try MetadataPredicate(format: many).compiled().matches(["a": 1] as MetadataValue))
  }

  @Test("An evaluation that visits too many members ends, and says so")
  func steps() throws {
    var limits = PredicateLimits.standard
    limits.stepCountMax = 1_000
    let format = "SUBQUERY(a, $x, SUBQUERY(a, $y, $x == -$y).@count > 0).@count > 0"
    let compiled = try MetadataPredicate(format: format).compiled(limits: limits)
    let item: MetadataValue = ["a": .array((1...100).map { .integer($0) })]
    let (matches, problems) = compiled.diagnosedMatches(item)
    #expect(!matches)
    #expect(problems == [.tooManySteps])
  }

  @Test("Nesting of arguments is limited")
  func arguments() throws {
    var value: MetadataValue = 1
    for _ in 0..<40 { value = [value] }
    #expect(try limited("a == %@", .standard, [value]).code == .limit)
  }
}
