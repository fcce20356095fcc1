import Foundation
import MetadataPredicates
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("Attributes that programs provide", .serialized, .timeLimit(.minutes(4)))
struct AttributeProviderTests {
  /// Says how many words a text has, and counts how often it was asked.
  private final class WordCounter: Sendable {
    let paths = Guarded<[String]>([])
    let fails = Guarded(false)

    func provider(for types: [String] = ["public.plain-text"], rememberedCountMax: Int = 1000) -> AttributeProvider {
      AttributeProvider(["words", "first"], for: types, rememberedCountMax: rememberedCountMax) { [self] url in
        paths.withLock { $0.append(url.lastPathComponent) }
        if fails.withLock({ $0 }) { throw CocoaError(.fileReadCorruptFile) }
        let words = try String(contentsOf: url, encoding: .utf8).split(separator: " ")
        return ["words": .integer(Int64(words.count)), "first": words.first.map { .string(String($0)) } ?? .null]
      }
    }

    var count: Int { paths.withLock { $0.count } }
  }

  private static func query(
    _ tree: TemporaryTree, _ format: String, sortedBy order: [MetadataSortDescriptor] = [],
    _ providers: [AttributeProvider]
  ) throws -> MetadataQuery {
    let query = try MetadataQuery(
      try MetadataPredicate(format: format), scopes: [.directory(URL(filePath: tree.root.description))],
      sortedBy: order + [MetadataSortDescriptor("kMDItemPath")], batching: .immediate, providers: providers)
    try query.start()
    return query
  }

  @Test("They're in predicates, sort descriptors, values and value lists, and the first search waits for them")
  func uses() async throws {
    let tree = try TemporaryTree()
    for (name, text) in [("a.txt", "one two three"), ("b.txt", "z"), ("c.txt", "x y"), ("d.png", "1 2 3 4")] {
      try tree.write(name, text)
    }
    let counter = WordCounter()
    let query = try Self.query(
      tree, "words >= 2", sortedBy: [MetadataSortDescriptor("first", .descending)], [counter.provider()])
    var live = LiveQuery(query)
    try await live.gather()
    #expect(live.names == ["c.txt", "a.txt"])
    #expect(live.items.map { $0.value(forAttribute: "words") } == [2, 3])
    #expect(live.items[0].attributeNames.contains("first"))
    #expect(query.results.valueList(of: "words").map(\.value) == [2, 3])
    // Pictures aren't its business, and each text was read once.
    #expect(counter.paths.withLock { $0.sorted() } == ["a.txt", "b.txt", "c.txt"])
    #expect(try await query.waitUntilCurrent().count == 2)
  }

  @Test("A file that's written is looked into again, stays what it was meanwhile, and moves when its value does")
  func changes() async throws {
    let tree = try TemporaryTree()
    try tree.write("a.txt", "m n")
    try tree.write("b.txt", "p q r")
    let counter = WordCounter()
    let query = try Self.query(tree, "words >= 2", sortedBy: [MetadataSortDescriptor("words")], [counter.provider()])
    var live = LiveQuery(query)
    try await live.gather()
    #expect(live.names == ["a.txt", "b.txt"])
    try tree.write(tree.path("a.txt"), " o o o", adding: true)
    while live.names != ["b.txt", "a.txt"] {
      let change = try await live.next()
      #expect(change.removed.isEmpty && change.added.isEmpty)
    }
    #expect(live.items[1].value(forAttribute: "words") == 5)
    // As editors save.
    try tree.write(".save", "alone")
    try tree.rename(".save", to: "b.txt")
    #expect(try await query.waitUntilCurrent().map(\.name) == ["a.txt"])
    try tree.write(".save", "c d e")
    try tree.rename(".save", to: "b.txt")
    #expect(try await query.waitUntilCurrent().map(\.name) == ["b.txt", "a.txt"])
  }

  @Test("Tests that decide without them call no provider; one that fails gives no value, and isn't called again")
  func laziness() async throws {
    let tree = try TemporaryTree()
    for name in ["a.txt", "b.txt"] { try tree.write(name, "x y") }
    let counter = WordCounter()
    let provider = counter.provider()
    let query = try Self.query(tree, "words == 2 AND kMDItemFSName == 'a.txt'", [provider])
    #expect(try await query.waitUntilCurrent().map(\.name) == ["a.txt"])
    #expect(counter.paths.withLock { $0 } == ["a.txt"])
    // An index of the same providers is shared, and their values are remembered.
    let second = try Self.query(tree, "words == 2", [provider])
    #expect(try await second.waitUntilCurrent().map(\.name) == ["a.txt", "b.txt"])
    #expect(second.current?.engine.index === query.current?.engine.index)
    #expect(counter.paths.withLock { $0.sorted() } == ["a.txt", "b.txt"])

    let failing = WordCounter()
    failing.fails.withLock { $0 = true }
    let third = try Self.query(tree, "words == nil", [failing.provider()])
    #expect(try await third.waitUntilCurrent().count == 2)
    try tree.write("c.png", "no plain text")
    #expect(try await third.waitUntilCurrent().count == 3)
    #expect(failing.count == 2)
  }

  @Test("An item that's asked looks into the file at most once, and not if that's another one by now")
  func items() async throws {
    let tree = try TemporaryTree()
    for name in ["a.txt", "b.txt"] { try tree.write(name, "x y") }
    let counter = WordCounter()
    let query = try Self.query(tree, "TRUEPREDICATE", [counter.provider()])
    let results = try await query.waitUntilCurrent()
    #expect(counter.count == 0)
    for _ in 0..<2 { #expect(results[0].value(forAttribute: "words") == 2) }
    #expect(results[0].value(forAttribute: "first") == "x" && counter.count == 1)
    try tree.write("b.txt", "other words now")
    #expect(results[1].value(forAttribute: "words") == .null)
    #expect(try await query.waitUntilCurrent()[1].value(forAttribute: "words") == 3)
  }

  @Test("A caller that waits for values when the query ends is cancelled, and no provider is asked afterwards")
  func cancellation() async throws {
    let tree = try TemporaryTree()
    for number in 0..<40 { try tree.write("\(number).txt", "x") }
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    let (ended, end) = AsyncStream.makeStream(of: Bool.self)
    let count = Guarded(0)
    let provider = AttributeProvider(["words"]) { _ in
      count.withLock { $0 += 1 }
      beginning.yield()
      // As long computations do.
      while !Task.isCancelled { HostThread.yield() }
      end.yield(true)
      return [:]
    }
    let query = try Self.query(tree, "words == nil", [provider])
    for await _ in begun { break }
    #expect(query.isGathering && query.results.isEmpty)
    query.stop()
    for await isCancelled in ended {
      #expect(isCancelled)
      break
    }
    #expect(count.withLock { $0 } <= AttributeExtraction.taskCountMax)
  }

  @Test("Results can't be sorted by an attribute that isn't known beforehand, unless a provider gives it")
  func errors() throws {
    let tree = try TemporaryTree()
    let place = [URL(filePath: tree.root.description)]
    let order = [MetadataSortDescriptor("words")]
    #expect(throws: MetadataQueryError.self) { try MetadataQuery(.constant(true), in: place, sortedBy: order) }
    let provider = WordCounter().provider()
    _ = try MetadataQuery(.constant(true), in: place, sortedBy: order, providers: [provider])
  }

  private static let seeds = Budget.seeds(normal: 4, long: 40)

  @Test("Beside programs that change files at random, results are those of a fresh search", arguments: seeds)
  func exploration(seed: UInt64) async throws {
    let tree = try TemporaryTree()
    var churner = Churner(seed: seed, tree, makesHardLinks: false)
    // With room for few, values are forgotten all the time.
    let provider = AttributeProvider(["length"], rememberedCountMax: seed % 2 == 0 ? 1000 : 3) { url in
      ["length": .integer(Int64(try Data(contentsOf: url).count))]
    }
    let query = try Self.query(tree, "length > 10", sortedBy: [MetadataSortDescriptor("length")], [provider])
    var live = LiveQuery(query)
    for round in 0..<15 {
      for _ in 0...churner.random.below(10) { churner.step() }
      try await query.waitUntilCurrent()
      let expected = tree.contents.filter { $0.value.kind == .regular && $0.value.size > 10 }
      let results = query.results
      #expect(results.map(\.path).sorted() == expected.map(\.key.description).sorted(), "seed \(seed), round \(round)")
      #expect(results.map(\.size) == results.map(\.size).sorted(), "seed \(seed), round \(round)")
    }
    try tree.write("last", "the very last file of all")
    while !live.names.contains("last") { _ = try await live.next() }
  }
}
