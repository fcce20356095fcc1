import TestSupport
import Testing

@Suite("filecoord predicate", .blocking)
struct PredicateTests {
  @Test(
    "It prints the canonical text, the tree and what was compiled, in either language",
    arguments: [
      ["predicate", "name LIKE[c] '*.md' && size > 1000 AND NOT tag = 'x'"],
      ["predicate", "--untrusted", "name LIKE[c] '*.md' and size > 1000 and !(tag == 'x')"],
    ])
  func printing(arguments: [String]) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    #expect(
      result.output == """
        predicate:
          name LIKE[c] "*.md" AND size > 1000 AND NOT tag == "x"
        tree:
          AND
            name LIKE[c] "*.md"
            size > 1000
            NOT
              tag == "x"
        compiled:
          all of, cheapest first:
            size: number > 1000
            name: folded text ends as "*.md"
            not:
              tag: text is "x"
          attributes: name, size, tag

        """)
  }

  @Test("It reads Spotlight's language too")
  func spotlight() throws {
    let result = try Tool.run(["predicate", "--spotlight", "kMDItemFSName == \"*.md\"c"])
    #expect(result.status == 0)
    #expect(result.output.contains("  ANY kMDItemFSName LIKE[c] \"*.md\"\n"))
    #expect(result.output.contains("  kMDItemFSName: folded text ends as \"*.md\"\n"))
  }

  @Test(
    "A predicate that can't be used ends with 65 and shows the place",
    arguments: [
      (["predicate", "size > 3 AND"], "expected an expression, found the end of the text"),
      (["predicate", "'a' < 3"], "a string can't be compared with a number by <"),
      (["predicate", "--spotlight", "a AND b"], "Write '&&'."),
      (["predicate", "--untrusted", "ANYKEY == 1"], "ANYKEY isn't allowed here"),
    ])
  func mistakes(arguments: [String], message: String) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == 65)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains(message), "\(result.errors)")
  }
}
