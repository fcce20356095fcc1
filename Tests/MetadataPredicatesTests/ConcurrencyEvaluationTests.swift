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

@Suite("Concurrency of computed patterns")
struct ConcurrencyPatternTests {
  @Test("Tasks that compute more patterns than are kept get the right ones, also those that can't be used")
  func computedPatterns() async throws {
    let compiled = try MetadataPredicate(format: "name MATCHES[c] expression OR part IN name").compiled()
    let items: [MetadataValue] = (0..<9).flatMap { number -> [MetadataValue] in
      let expression = MetadataValue.string("a{\(number)}b+")
      let name = MetadataValue.string(String(repeating: "A", count: number) + "bb")
      return [
        ["name": name, "expression": expression, "part": .string("z\(number)")],
        ["name": name, "expression": "(", "part": "bb"],
        ["name": "", "expression": expression, "part": .string("\(number)")],
      ]
    }
    let expected = items.indices.map { $0 % 3 < 2 }
    await withTaskGroup(of: Bool.self) { group in
      for start in 0..<8 {
        group.addTask {
          (0..<200).allSatisfy { turn in
            let index = (start * 5 + turn * 7) % items.count
            return compiled.matches(items[index]) == expected[index]
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
    #expect(compiled.diagnosedMatches(items[1]).problems.count == 1)
    #expect(compiled.diagnosedMatches(items[1]).problems == compiled.diagnosedMatches(items[1]).problems)
  }
}
