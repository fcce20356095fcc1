import FoundationEssentials
import MetadataPredicates
import SeededRandom
import TestSupport
import Testing

@Suite("Exploration of random predicates")
struct AgreementExplorationTests {
  private static let seeds = Budget.seeds(normal: 200, long: 100_000)

  /// The problem of one tree; `nil` if there is none.
  private static func problem(seed: UInt64) -> String? {
    var random = RandomPredicates(seed: seed)
    let tree = random.predicate(depth: 3)
    let text = tree.formatString
    do throws(MetadataPredicateError) {
      let parsed = try MetadataPredicate(format: text)
      if parsed != tree { return "\(text) parses to \(parsed), which isn't the tree it was printed from" }
    } catch { return "\(text) doesn't parse: \(error)" }
    let compiled: CompiledPredicate
    do throws(MetadataPredicateError) { compiled = try tree.compiled() } catch {
      // Constants that can't be compared are refused; the generator makes no other error.
      return error.code == .operands ? nil : "\(text) can't be compiled: \(error)"
    }
    for _ in 0..<4 {
      let item = random.item()
      let expected = NaiveInterpreter(item: item).holds(tree)
      let results = [
        compiled.matches(item), compiled.diagnosedMatches(item).matches,
        compiled.matches(LendingItem(value: item, form: .text)),
        compiled.matches(LendingItem(value: item, form: .bytes), in: .standard),
      ]
      if results != Array(repeating: expected, count: results.count) {
        return "\(text) is \(results) instead of \(expected) for \(item)"
      }
    }
    return nil
  }

  @Test("P52: trees print and parse to themselves, and the compiled evaluator agrees with a naive one")
  func agreement() async {
    let problems = await LongRun.run {
      Self.seeds.lazy.compactMap { seed in
        Self.problem(seed: seed).map { "seed \(seed): \($0)" }
      }.prefix(10).map(\.self)
    }
    #expect(problems == [])
  }

  @Test("The made-up predicates are worth it: both results, and all kinds of tests")
  func coverage() {
    var matches = 0
    var tests: Set<String> = []
    for seed in 0..<UInt64(400) {
      var random = RandomPredicates(seed: seed)
      guard let compiled = try? random.predicate(depth: 3).compiled() else { continue }
      if compiled.matches(random.item()) { matches += 1 }
      for step in compiled.explanation().steps { tests.insert(String(step.text.prefix { $0 != " " })) }
    }
    #expect((80...320).contains(matches))
    #expect(tests.isSuperset(of: ["all", "any", "not:", "general", "holds", "name:", "a:"]))
  }
}
