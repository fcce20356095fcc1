import FileWatching
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@Suite("Watchers of trees beside programs that change files at random", .blocking, .serialized)
struct ConcurrencyTreeWatcherExplorationTests {
  enum Backend: CaseIterable {
    case kernel
    case lossy
    case polling
  }

  private static let seeds = Budget.seeds(normal: 2, long: 20)

  private static func watcher(_ backend: Backend) throws -> any FileWatcher {
    switch backend {
    case .kernel: return try InotifyWatcher(tellsMounts: true)
    case .polling: return PollingWatcher()
    case .lossy:
      let watcher = ManualFileWatcher(try InotifyWatcher())
      watcher.allowWatches(6)
      return watcher
    }
  }

  @Test(
    "L17: Updates lead from the tree then to the tree now, at any time", arguments: seeds,
    Backend.allCases)
  func catchingUp(seed: UInt64, backend: Backend) async throws {
    let tree = try TemporaryTree()
    var churner = Churner(seed: seed, tree)
    for _ in 0..<30 { churner.step() }
    let tellsExisting = seed % 2 == 0
    let kernel = try Self.watcher(backend)
    let watcher = try TreeWatcher(
      [tree.root], options: ScopeOptions(gatheringDepth: seed % 3 == 0 ? .names : .attributes),
      tellsExisting: tellsExisting, backend: kernel)
    try await watcher.waitUntilCurrent()
    var mirror = TreeMirror(tellsExisting ? [:] : tree.contents)
    for round in 0..<25 {
      mirror.apply(try #require(await watcher.catchUp()))
      let differences = mirror.differences(from: tree.contents, except: churner.obscureInodes)
      #expect(mirror.violations + differences == [], "seed \(seed), round \(round)")
      churner.settle()
      for _ in 0..<(1 + churner.random.below(12)) { churner.step() }
      guard let manual = kernel as? ManualFileWatcher else { continue }
      if churner.random.chance(1, in: 3) { manual.loseEvents() }
      manual.allowWatches(churner.random.below(4))
    }
  }

  /// Only in long runs: the remains of so many files slow ext4 down for seconds.
  @Test(
    "L2: 20,000 files made while nobody reads the kernel's queue are added, and nothing else",
    .enabled(if: Budget.isLong))
  func overflow() async throws {
    let tree = try TemporaryTree()
    let kernel = HeldWatcher(try InotifyWatcher())
    let watcher = try TreeWatcher([tree.root], backend: kernel)
    try await watcher.waitUntilCurrent()
    kernel.hold()
    for number in 0..<20_000 { try tree.write("\(number)", "") }
    kernel.release()
    let changes = try #require(await watcher.catchUp()?.changes)
    #expect(changes.count == 20_000 && changes.allSatisfy { $0.action == .added })
    #expect(watcher.health.overflowCount > 0)
  }

  @Test("The same for who listens while files change", arguments: seeds)
  func listening(seed: UInt64) async throws {
    let tree = try TemporaryTree()
    let churner = Guarded(Churner(seed: seed, tree, makesHardLinks: false))
    let watcher = try TreeWatcher([tree.root])
    try await watcher.waitUntilCurrent()
    let before = tree.contents
    let reader = Task {
      var mirror = TreeMirror(before)
      for await update in watcher.updates {
        #expect(!update.changes.isEmpty)
        mirror.apply(update)
      }
      return mirror
    }
    for _ in 0..<200 { churner.withLock { $0.step() } }
    // The changes that the reader doesn't get before it receives the end.
    let rest = try #require(await watcher.catchUp())
    watcher.stop()
    var mirror = await reader.value
    mirror.apply(rest)
    #expect(mirror.violations + mirror.differences(from: tree.contents, comparesFacts: false) == [], "seed \(seed)")
  }
}
