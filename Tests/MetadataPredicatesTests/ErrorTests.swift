import MetadataPredicates
import Testing

@Suite("Errors of predicates")
struct ErrorTests {
  private func error(_ format: String, _ arguments: [MetadataValue] = []) throws -> MetadataPredicateError {
    try MetadataPredicatesTests.error { () throws(MetadataPredicateError) in
      _ = try MetadataPredicate(format: format, arguments: arguments)
    }
  }

  @Test("P50: an error shows the line with a caret")
  func caret() throws {
    let error = try error("size > 3\n\tAND (name == 'x'")
    #expect(error.code == .syntax)
    #expect(error.location?.line == 2)
    #expect(error.location?.column == 18)
    #expect(
      error.description == """
        syntax: expected ')', found the end of the text (line 2, column 18)
          \tAND (name == 'x'
          \t                ^
        """)
  }

  @Test("Of a long line only the neighbourhood is shown")
  func excerpt() throws {
    let padding = String(repeating: "a == 1 AND ", count: 50)
    let error = try error(padding + "b ? 1 AND " + padding + "c == 1")
    let location = try #require(error.location)
    #expect(location.excerpt.unicodeScalars.count <= 121)
    let marked = location.excerpt.unicodeScalars.dropFirst(location.excerptColumn).first
    #expect(marked == "?")
  }

  @Test("The place is counted in bytes, the column in characters")
  func offsets() throws {
    let location = try #require(error("größe == é?").location)
    #expect(location.column == 11)
    #expect(location.utf8Offset == 13)
  }

  @Test(
    "A suggestion says what was probably meant",
    arguments: [
      ("a == 'x", "Add ' where it ends"), ("a LIKE *x*", "passed as one value"), ("a & b", "&&"),
      ("a == 1 | b == 2", "||"),
      ("sums(a) == 1", "'sum'"), ("a.@cuont == 1", "@count"), ("a ==[x] 'x'", "c, d, n, l and w"), ("a.in == 1", "#in"),
      ("a == 'x' 'y'", "aren't glued"), ("a @near: b", "Register a function"), ("a ≤ 1", "<="), ("a == ?", "%@"),
      ("a MATCHES '*.txt'", "'.*'"),
    ])
  func suggestion(format: String, part: String) throws {
    let error = try error(format)
    #expect(error.suggestion?.contains(part) == true, "\(error)")
  }

  @Test("Arguments that have no place are explained by the quotes around it")
  func quotedSubstitution() throws {
    let error = try error("name LIKE '*%@*'", ["x"])
    #expect(error.code == .arguments)
    #expect(error.suggestion?.contains("plain text") == true)
  }

  @Test("P55: A name that isn't a predefined or registered function is refused by its own code")
  func functions() throws {
    #expect(try error("FUNCTION(a, 'performSelector:') == 1").code == .unknownFunction)
    #expect(try error("launch(a) == 1").code == .unknownFunction)
    #expect(try error("a @sel: b").code == .unsupported)
    #expect(try error("FETCH(a, b) == 1").code == .unsupported)
  }
}
