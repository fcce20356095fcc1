import MetadataPredicates
import Testing

@Suite("Order of names")
struct CollationTests {
  @Test(
    "R32: numbers by value, case and marks only where nothing else differs",
    arguments: [
      ["a2", "A10", "b1"], ["", " ", "1", "a"], ["a", "A", "ä", "b"], ["file 9.txt", "file 10.txt", "file 100.txt"],
      ["01", "1", "2", "10"], ["résumé", "resumz"], ["a", "aa", "ab", "b"], ["é1", "Z", "ж"],
      ["x1y2", "x1y10", "x2y1"],
      ["a-b", "a0", "ab"],
      ["cote", "coté", "côte", "côté"], ["cote", "Cote", "coté", "Coté", "côte", "côtE", "Côte"],
      ["ab", "aB", "Ab", "AB"], ["a1b", "a1B", "A1b"], ["жЖ", "Жж"],
    ])
  func order(names: [String]) {
    #expect(names.reversed().sorted { CollationKey($0) < CollationKey($1) } == names)
  }

  @Test("R32: `[l]` compares texts that are canonically equal as equal")
  func canonicallyEqual() throws {
    // The marks below and above are in both orders.
    for (left, right) in [("\u{E9}", "e\u{301}"), ("a\u{323}\u{302}", "a\u{302}\u{323}"), ("Й", "И\u{306}")] {
      let item = ["left": .string(left), "right": .string(right)] as MetadataValue
      #expect(CollationKey(left) == CollationKey(right))
      for (comparator, isTrue) in [("<=[l]", true), (">=[l]", true), ("<[l]", false), (">[l]", false)] {
        #expect(try MetadataPredicate(format: "left \(comparator) right").compiled().matches(item) == isTrue)
      }
    }
  }

  @Test("Only texts that are canonically equal have equal keys, and the order is one")
  func totalOrder() {
    let parts = ["a", "A", "é", "e\u{301}", "e", "1", "01", "12", "-", "中", "ß", "ss"]
    let names = parts.flatMap { first in parts.map { first + $0 } }
    let keys = names.map { CollationKey($0) }
    for (first, name) in zip(keys, names) {
      for (second, other) in zip(keys, names) {
        let orders = [first < second, second < first, first == second]
        #expect(orders.filter(\.self).count == 1, "\(name) \(other)")
        #expect((first == second) == (name == other))
      }
    }
  }
}
