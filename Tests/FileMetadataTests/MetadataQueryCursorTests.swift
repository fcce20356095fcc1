import Foundation
import MetadataPredicates
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("Changes since a place in the history", .serialized, .timeLimit(.minutes(4)))
struct MetadataQueryCursorTests {
  private static func changes(_ query: MetadataQuery, _ cursor: MetadataQueryCursor) throws -> MetadataQueryChange {
    guard case .changes(let change, let now)? = query.changes(since: cursor) else {
      Issue.record("too old")
      throw CancellationError()
    }
    #expect(now == query.cursor)
    return change
  }

  @Test("Everything is told that happened, in one difference, and nothing twice")
  func difference() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b", "c"] { try tree.write(name) }
    let live = try await LiveQuery(tree)
    let query = live.query
    try await query.waitUntilCurrent()
    let cursor = try #require(query.cursor)
    #expect(try Self.changes(query, cursor).isEmpty)
    let old = Array(query.results)
    try tree.unlink("a")
    try tree.write("d")
    try await query.waitUntilCurrent()
    try tree.rename("b", to: "e")
    try tree.write("short-lived")
    try await query.waitUntilCurrent()
    try tree.unlink("short-lived")
    try tree.write("c", "longer")
    try await query.waitUntilCurrent()
    let change = try Self.changes(query, cursor)
    #expect(change.removed.map(\.item.name) == ["a"] && change.added.map(\.item.name) == ["d"])
    #expect(change.changed.map(\.new.name) == ["c", "e"] && change.changed.map(\.old.name) == ["c", "b"])
    #expect(change.applied(to: old).map(\.name) == ["c", "d", "e"])
    #expect(try Self.changes(query, try #require(query.cursor)).isEmpty)
    // Asked again, it says the same.
    #expect(try Self.changes(query, cursor).added.map(\.item.name) == ["d"])
  }

  @Test("A program catches up by results and cursor alone, whether the place was remembered or not")
  func commonProperties() async throws {
    let tree = try TemporaryTree()
    try tree.write("a")
    let query = try await LiveQuery(tree).query
    try await query.waitUntilCurrent()
    let cursor = try #require(query.cursor)
    try tree.write("b")
    try await query.waitUntilCurrent()
    let remembered = try #require(query.changes(since: cursor))
    guard case .changes = remembered else {
      Issue.record("the place isn't remembered")
      return
    }
    query.stop()
    try query.start()
    try await query.waitUntilCurrent()
    let forgotten = try #require(query.changes(since: cursor))
    guard case .tooOld = forgotten else {
      Issue.record("the place of another run is remembered")
      return
    }
    for catchUp in [remembered, forgotten] { #expect(catchUp.results.map(\.name) == ["a", "b"]) }
    #expect(remembered.cursor != forgotten.cursor && forgotten.cursor == query.cursor)
    // Each goes on from there.
    #expect(try Self.changes(query, forgotten.cursor).isEmpty)
  }

  @Test("R16: made anew in several batches is changed; another file with the number of one that's gone isn't the same")
  func numbersUsedAgain() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b"] { try tree.write(name) }
    let live = try await LiveQuery(tree)
    let query = live.query
    let old = try await Array(query.waitUntilCurrent())
    let cursor = try #require(query.cursor)
    for name in ["a", "b"] {
      try tree.unlink(name)
      try await query.waitUntilCurrent()
    }
    for name in ["b", "x", "y"] {
      try tree.write(name, "new")
      try await query.waitUntilCurrent()
    }
    let change = try Self.changes(query, cursor)
    #expect(change.changed.map(\.new.name) == ["b"] && change.removed.map(\.item.name) == ["a"])
    #expect(change.added.map(\.item.name) == ["x", "y"])
    #expect(change.applied(to: old) == Array(query.results))
  }

  @Test("A place that's forgotten, or is of another run, is too old, and answered by everything")
  func tooOld() async throws {
    let tree = try TemporaryTree()
    let live = try await LiveQuery(tree)
    let query = live.query
    #expect(try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)]).cursor == nil)
    let first = try #require(query.cursor)
    var second: MetadataQueryCursor?
    for number in 0..<MetadataQueryCursor.rememberedCountMax {
      try tree.write("\(number)")
      try await query.waitUntilCurrent()
      let cursor = try #require(query.cursor)
      if number == 0 { second = cursor }
      // Asking twice at one place takes no more room.
      #expect(query.cursor == cursor)
    }
    guard case .tooOld(let results, let cursor)? = query.changes(since: first) else {
      Issue.record("not too old")
      return
    }
    #expect(results.count == MetadataQueryCursor.rememberedCountMax && cursor == query.cursor)
    #expect(try Self.changes(query, try #require(second)).added.count == MetadataQueryCursor.rememberedCountMax - 1)
    query.stop()
    #expect(try Self.changes(query, cursor).isEmpty)
    try query.start()
    try await query.waitUntilCurrent()
    guard case .tooOld? = query.changes(since: cursor) else {
      Issue.record("not too old")
      return
    }
  }

  @Test("Files of which only names were known haven't altered when more is known of them")
  func namesFirst() async throws {
    let tree = try TemporaryTree()
    for number in 0..<20 { try tree.write("\(number).txt", "one two") }
    // A file that was changed in the moment in which its name is read counts as changed.
    tree.waitForFileTime()
    let provider = AttributeProvider(["bytes"]) { url in ["bytes": .integer(Int64(try Data(contentsOf: url).count))] }
    let query = try MetadataQuery(
      .fileName.hasSuffix(".txt"), in: [URL(filePath: tree.root.description)], batching: .immediate,
      options: ScopeOptions(gatheringDepth: .names), providers: [provider])
    try query.start()
    let results = try await query.waitUntilCurrent()
    let cursor = try #require(query.cursor)
    // A value is right however few attributes the index has.
    #expect(results[0].value(forAttribute: "bytes") == 7)
    try tree.write("5.txt", "more than before")
    // Another query needs all attributes of files; the first query receives them then.
    let sizes = try MetadataQuery(
      .fileSize > .bytes(0), in: [URL(filePath: tree.root.description)], options: ScopeOptions(gatheringDepth: .names),
      providers: [provider])
    try sizes.start()
    #expect(try await sizes.waitUntilCurrent().count == 20)
    try await query.waitUntilCurrent()
    let change = try Self.changes(query, cursor)
    #expect(change.changed.map(\.new.name) == ["5.txt"] && change.added.isEmpty && change.removed.isEmpty)
    try query.replacePredicate(by: try MetadataPredicate(format: "bytes > 7"))
    #expect(try await query.waitUntilCurrent().map(\.name) == ["5.txt"])
    #expect(sizes.current?.engine.index === query.current?.engine.index)
  }

  @Test("Nothing is compared but what has been told, unless that's nearly everything, or somebody has begun to read")
  func proportion() async throws {
    let tree = try TemporaryTree()
    for number in 0..<2_000 { try tree.write("\(number)", "") }
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)], batching: .immediate)
    try query.start()
    try await query.waitUntilCurrent()
    let port = try #require(query.current?.port)
    let place = try #require(query.cursor)
    func toldCount() -> Int? { port.mark(since: place).told.map { $0.reduce(0) { $0 + $1.count } } }
    #expect(toldCount() == 0)
    for name in ["x", "y"] {
      try tree.write(name)
      try await query.waitUntilCurrent()
    }
    let count = try #require(toldCount())
    #expect(try count >= 2 && count < 10 && Self.changes(query, place).added.count == 2)
    for number in 0..<1_300 { try tree.unlink("\(number)") }
    try await query.waitUntilCurrent()
    #expect(try toldCount() == nil && Self.changes(query, place).removed.count == 1_300)
    let later = try #require(query.cursor)
    var other = query.changes.makeAsyncIterator()
    #expect(await other.next()?.added.count == 702)
    #expect(try port.mark(since: later).told == nil && Self.changes(query, later).isEmpty)
  }

  private static let seeds = Budget.seeds(normal: 3, long: 60)

  @Test("The difference leads from the results then to those now, whatever happens", arguments: seeds)
  func exploration(seed: UInt64) async throws {
    let tree = try TemporaryTree()
    var churner = Churner(seed: seed, tree)
    let query = try MetadataQuery(
      try MetadataPredicate(format: "kMDItemFSSize < 40"), in: [URL(filePath: tree.root.description)],
      sortedBy: churner.random.chance(1, in: 2) ? [MetadataSortDescriptor("kMDItemFSSize")] : [],
      batching: .immediate)
    try query.start()
    // A reader that takes a batch now and then, so that others are replaced and taken back.
    var reader = churner.random.chance(2, in: 3) ? query.changes.makeAsyncIterator() : nil
    var places: [(cursor: MetadataQueryCursor, items: [MetadataItem])] = []
    for round in 0..<30 {
      for _ in 0...churner.random.below(8) { churner.step() }
      try await query.waitUntilCurrent()
      if reader != nil, query.current?.port.hasBatch == true, churner.random.chance(1, in: 3) {
        _ = await reader?.next()
      }
      query.pause()
      for place in places {
        let change = try Self.changes(query, place.cursor)
        #expect(change.applied(to: place.items) == Array(query.results), "seed \(seed), round \(round)")
        let mark = try #require(query.current?.port.mark(since: place.cursor))
        let whole = MetadataQueryChange(
          from: try #require(mark.old), to: mark.results, isGathering: false, finishesGathering: false,
          health: mark.health)
        #expect(Set(change.updates) == Set(whole.updates), "seed \(seed), round \(round)")
      }
      if round % 3 == 0 { places.append((try #require(query.cursor), Array(query.results))) }
      query.resume()
    }
  }
}

@Suite("Closures instead of sequences", .serialized, .timeLimit(.minutes(4)))
struct MetadataQueryObservationTests {
  @Test("Q20, Q21: each batch is handed to a closure with its query, where the closure wants it")
  func observing() async throws {
    let tree = try TemporaryTree()
    try tree.write("a")
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)], batching: .immediate)
    try query.start()
    let (names, continuation) = AsyncStream.makeStream(of: [String].self)
    let observation = query.observe { @MainActor sender, change in
      MainActor.assertIsolated()
      #expect(sender === query)
      continuation.yield(change.added.map(\.item.name))
    }
    var iterator = names.makeAsyncIterator()
    #expect(await iterator.next() == ["a"])
    try tree.makeDirectory("b")
    while let names = await iterator.next() {
      if names == ["b"] { break }
      #expect(names.isEmpty)
    }
    // A new reader ends it.
    var other = query.changes.makeAsyncIterator()
    await observation.waitUntilEnd()
    #expect(await other.next()?.added.count == 2)
  }

  /// It has to outlive the tasks that prefer it.
  private static let pool = ElasticThreadPool(threadCountMax: 1)

  @Test("Q21: closures run on the executor that's named")
  func executor() async throws {
    let tree = try TemporaryTree()
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)])
    try query.start()
    let pool = Self.pool
    let (ends, continuation) = AsyncStream.makeStream(of: Bool.self)
    let observation = query.observe(on: pool) { _, change in
      let isThere = withUnsafeCurrentTask { task in
        unsafe task?.unownedTaskExecutor == pool.asUnownedTaskExecutor()
      }
      continuation.yield(isThere && change.finishesGathering)
    }
    defer { observation.cancel() }
    var iterator = ends.makeAsyncIterator()
    #expect(await iterator.next() == true)
  }

  @Test("A closure keeps no query alive, and isn't called after it was called off")
  func ending() async throws {
    let tree = try TemporaryTree()
    weak var gone: MetadataQuery?
    let observation: MetadataQueryObservation
    do {
      let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)], batching: .immediate)
      try query.start()
      let (told, continuation) = AsyncStream.makeStream(of: Void.self)
      observation = query.observe { _, _ in continuation.yield() }
      for await _ in told { break }
      gone = query
    }
    await observation.waitUntilEnd()
    #expect(gone == nil)

    let live = try await LiveQuery(tree)
    let count = Guarded(0)
    do {
      let other = live.query.observe { _, _ in count.withLock { $0 += 1 } }
      other.cancel()
      await other.waitUntilEnd()
    }
    let before = count.withLock { $0 }
    try tree.write("a")
    try await live.query.waitUntilCurrent()
    #expect(count.withLock { $0 } == before && before <= 1)
  }

  @Test("R24: objects are made once for each result, follow its order, and are handed out in changes")
  func objects() async throws {
    final class Row {
      var name: String
      init(_ name: String) { self.name = name }
    }
    let tree = try TemporaryTree()
    for name in ["a", "b"] { try tree.write(name) }
    var live = try await LiveQuery(tree)
    var rows = MetadataResultObjects {
      Row($0.name)
    } updating: {
      $0.name = $1.name
    }
    #expect(rows.isEmpty)
    var isOver = false
    while !isOver {
      let change = try await live.next()
      isOver = change.finishesGathering
      _ = rows.apply(change)
    }
    let first = rows[0]
    #expect(rows.map(\.name) == ["a", "b"])
    try tree.rename("a", to: "c")
    let lists = rows.apply(try await live.next())
    #expect(lists.changed.count == 1 && lists.changed[0] === first && rows[1] === first && first.name == "c")
    try tree.unlink("c")
    #expect(rows.apply(try await live.next()).removed.first === first)
    try tree.makeDirectory("d")
    #expect(rows.apply(try await live.next()).added.first?.name == "d")
    #expect(rows.map(\.name) == ["b", "d"])
  }

  @Test("Progress counts directories and files, and is whole when the search is over, and not before")
  func progress() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "a/b", "c"] { try tree.makeDirectory(name) }
    try tree.write("a/f")
    let indexed = try IndexedTree(tree, isSettled: false)
    let start = MetadataQueryProgress(indexed.indexer)
    #expect(start.knownDirectoryCount == 1 && start.fraction == 0)
    indexed.indexer.processEvents()
    indexed.indexer.work(directoryCountMax: 1)
    var expected = MetadataQueryProgress()
    (expected.readDirectoryCount, expected.knownDirectoryCount, expected.fileCount) = (1, 3, 3)
    #expect(MetadataQueryProgress(indexed.indexer) == expected && expected.fraction < 0.5)

    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)])
    #expect(query.progress == MetadataQueryProgress())
    try query.start()
    try await query.waitUntilCurrent()
    (expected.readDirectoryCount, expected.knownDirectoryCount, expected.fileCount) = (4, 4, 5)
    expected.isFinished = true
    #expect(query.progress == expected && query.progress.fraction == 1)
  }

  @Test("L12: health is told when it changes, and no more when the query has ended")
  func healthUpdates() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    let query = try MetadataQuery(
      .constant(true), in: [URL(filePath: tree.root.description)], options: ScopeOptions(watchCountMax: 1))
    #expect(await query.healthUpdates.first { _ in true } == nil)
    try query.start()
    var updates = query.healthUpdates.makeAsyncIterator()
    var health = await updates.next()
    while health?.polledDirectoryCount == 0 { health = await updates.next() }
    #expect(health?.watchedDirectoryCount == 1 && health == query.health)
    query.stop()
    while health != nil { health = await updates.next() }
  }
}
