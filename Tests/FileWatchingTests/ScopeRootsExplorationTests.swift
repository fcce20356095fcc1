import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileWatching

@Suite("Places that come and go with the directories around them, at random", .blocking)
struct ScopeRootsExplorationTests {
  private static let seeds = Budget.seeds(normal: 6, long: 200)
  private static let names = ["a", "b", "c"]

  /// Does one thing to some path of at most three of the names, unless it can't be done.
  private static func step(_ random: inout SplitMix, _ tree: TemporaryTree) {
    func path() -> SystemPath {
      var path = tree.root
      for _ in 0...random.below(3) { path = path.appending(random.pick(names)) }
      return path
    }
    let target = path()
    do {
      switch random.below(9) {
      case 0..<3: try tree.makeDirectory(target)
      case 3, 4: try tree.write(target, String(repeating: "x", count: random.below(9)))
      case 5: try tree.rename(path(), to: target)
      case 6: try tree.rename(path(), to: target, .exchange)
      case 7: try tree.unlink(target)
      default: try tree.removeTree(target)
      }
    } catch {
      // Nothing there, or something else than a directory.
    }
  }

  @Test("After every pause, what the kernel has told is enough to know what is in each place", arguments: seeds)
  func agreement(seed: UInt64) throws {
    let tree = try TemporaryTree()
    var random = SplitMix(seed: seed)
    let watcher = ManualFileWatcher(try InotifyWatcher())
    let indexer = ScopeIndexer(HostFileSystem(), watcher: watcher)
    let searched = ["a/b/c", "b"].map { tree.path($0) }
    let items = ["a/b", "c/a/b", "c"].map { tree.path($0) }
    for path in searched { indexer.addRoot(path) }
    for path in items { indexer.addRoot(path, reach: .item) }
    for round in 0..<40 {
      for _ in 0...random.below(6) { Self.step(&random, tree) }
      if random.chance(1, in: 8) { watcher.loseEvents() }
      repeat {
        indexer.processEvents()
        if indexer.isBehind { indexer.readAgain() }
        indexer.work()
      } while indexer.hasWork
      let table = indexer.index.table
      var found: [[SystemPath]: FileFacts] = [:]
      for root in table.roots {
        table.forEach(in: root) { found[[table.path(of: root), table.path(of: $0)]] = table.facts(of: $0) }
      }
      var expected: [[SystemPath]: FileFacts] = [:]
      let everything = tree.contents
      for (path, facts) in everything {
        for root in searched where path == root || path.isInside(root) { expected[[root, path]] = facts }
        for item in items where path == item { expected[[item, path]] = facts }
      }
      #expect(found == expected, "seed \(seed), round \(round)")
      #expect(indexer.index.violations == [], "seed \(seed), round \(round)")
      #expect(!indexer.needsPolling)
    }
  }
}
