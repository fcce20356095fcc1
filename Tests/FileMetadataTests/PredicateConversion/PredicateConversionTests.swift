import FileMetadata
import FoundationEssentials
import MetadataPredicates
import Testing

/// A predicate that can be converted, and its text where that's worth a check.
struct ConversionSample: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let predicate: Predicate<Photo>
  let text: String?

  init(_ title: String, _ text: String? = nil, _ predicate: Predicate<Photo>) {
    testDescription = title
    self.predicate = predicate
    self.text = text
  }
}

// Values that the predicates below capture.
private let limit = 5
private let nothing: String? = nil
private let date = Date(timeIntervalSinceReferenceDate: 10)
private let letters = Set(["b", "a"])
private let entries = ["iso": 100]
private let closed = 1...6
private let halfOpen = 1..<12
private let from = 6...
private let upTo = ..<6
private let through = ...5
private let endless = Double.infinity
private let unknown = Unknown.one
private enum Unknown: Hashable, Codable, Sendable { case one }

@Suite("Conversion from #Predicate")
struct PredicateConversionTests {
  /// Compares the results of the original for the samples with those of the converted one.
  private func check(_ sample: ConversionSample) throws {
    let converted = try MetadataPredicate(sample.predicate, attributes: Photo.attributes)
    // It's a tree like any other: it can be printed, and read again.
    #expect(try MetadataPredicate(format: converted.formatString) == converted)
    if let text = sample.text { #expect(converted.formatString == text) }
    let compiled = try converted.compiled()
    let results = Photo.samples.map { compiled.matches($0.attributes) }
    #expect(try results == Photo.samples.map(sample.predicate.evaluate), "\(converted.formatString)")
    #expect(Set(results).count == 2, "\(converted.formatString) says the same about all")
  }

  @Test(
    "Comparisons, and what joins them",
    arguments: [
      ConversionSample("Equal", "size == 12", #Predicate { $0.size == 12 }),
      ConversionSample("NotEqual", "title != \"family\"", #Predicate { $0.title != "family" }),
      ConversionSample("Comparison: less", "size < 5", #Predicate { $0.size < limit }),
      ConversionSample("Comparison: at most", "rating <= 0.5", #Predicate { $0.rating <= 0.5 }),
      ConversionSample("Comparison: greater", nil, #Predicate { $0.name > "a" }),
      ConversionSample("Comparison: at least", nil, #Predicate { $0.size >= $0.dimensions.width }),
      ConversionSample("Conjunction", "size > 0 AND rating > 0.6", #Predicate { $0.size > 0 && $0.rating > 0.6 }),
      ConversionSample("Disjunction", "size < 0 OR hidden == 1", #Predicate { $0.size < 0 || $0.isHidden }),
      ConversionSample("Negation", "NOT size == 12", #Predicate { !($0.size == 12) }),
      ConversionSample("Variable and KeyPath as a condition", "hidden == 1", #Predicate { $0.isHidden }),
      ConversionSample("Value: a constant condition", nil, #Predicate { $0.isHidden && true }),
      ConversionSample("Equal: two conditions", nil, #Predicate { ($0.size > 0) == $0.isHidden }),
      ConversionSample("Equal: canonical equivalence", nil, #Predicate { $0.name == "\u{C9}tude" }),
    ])
  func comparisons(sample: ConversionSample) throws { try check(sample) }

  @Test(
    "Constants of every kind",
    arguments: [
      ConversionSample("Date", nil, #Predicate { $0.date > date }),
      ConversionSample("NilLiteral", "title == nil", #Predicate { $0.title == nil }),
      ConversionSample("Value: nothing", "title == nil", #Predicate { $0.title == nothing }),
      ConversionSample("Value: an array", nil, #Predicate { $0.tags == ["sea"] }),
      ConversionSample("Value: a set", nil, #Predicate { $0.keywords == letters }),
      ConversionSample("Value: a dictionary", nil, #Predicate { $0.exposure == entries }),
    ])
  func constants(sample: ConversionSample) throws { try check(sample) }

  @Test(
    "Arithmetic",
    arguments: [
      ConversionSample("Arithmetic: add", "size + 1 == 13", #Predicate { $0.size + 1 == 13 }),
      ConversionSample("Arithmetic: subtract", nil, #Predicate { $0.size - $0.dimensions.width < 0 }),
      ConversionSample("Arithmetic: multiply", nil, #Predicate { $0.rating * 2 == 10 }),
      ConversionSample("IntDivision", "size / 2 == -3", #Predicate { $0.size / 2 == -3 }),
      ConversionSample("FloatDivision", nil, #Predicate { $0.rating / 2 == 2.5 }),
      ConversionSample("IntRemainder", nil, #Predicate { $0.size % 4 == -3 }),
      ConversionSample("UnaryMinus", "-size == 7", #Predicate { -$0.size == 7 }),
    ])
  func arithmetic(sample: ConversionSample) throws { try check(sample) }

  @Test(
    "Choices and optional values",
    arguments: [
      ConversionSample("Conditional: values", nil, #Predicate { ($0.isHidden ? $0.size : 5) == 12 }),
      ConversionSample("Conditional: conditions", nil, #Predicate { $0.isHidden ? $0.size > 20 : $0.rating > 0.1 }),
      ConversionSample("NilCoalesce", nil, #Predicate { ($0.title ?? "x") == "x" }),
      ConversionSample(
        "OptionalFlatMap with false", "title != nil AND title CONTAINS \"a\"",
        #Predicate { $0.title?.contains("a") ?? false }),
      ConversionSample(
        "OptionalFlatMap with true", "title == nil OR title CONTAINS \"a\"",
        #Predicate { $0.title?.contains("a") ?? true }),
      ConversionSample("OptionalFlatMap compared", nil, #Predicate { $0.title?.contains("x") == false }),
      ConversionSample(
        "OptionalFlatMap of a property", "camera.model == \"Leica\"", #Predicate { $0.camera?.name == "Leica" }),
      ConversionSample("OptionalFlatMap of nothing", nil, #Predicate { $0.camera?.name != "" }),
      ConversionSample("OptionalFlatMap of a condition", nil, #Predicate { $0.camera?.isDigital == true }),
      ConversionSample(
        "OptionalFlatMap of a computation", nil, #Predicate { ($0.scores.first.flatMap { $0 * 2 } ?? 1) == 2 }),
      ConversionSample("ForcedUnwrap", nil, #Predicate { $0.title != nil && $0.title! == "family" }),
    ])
  func choices(sample: ConversionSample) throws { try check(sample) }

  @Test(
    "Ranges",
    arguments: [
      ConversionSample("ClosedRange", "size >= 5 AND size <= 12", #Predicate { (5...12).contains($0.size) }),
      ConversionSample("Range", "size >= 5 AND size < 12", #Predicate { (5..<12).contains($0.size) }),
      ConversionSample("Range with computed bounds", nil, #Predicate { (0..<$0.dimensions.width).contains($0.size) }),
      ConversionSample(
        "ClosedRange with computed bounds", nil, #Predicate { (-10...$0.dimensions.width).contains($0.size) }),
      ConversionSample("Value: a range", nil, #Predicate { closed.contains($0.size) }),
      ConversionSample("Value: a half-open range", nil, #Predicate { halfOpen.contains($0.size) }),
      ConversionSample("Value: from", nil, #Predicate { from.contains($0.size) }),
      ConversionSample("Value: up to", nil, #Predicate { upTo.contains($0.size) }),
      ConversionSample("Value: through", nil, #Predicate { through.contains($0.size) }),
    ])
  func ranges(sample: ConversionSample) throws { try check(sample) }

  @Test(
    "Texts",
    arguments: [
      ConversionSample("CollectionContainsCollection", "name CONTAINS \"me\"", #Predicate { $0.name.contains("me") }),
      ConversionSample(
        "CollectionContainsCollection: a letter and its mark", nil,
        #Predicate { $0.name.contains("E") || $0.name.contains("r") }),
      ConversionSample("CollectionContainsCollection: computed", nil, #Predicate { $0.name.contains($0.title ?? "-") }),
      ConversionSample(
        "CollectionContainsCollection: nothing", nil, #Predicate { $0.name.contains("") && $0.size > 0 }),
      ConversionSample("SequenceStartsWith", "name BEGINSWITH \"re\"", #Predicate { $0.name.starts(with: "re") }),
      ConversionSample("SequenceStartsWith: nothing", nil, #Predicate { $0.name.starts(with: "") && $0.isHidden }),
      ConversionSample("KeyPath: isEmpty", "name == \"\"", #Predicate { $0.name.isEmpty }),
    ])
  func texts(sample: ConversionSample) throws { try check(sample) }

  @Test(
    "Collections and their members",
    arguments: [
      ConversionSample("SequenceContains", "tags CONTAINS \"family\"", #Predicate { $0.tags.contains("family") }),
      ConversionSample("SequenceContains: a set", nil, #Predicate { $0.keywords.contains("b") }),
      ConversionSample(
        "SequenceContains: constants", "name IN {\"readme\", \"x\"}", #Predicate { ["readme", "x"].contains($0.name) }),
      ConversionSample("SequenceContainsWhere", nil, #Predicate { $0.people.contains { $0.age > 30 && $0.age < 50 } }),
      ConversionSample(
        "SequenceContainsWhere: the item inside", nil,
        #Predicate { photo in photo.people.contains { $0.age == photo.size } }),
      ConversionSample(
        "SequenceContainsWhere: inside another one", nil,
        #Predicate { $0.people.contains { person in person.nicknames.contains { $0 == person.name || $0 == "y" } } }),
      ConversionSample("SequenceAllSatisfy", nil, #Predicate { $0.scores.allSatisfy { $0 > 1 } }),
      ConversionSample("Filter", nil, #Predicate { $0.scores.filter { $0 > 1 }.count == 2 }),
      ConversionSample("Filter: isEmpty", nil, #Predicate { $0.people.filter { $0.name.isEmpty }.isEmpty }),
      ConversionSample("KeyPath: count", "tags.@count == 2", #Predicate { $0.tags.count == 2 }),
      ConversionSample("KeyPath: isEmpty of a collection", "tags.@count == 0", #Predicate { $0.tags.isEmpty }),
      ConversionSample("KeyPath: first", "scores[FIRST] == 3", #Predicate { $0.scores.first == 3 }),
      ConversionSample("KeyPath: last", "scores[LAST] == nil", #Predicate { $0.scores.last == nil }),
      ConversionSample("SequenceMinimum", nil, #Predicate { $0.scores.min() == 1 }),
      ConversionSample("SequenceMaximum", nil, #Predicate { $0.scores.max() == nil }),
      ConversionSample("CollectionIndexSubscript", nil, #Predicate { $0.scores.count > 1 && $0.scores[1] == 1 }),
      ConversionSample("DictionaryKeySubscript", nil, #Predicate { $0.exposure["iso"] == 400 }),
      ConversionSample("DictionaryKeyDefaultValueSubscript", nil, #Predicate { $0.exposure["f", default: 2] == 2 }),
    ])
  func collections(sample: ConversionSample) throws { try check(sample) }

  @Test("The item itself")
  func wholeItem() throws {
    let predicate = try MetadataPredicate(#Predicate<String> { $0.contains("a") }, attributes: [:])
    #expect(predicate.formatString == "SELF CONTAINS \"a\"")
    #expect(try predicate.compiled().matches(MetadataValue.string("bar")))
    #expect(try !predicate.compiled().matches(MetadataValue.string("foo")))
  }

  @Test("A longer key path counts before a shorter one, and dots divide steps")
  func longKeyPaths() throws {
    let predicate = #Predicate<Photo> { $0.dimensions.width > 3 }
    let both = try MetadataPredicate(
      predicate, attributes: [\Photo.dimensions: "a", \Photo.Size.width: "b", \Photo.dimensions.width: "c.d"])
    #expect(both.formatString == "c.d > 3")
    let parts = try MetadataPredicate(predicate, attributes: [\Photo.dimensions: "a", \Photo.Size.width: "b"])
    #expect(parts.formatString == "a.b > 3")
  }
}

@Suite("Predicates that can't be converted")
struct RefusedConversionTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: PredicateConversionError.Code
    let predicate: Predicate<Photo>

    init(_ title: String, _ code: PredicateConversionError.Code, _ predicate: Predicate<Photo>) {
      testDescription = title
      self.code = code
      self.predicate = predicate
    }
  }

  @Test(
    "An expression without a counterpart is named",
    arguments: [
      Sample("StringContainsRegex", .expression, #Predicate { $0.name.contains(#/a+/#) }),
      Sample("TypeCheck", .expression, #Predicate { $0.payload is String }),
      Sample("ConditionalCast", .expression, #Predicate { ($0.payload as? String) == "a" }),
      Sample("ForceCast", .expression, #Predicate { ($0.payload as! Int) == 1 }),
      Sample("CollectionRangeSubscript", .expression, #Predicate { $0.scores[0..<1].isEmpty }),
      Sample("Range as a value", .expression, #Predicate { (0..<$0.size) == (1..<3) }),
      Sample("ClosedRange as a value", .expression, #Predicate { (0...$0.size) == (1...3) }),
      Sample("SequenceStartsWith: numbers", .expression, #Predicate { $0.scores.starts(with: [1]) }),
      Sample("CollectionContainsCollection: numbers", .expression, #Predicate { $0.scores.contains([1]) }),
      Sample("KeyPath: the length of a text", .expression, #Predicate { $0.name.count > 3 }),
      Sample("KeyPath: the first letter", .expression, #Predicate { $0.name.first == nil }),
      Sample("KeyPath: the first of a set", .expression, #Predicate { $0.keywords.first == "a" }),
      Sample("DictionaryKeySubscript: numbers", .expression, #Predicate { $0.pages[1] == "a" }),
      Sample("KeyPath without an attribute", .property, #Predicate { $0.secret == 1 }),
      Sample("KeyPath without an attribute inside another", .property, #Predicate { $0.dimensions.height == 1 }),
      Sample("Value: a number that isn't finite", .constant, #Predicate { $0.rating < endless }),
      Sample("Value: a type that attributes don't have", .constant, #Predicate { unknown == unknown && $0.isHidden }),
    ])
  func refusals(sample: Sample) throws {
    let error = try #require(throws: PredicateConversionError.self) {
      try MetadataPredicate(sample.predicate, attributes: Photo.attributes)
    }
    #expect(error.code == sample.code)
    #expect(error.description.hasPrefix("\(sample.code): \(error.message)"))
    if let suggestion = error.suggestion { #expect(error.description.hasSuffix(suggestion)) }
  }

  @Test("A node that Foundation doesn't know either is named")
  func foreignNodes() throws {
    struct Foreign: StandardPredicateExpression, Codable {
      func evaluate(_ bindings: PredicateBindings) throws -> Bool { true }
    }
    let predicate = Predicate<Photo> { _ in Foreign() }
    let error = try #require(throws: PredicateConversionError.self) {
      try MetadataPredicate(predicate, attributes: [:])
    }
    #expect(error.message == "'Foreign' can't be converted")
  }

  @Test("The property without an attribute is named")
  func unnamedProperty() throws {
    let error = try #require(throws: PredicateConversionError.self) {
      try MetadataPredicate(#Predicate<Photo> { $0.secret == 1 }, attributes: Photo.attributes)
    }
    #expect(error.description.contains("Photo.secret"))
  }
}
