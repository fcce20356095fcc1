import FileWatching
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@Suite("The index beside programs that change files at random", .blocking)
struct ScopeIndexerExplorationTests {
  private static let seeds = Budget.seeds(normal: 4, long: 60)

  @Test("L17: after every pause the index is what is on the disk, and so is what was told of it", arguments: seeds)
  func agreement(seed: UInt64) throws {
    let tree = try TemporaryTree()
    var churner = Churner(seed: seed, tree)
    for _ in 0..<30 { churner.step() }
    let indexed = try IndexedTree(tree, helperCount: Int(seed % 3), readsFacts: seed % 2 == 0)
    indexed.expectCurrent("seed \(seed), the first search", beside: &churner, touchesLinkedFiles: false)
    for round in 0..<25 {
      for _ in 0..<(1 + churner.random.below(12)) { churner.step() }
      indexed.settle()
      indexed.expectCurrent("seed \(seed), round \(round)", beside: &churner, touchesLinkedFiles: round % 5 == 4)
    }
  }

  @Test("The same with lost events and a limit of watches that comes and goes", arguments: seeds)
  func faults(seed: UInt64) throws {
    let tree = try TemporaryTree()
    let indexed = try IndexedTree(tree, watchCountMax: 3)
    var churner = Churner(seed: seed, tree)
    for round in 0..<25 {
      for _ in 0..<(1 + churner.random.below(12)) { churner.step() }
      if churner.random.chance(1, in: 3) { indexed.watcher.loseEvents() }
      indexed.watcher.allowWatches(churner.random.below(4))
      indexed.settle()
      indexed.indexer.poll()
      indexed.settle()
      indexed.expectCurrent("seed \(seed), round \(round)", beside: &churner, touchesLinkedFiles: round % 5 == 4)
    }
  }

  @Test("The same while files go on changing between any two steps of the indexer", arguments: seeds)
  func concurrency(seed: UInt64) throws {
    let tree = try TemporaryTree()
    let churner = Guarded(Churner(seed: seed, tree))
    let random = Guarded(SplitMix(seed: seed))
    // Now and then a change occurs right before a system call of the indexer.
    let isQuiet = Guarded(false)
    let door = ScriptedFileSystem { _ in
      if !isQuiet.withLock({ $0 }), random.withLock({ $0.chance(1, in: 4) }) { churner.withLock { $0.step() } }
      return .proceed
    }
    for _ in 0..<30 { churner.withLock { $0.step() } }
    let indexed = try IndexedTree(tree, files: door, isSettled: false)
    for round in 0..<6 {
      isQuiet.withLock { $0 = false }
      for _ in 0..<5 {
        indexed.indexer.processEvents()
        indexed.indexer.work(directoryCountMax: 3)
      }
      isQuiet.withLock { $0 = true }
      indexed.settle()
      churner.withLock {
        indexed.expectCurrent("seed \(seed), round \(round)", beside: &$0, touchesLinkedFiles: round % 3 == 2)
      }
    }
  }
}
