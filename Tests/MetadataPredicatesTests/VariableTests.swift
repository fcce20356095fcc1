import MetadataPredicates
import Testing

@Suite("Variables of predicates")
struct VariableTests {
  private func code(_ body: () throws(MetadataPredicateError) -> Void) throws -> MetadataPredicateError.Code {
    try error(of: body).code
  }

  @Test("P47: a variable is substituted, and missing it is an error")
  func substitution() throws {
    let predicate = try MetadataPredicate(format: "$x == 3 AND SUBQUERY(a, $i, $i > $x).@count == 1")
    let bound = try predicate.substituting(["x": 3, "unused": 4])
    #expect(try bound.compiled().matches(["a": [1, 5]] as MetadataValue))
    #expect(try !predicate.substituting(["x": 4]).compiled().matches(["a": [1, 5]] as MetadataValue))
    #expect(try code { () throws(MetadataPredicateError) in _ = try predicate.substituting([:]) } == .unboundVariable)
    #expect(try code { () throws(MetadataPredicateError) in _ = try predicate.compiled() } == .unboundVariable)
  }

  @Test("P48: nil can be substituted")
  func substitutedNil() throws {
    let predicate = try MetadataPredicate(format: "$x == missing")
    #expect(try predicate.substituting(["x": nil]).compiled().matches([:] as MetadataValue))
  }

  @Test("The variable of a subquery isn't one to substitute, and ends with it")
  func scopes() throws {
    let inner = try MetadataPredicate(format: "SUBQUERY(a, $i, $i == 1).@count == 1")
    #expect(try inner.substituting(["i": 7]) == inner)
    let outer = try MetadataPredicate(format: "SUBQUERY(a, $i, $i == 1).@count == $i")
    #expect(try code { () throws(MetadataPredicateError) in _ = try outer.compiled() } == .unboundVariable)
    #expect(try outer.substituting(["i": 1]).compiled().matches(["a": [1]] as MetadataValue))
  }

  @Test(":= gives a variable a value from there on")
  func assignment() throws {
    #expect(try holds("($x := a + 1) == 4 AND $x * 2 == 8", for: ["a": 3]))
    #expect(try holds("$x := a == 3 AND $x == 3", for: ["a": 3]))
    // It isn't reached, so there's no value.
    #expect(try holds("(a == 4 AND ($x := a) == 4) OR $x == nil", for: ["a": 3]))
  }

  @Test("A number that isn't finite can't be substituted")
  func notFinite() throws {
    let predicate = try MetadataPredicate(format: "$x == 1")
    #expect(
      try code { () throws(MetadataPredicateError) in _ = try predicate.substituting(["x": .real(.nan)]) } == .arguments
    )
  }
}
