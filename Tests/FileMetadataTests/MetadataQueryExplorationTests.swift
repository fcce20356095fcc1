import FileWatching
import Foundation
import MetadataPredicates
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

/// Queries beside programs that change files: also run under the thread sanitizer.
@Suite("Live queries beside programs that change files at random", .blocking, .serialized)
struct ConcurrencyMetadataQueryExplorationTests {
  private static let memberCount = MetadataAttribute<Int>("kMDItemFSNodeCount")
  /// The searches and orders to choose from; the path decides in the end, so that the order doesn't depend on the past.
  private static let predicates: [MetadataPredicate] = [
    .constant(true), .fileName.hasSuffix("1"), .fileSize > .bytes(20),
    !(.fileName.hasPrefix("n")) || .fileSize > .bytes(4), .path.contains("n3"),
    .contentTypeTree.contains("public.directory"),
    memberCount == 0, memberCount > 1,
  ]
  private static let orders: [[MetadataSortDescriptor]] = [
    [], [.init("kMDItemFSName")], [.init("kMDItemFSSize", .descending), .init("kMDItemFSName")],
    [.init("kMDItemContentType"), .init("kMDItemFSContentChangeDate", .descending)],
    [.init("kMDItemFSNodeCount", .descending)],
  ]

  private static func order(_ random: inout SplitMix) -> [MetadataSortDescriptor] {
    random.pick(orders) + [.init("kMDItemPath", random.chance(1, in: 3) ? .descending : .ascending)]
  }

  private static func query(
    _ tree: TemporaryTree, _ depth: ScopeOptions.GatheringDepth, _ random: inout SplitMix
  ) throws -> MetadataQuery {
    let batchings = [
      MetadataBatching.immediate, MetadataBatching(interval: .milliseconds(3)),
      MetadataBatching(live: .init(countMax: 7, delayMax: .milliseconds(20))),
    ]
    return try MetadataQuery(
      random.pick(predicates), in: [URL(filePath: tree.root.description)],
      sortedBy: order(&random), batching: random.pick(batchings),
      options: ScopeOptions(gatheringDepth: depth))
  }

  /// The visible part of a result.
  private struct Row: Hashable, CustomStringConvertible {
    let path: [UInt8]
    let size: Int64
    let modified: Date

    /// Reads sizes and dates only if all items have them.
    init(_ item: MetadataItem, isWhole: Bool = true) {
      path = item.pathBytes
      size = isWhole ? item.size : 0
      modified = isWhole ? item.contentChangeDate : .distantPast
    }

    var description: String {
      "\(String(decoding: path, as: UTF8.self)): \(size) bytes, \(modified.timeIntervalSince1970)"
    }
  }

  /// Reads everything, and checks that batches lead from nothing to the results.
  private static func read(_ query: MetadataQuery, _ seed: UInt64? = nil) -> Task<[Row], Never> {
    let isWhole = query.key.options.gatheringDepth == .attributes
    let changes = query.changes.makeAsyncIterator()
    return Task {
      var changes = changes
      var items: [MetadataItem] = []
      var finishCount = 0
      while let change = await changes.next() {
        items = change.applied(to: items)
        #expect(
          items.map { Row($0, isWhole: isWhole) } == change.results.map { Row($0, isWhole: isWhole) },
          "seed \(seed ?? 0)")
        if change.finishesGathering { finishCount += 1 }
        #expect(!change.isEmpty || change.finishesGathering)
      }
      #expect(finishCount == 1)
      return items.map { Row($0) }
    }
  }

  /// A long run goes on until its time is up.
  private static let seeds = Budget.seeds(normal: Budget.churnDuration == nil ? 3 : 1_000_000, long: 1_000_000)
  private static let duration = Budget.churnDuration.map { $0 / 2 } ?? .seconds(Budget.isComplete ? 30 : 10)

  @Test(
    "L17: results are those of a fresh search after every pause, and batches lead to them", arguments: [false, true])
  func agreement(withFaults: Bool) async throws {
    let end = ContinuousClock.now + Self.duration
    for seed in Self.seeds {
      try await explore(seed, withFaults: withFaults)
      if ContinuousClock.now > end { return }
    }
  }

  @Test(
    "L17: the first results of an order are those of a fresh search, and batches lead to them", arguments: 0..<UInt64(3)
  )
  func limit(seed: UInt64) async throws {
    let tree = try TemporaryTree()
    var churner = Churner(seed: seed, tree, makesHardLinks: false)
    for _ in 0..<30 { churner.step() }
    let directory = URL(filePath: tree.root.description)
    let query = try MetadataQuery(
      .constant(true), in: [directory], sortedBy: Self.order(&churner.random), batching: .immediate, resultCountMax: 7)
    try query.start()
    let reader = Self.read(query)
    for round in 0..<20 {
      for _ in 0..<(1 + churner.random.below(15)) { churner.step() }
      if churner.random.chance(1, in: 3) { try query.replaceOrder(by: Self.order(&churner.random)) }
      let results = try await query.waitUntilCurrent().map { Row($0) }
      let whole = try MetadataQuery(.constant(true), in: [directory], sortedBy: query.sortDescriptors)
      try whole.start()
      #expect(try await whole.waitUntilCurrent().prefix(7).map { Row($0) } == results, "seed \(seed), round \(round)")
    }
    query.stop()
    #expect(await reader.value == query.results.map { Row($0) })
  }

  private static let scopeSeeds = Budget.seeds(normal: 3, long: 100)

  @Test("L17: the same if somebody searches elsewhere from time to time", arguments: scopeSeeds)
  func scopes(seed: UInt64) async throws {
    // Both trees are real directories: a scope that's a link is where that has led when the query was made, and a fresh one elsewhere.
    let (tree, otherTree) = (try TemporaryTree(), try TemporaryTree())
    var churner = Churner(seed: seed, tree, makesHardLinks: false)
    var otherChurner = Churner(seed: seed + 1, otherTree, makesHardLinks: false)
    for _ in 0..<40 {
      churner.step()
      otherChurner.step()
    }
    let places = [tree.root, otherTree.root, tree.path("none"), otherTree.path("none")].map {
      MetadataScope.directory(URL(filePath: $0.description))
    }
    func scopes() -> [MetadataScope] { (0...churner.random.below(2)).map { _ in churner.random.pick(places) } }
    let query = try MetadataQuery(
      churner.random.pick(Self.predicates), scopes: scopes(), sortedBy: Self.order(&churner.random),
      batching: .immediate, resultCountMax: churner.random.chance(1, in: 3) ? 5 : nil)
    try query.start()
    let reader = Self.read(query)
    var cursor = query.cursor
    for round in 0..<20 {
      let isPaused = churner.random.chance(1, in: 3)
      if isPaused { query.pause() }
      for _ in 0...churner.random.below(10) {
        churner.step()
        otherChurner.step()
        if churner.random.chance(1, in: 6) { try query.replaceScopes(by: scopes()) }
        if churner.random.chance(1, in: 12) { try Self.replan(query, &churner.random) }
      }
      if isPaused { query.resume() }
      let results = try await query.waitUntilCurrent().map { Row($0) }
      let fresh = try MetadataQuery(
        query.predicate, scopes: query.scopes, sortedBy: query.sortDescriptors,
        resultCountMax: query.plan.resultCountMax)
      try fresh.start()
      #expect(try await fresh.waitUntilCurrent().map { Row($0) } == results, "seed \(seed), round \(round)")
      if let place = cursor, case .changes(let change, let next)? = query.changes(since: place) {
        #expect(change.results.map { Row($0) } == results)
        if churner.random.chance(1, in: 3) { cursor = next }
      }
    }
    query.stop()
    #expect(await reader.value == query.results.map { Row($0) })
  }

  private func explore(_ seed: UInt64, withFaults: Bool) async throws {
    let tree = try TemporaryTree()
    var churner = Churner(seed: seed, tree)
    for _ in 0..<30 { churner.step() }
    let watcher = ManualFileWatcher(try InotifyWatcher())
    if withFaults { watcher.allowWatches(5) }
    let depth: ScopeOptions.GatheringDepth = churner.random.chance(1, in: 2) ? .names : .attributes
    let queries = try (0..<3).map { _ in try Self.query(tree, depth, &churner.random) }
    let engine = try ScopeEngine(queries[0].key, files: HostFileSystem(), watcher: watcher, clock: HostClock.shared)
    for query in queries {
      _ = try query.start { _, plan, port throws(SystemError) in
        guard let number = engine.attach(plan, port) else { preconditionFailure("the engine has ended") }
        return (engine, number)
      }
    }
    let readers = queries.map { Self.read($0, seed) }
    for _ in 0..<6 {
      let paused = churner.random.chance(1, in: 3) ? churner.random.pick(queries) : nil
      paused?.pause()
      for _ in 0..<(1 + churner.random.below(15)) {
        churner.step()
        if churner.random.chance(1, in: 10) { try Self.replan(churner.random.pick(queries), &churner.random) }
      }
      if withFaults, churner.random.chance(1, in: 3) { watcher.loseEvents() }
      if withFaults { watcher.allowWatches(churner.random.below(4)) }
      paused?.resume()
      // A change through a name that nobody has seen is found when the file is checked for another reason, and not
      // before.
      let obscure = tree.contents.filter { churner.obscureInodes.contains($0.value.identity.inode) }
      let obscurePaths = Set(obscure.keys.map { Array($0.description.utf8) })
      for query in queries { try await compare(query, ignoring: obscurePaths, seed) }
      churner.settle()
    }
    for query in queries { query.stop() }
    for (query, reader) in zip(queries, readers) { #expect(await reader.value == query.results.map { Row($0) }) }
  }

  /// Gives a query another predicate, or another order.
  private static func replan(_ query: MetadataQuery, _ random: inout SplitMix) throws {
    if random.chance(1, in: 2) {
      try query.replaceOrder(by: order(&random))
    } else {
      try query.replacePredicate(by: random.pick(predicates))
    }
  }

  private func compare(_ query: MetadataQuery, ignoring obscurePaths: Set<[UInt8]>, _ seed: UInt64) async throws {
    func rows(_ query: MetadataQuery) async throws -> [Row] {
      try await query.waitUntilCurrent().map { Row($0) }.filter { !obscurePaths.contains($0.path) }
    }
    let results = try await rows(query)
    let fresh = try query.copy()
    try fresh.start()
    let expected = try await rows(fresh)
    let wrong = Set(results).subtracting(expected).map { "\($0) is wrong" }
    let missing = Set(expected).subtracting(results).map { "\($0) is missing" }
    #expect(wrong + missing == [], "seed \(seed), \(query.health)")
    #expect(results == expected || wrong + missing != [], "seed \(seed), the order")
  }
}
