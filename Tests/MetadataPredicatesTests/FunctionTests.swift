import MetadataPredicates
import Testing

@Suite("Functions of predicates")
struct FunctionTests {
  @Test(
    "P39: functions of collections",
    arguments: [
      "sum(n) == 6", "max(n) == 3", "min(n) == 1", "average(n) == 2", "median(n) == 2", "mode({1, 2, 2}) == {2}",
      "mode({3, 1, 3, 1, 2}) == {3, 1}",
      "count(n) == 3",
      "stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2", "sum(1, 2, 3) == 6", "max('a', 'c', 'b') == 'c'",
      "median({1, 2, 3, 4}) == 2.5",
      "sum({}) == 0", "max({}) == nil", "sum({1, nil, 2}) == 3", "average({}) == 0", "sum({1.5, 1}) == 2.5",
      "sum(missing) == nil",
      "median({}) == nil", "mode({}) == {}",
    ])
  func collections(format: String) throws {
    #expect(try holds(format, for: ["n": [1, 2, 3]]))
  }

  @Test(
    "Functions of numbers",
    arguments: [
      "add:to:(1, 2) == 3", "add(1, 2) == 3", "from:subtract:(5, 2) == 3", "multiply:by:(5, 3) == 15",
      "divide:by:(5, 2) == 2",
      "modulus:by:(7, 4) == 3", "modulus:by:(7.5, 2) == 1.5", "raise:toPower:(2, 10) == 1024", "sqrt(9) == 3",
      "log(1000) == 3",
      "abs(ln(2.718281828459045) - 1) < 0.0000000001", "abs(exp(1) - 2.718281828459045) < 0.0000000001", "exp(0) == 1",
      "floor(1.7) == 1", "ceiling(1.2) == 2", "trunc(-1.7) == -1", "floor(3) == 3", "abs(-3) == 3", "abs(-1.5) == 1.5",
      "bitwiseAnd:with:(6, 3) == 2", "bitwiseOr:with:(6, 3) == 7", "bitwiseXor:with:(6, 3) == 5",
      "leftshift:by:(1, 4) == 16",
      "rightshift:by:(16, 4) == 1", "onesComplement(0) == -1", "raise:toPower:(2, 0.5) ** 2 > 1.9999999999",
      "modulus:by:(-9223372036854775808, -1) == 0", "abs(-9223372036854775808) > 0", "divide:by:(1, 0) == nil",
      "log(0) < 0",
      "leftshift:by:(1, 1000) == 0", "sqrt(missing) == nil",
    ])
  func numbers(format: String) throws {
    let compiled = try MetadataPredicate(format: format).compiled()
    #expect(compiled.matches([:] as MetadataValue))
  }

  @Test(
    "Functions of texts and others",
    arguments: [
      "uppercase('straße') == 'STRASSE'", "lowercase('ÄB') == 'äb'", "length('aé') == 2", "noindex(3) == 3",
      "castObject:toType:('3', 'NSNumber') == 3", "objectFrom:withIndex:({1, 2}, 1) == 2",
      "objectFrom({1, 2}, 5) == nil",
      "FUNCTION('abc', 'uppercase:') == 'ABC'", "FUNCTION(2, 'multiply:by:', 3) == 6", "random() < 1 AND random() >= 0",
      "randomn(6) < 6", "uppercase(3) == nil",
    ])
  func texts(format: String) throws {
    #expect(try MetadataPredicate(format: format).compiled().matches([:] as MetadataValue))
  }

  @Test("The same seed draws the same numbers")
  func randomness() throws {
    let compiled = try MetadataPredicate(format: "randomn(1000) == drawn").compiled()
    var environment = PredicateEnvironment()
    environment.randomSeed = 7
    let drawn = (0..<1_000).first { compiled.matches(["drawn": .integer($0)] as MetadataValue, in: environment) }
    let number = try #require(drawn)
    #expect(compiled.matches(["drawn": .integer(number)] as MetadataValue, in: environment))
    environment.randomSeed = 8
    #expect(!compiled.matches(["drawn": .integer(number)] as MetadataValue, in: environment))
  }

  @Test("now() needs a moment, and says so")
  func now() throws {
    let compiled = try MetadataPredicate(format: "now(-10) < date").compiled()
    #expect(compiled.isTimeDependent)
    let item: MetadataValue = ["date": .date(MetadataDate(secondsSince2001: 95))]
    #expect(compiled.matches(item, in: PredicateEnvironment(now: MetadataDate(secondsSince2001: 100))))
    #expect(!compiled.matches(item, in: PredicateEnvironment(now: MetadataDate(secondsSince2001: 106))))
    #expect(compiled.diagnosedMatches(item).problems == [.noMoment])
  }

  @Test("P55: a registered function can be called, another one can't")
  func registration() throws {
    var functions = PredicateFunctions()
    try functions.register("double", operandCount: 1...1) { operands in
      guard case .integer(let number) = operands[0] else { return .null }
      return .integer(number * 2)
    }
    try functions.register("distance:to:", operandCount: 2...2) { _ in 5 }
    let predicate = try MetadataPredicate(
      format: "double(a) == 6 AND distance(a, 1) == 5 AND FUNCTION(a, 'double') == 6", functions: functions)
    #expect(try predicate.compiled(functions: functions).matches(["a": 3] as MetadataValue))
    #expect(try MetadataPredicate(format: predicate.formatString, functions: functions) == predicate)
    #expect(try error { () throws(MetadataPredicateError) in _ = try predicate.compiled() }.code == .unknownFunction)
    for format in ["double(1, 2) == 1", "doubles(1) == 1"] {
      let error = try error { () throws(MetadataPredicateError) in
        _ = try MetadataPredicate(format: format, functions: functions)
      }
      #expect(error.code == .unknownFunction)
    }
  }

  @Test(
    "A name that can't be called can't be registered",
    arguments: ["", "two words", "sum", "sum:", "AND", "a:b", "1a", "SELF"])
  func badNames(name: String) throws {
    var functions = PredicateFunctions()
    if name == "a:b" {
      try functions.register(name, operandCount: 0...0) { _ in nil }
      #expect(
        try MetadataPredicate(format: "a:b() == nil", functions: functions).compiled(functions: functions).matches(
          MetadataValue.null))
      return
    }
    let error = try error { () throws(MetadataPredicateError) in
      try functions.register(name, operandCount: 0...0) { _ in nil }
    }
    #expect(error.code == .unknownFunction)
  }
}
