import MetadataPredicates
import Testing

@Suite("Concurrency of evaluation")
struct ConcurrencyEvaluationTests {
  @Test("Many tasks evaluate one predicate")
  func sharedPredicate() async throws {
    let format = """
      (name LIKE[cd] '*é?*' OR name MATCHES '(a|b)+.*' OR tags CONTAINS[c] 'X') AND a IN {1, 2, 'x'} \
      AND SUBQUERY(items, $i, $i.n > 1).@count >= 0 AND name.length < 10 AND type UTI-CONFORMS-TO 'public.data'
      """
    let compiled = try MetadataPredicate(format: format).compiled()
    let items: [MetadataValue] = [
      ["name": "café!", "a": 1, "tags": [], "items": [["n": 2]], "type": "public.png"],
      ["name": "abé", "a": 2.0, "tags": ["x"], "items": [], "type": "public.png"],
      ["name": "zz", "a": "x", "tags": ["X"], "items": [["n": 0]], "type": "public.folder"],
      ["name": 3, "a": nil, "type": "public.png"],
    ]
    let expected = items.map { compiled.matches($0) }
    #expect(expected == [true, true, false, false])
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask { (0..<50).allSatisfy { _ in items.map { compiled.matches($0) } == expected } }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
