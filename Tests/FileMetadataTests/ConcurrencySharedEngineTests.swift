import FileWatching
import Foundation
import MetadataPredicates
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("One index for queries and watchers of the same trees", .blocking, .timeLimit(.minutes(4)))
struct ConcurrencySharedEngineTests {
  @Test("A watcher and a query of the same directory share an engine; either goes on when the other ends")
  func sharing() async throws {
    let tree = try TemporaryTree()
    try tree.write("a")
    let watcher = try TreeWatcher([tree.root])
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)], batching: .immediate)
    try query.start()
    let engine = try #require(watcher.engine)
    #expect(query.current?.engine.index === engine)
    #expect(try await query.waitUntilCurrent().map(\.name) == ["a"])
    #expect(try #require(await watcher.catchUp()).changes.isEmpty)
    let other = try TreeWatcher([tree.root], options: ScopeOptions(watchCountMax: 1_000_000))
    #expect(other.engine !== engine)

    watcher.stop()
    #expect(await watcher.catchUp() == nil && watcher.engine == nil)
    try tree.write("b")
    #expect(try await query.waitUntilCurrent().map(\.name).sorted() == ["a", "b"])

    let late = try TreeWatcher([tree.root], tellsExisting: true)
    #expect(late.engine === engine)
    query.stop()
    try tree.write("c")
    let update = try #require(await late.catchUp())
    #expect(update.changes.map(\.action) == [.added, .added, .added, .added])
    #expect(update.changes.map(\.path) == [tree.root] + ["a", "b", "c"].map { tree.path($0) })
  }

  @Test("The end of a watcher ends those who wait for it, also if others follow the same trees")
  func endWhileWaiting() async throws {
    let tree = try TemporaryTree()
    let watcher = try TreeWatcher([tree.root])
    let other = try TreeWatcher([tree.root])
    #expect(watcher.engine === other.engine)
    try await watcher.waitUntilCurrent()
    let reader = Task {
      var count = 0
      for await _ in watcher.updates { count += 1 }
      return count
    }
    watcher.stop()
    #expect(await reader.value == 0)
    try await watcher.waitUntilCurrent()
    try tree.write("a")
    #expect(try #require(await other.catchUp()).changes.map(\.path) == [tree.path("a")])
  }

  @Test("A slow reader misses nothing, however many files come and go; the other readers go on")
  func slowReaders() async throws {
    let tree = try TemporaryTree()
    for number in 0..<10 { try tree.write("\(number)", "") }
    let early = try TreeWatcher([tree.root])
    try await early.waitUntilCurrent()
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)], batching: .immediate)
    try query.start()
    // Receives no further change.
    let paused = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)], batching: .immediate)
    try paused.start()
    #expect(try await paused.waitUntilCurrent().count == 10)
    paused.pause()
    var late: TreeWatcher?
    for round in 0..<4 {
      let names = (0..<1_500).map { "\(round) \($0)" }
      for name in names { try tree.write(name, "") }
      #expect(try await query.waitUntilCurrent().count == 1_510 - round)
      if round == 1 {
        late = try TreeWatcher([tree.root])
        try await late?.waitUntilCurrent()
      }
      for name in names { try tree.unlink(name) }
      #expect(try await query.waitUntilCurrent().count == 10 - round)
      try tree.unlink("\(round)")
    }
    // Files that came and went occupy no memory that's kept: 6,000 files, of which no table holds more than 1,510.
    let engine = try #require(query.current?.engine.index)
    #expect(try #require(await engine.currentTable()).capacity < 5_500)
    try tree.write("new")
    let expected = [tree.path("new")] + (0..<4).map { tree.path("\($0)") }
    #expect(Set(try #require(await early.catchUp()).changes.map(\.path)) == Set(expected))
    let changes = try #require(await late?.catchUp()).changes
    #expect(changes.count { $0.action == .removed } == 1_500 + 3 && changes.count { $0.action == .added } == 1)
    #expect(try await query.waitUntilCurrent().count == 7)
    #expect(paused.results.count == 10)
    paused.resume()
    #expect(try await paused.waitUntilCurrent().map(\.path).sorted() == query.results.map(\.path).sorted())
  }

  /// A watcher, and the result of its reports so far.
  private struct Reader {
    let watcher: TreeWatcher
    var mirror: TreeMirror

    mutating func catchUp(_ tree: TemporaryTree, except obscure: Set<UInt64>) async throws -> [String] {
      mirror.apply(try #require(await watcher.catchUp()))
      return (mirror.violations + mirror.differences(from: tree.contents, except: obscure)).map { "\($0)" }
    }
  }

  @Test(
    "L17: watchers and queries come and go over one index, and each is told what leads to what there is",
    arguments: Budget.seeds(normal: 2, long: 100))
  func comingAndGoingExploration(seed: UInt64) async throws {
    let tree = try TemporaryTree()
    var churner = Churner(seed: seed, tree, makesHardLinks: false)
    for _ in 0..<30 { churner.step() }
    let options = ScopeOptions(gatheringDepth: seed % 2 == 0 ? .names : .attributes)
    // Stays, so that there's one engine all the time.
    let query = try MetadataQuery(
      .constant(true), in: [URL(filePath: tree.root.description)], batching: .immediate, options: options)
    try query.start()
    let engine = query.current?.engine.index
    var readers: [Reader] = []
    for round in 0..<40 {
      for _ in 0...churner.random.below(8) { churner.step() }
      switch churner.random.below(5) {
      case 0 where readers.count < 4:
        let tellsExisting = churner.random.chance(1, in: 2)
        let watcher = try TreeWatcher([tree.root], options: options, tellsExisting: tellsExisting)
        #expect(watcher.engine === engine)
        if churner.random.chance(1, in: 2) { try await watcher.waitUntilCurrent() }
        let mirror = TreeMirror(tellsExisting ? [:] : tree.contents)
        if !tellsExisting { try await watcher.waitUntilCurrent() }
        readers.append(Reader(watcher: watcher, mirror: mirror))
      case 1 where !readers.isEmpty:
        readers.remove(at: churner.random.below(readers.count)).watcher.stop()
      case 2 where !readers.isEmpty:
        let place = churner.random.below(readers.count)
        #expect(
          try await readers[place].catchUp(tree, except: churner.obscureInodes) == [], "seed \(seed), round \(round)")
      case 3:
        let names = try await query.waitUntilCurrent().map { SystemPath(bytes: $0.pathBytes) }
        #expect(Set(names) == Set(tree.contents.keys).subtracting([tree.root]), "seed \(seed), round \(round)")
      default: break
      }
    }
    for place in readers.indices {
      #expect(try await readers[place].catchUp(tree, except: churner.obscureInodes) == [], "seed \(seed), at the end")
    }
  }
}
