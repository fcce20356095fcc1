import FileWatching
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@Suite("Audits: the index beside a fresh walk", .blocking, .timeLimit(.minutes(4)))
struct ScopeAuditTests {
  /// The paths of the outdated files, and the aspects in which each differs.
  private static func summary(_ audit: ScopeAudit) -> [SystemPath: Set<ScopeAudit.Aspect>] {
    var summary: [SystemPath: Set<ScopeAudit.Aspect>] = [:]
    for difference in audit.differences {
      if case .outdated(let values) = difference.fault { summary[difference.path] = Set(values.map(\.aspect)) }
    }
    return summary
  }

  @Test("L17: a change through a link outside of the tree, which nobody tells, is found, with the values that differ")
  func changeThroughLink() async throws {
    let tree = try TemporaryTree()
    let outside = tree.base.appending("outside")
    try tree.write("f", "12345")
    try tree.write("g")
    try tree.link(tree.path("f"), to: outside)
    let watcher = try TreeWatcher([tree.root])
    let before = try #require(await watcher.audit())
    #expect(before.isClean && before.fileCount == 3 && before.unsettledCount == 0)
    tree.waitForFileTime()
    try tree.write(outside, "678", adding: true)
    let audit = try #require(await watcher.audit())
    #expect(Self.summary(audit) == [tree.path("f"): [.size, .modificationTime, .changeTime]])
    let values = audit.differences.flatMap { difference -> [ScopeAudit.Difference.Value] in
      if case .outdated(let values) = difference.fault { values } else { [] }
    }
    let size = try #require(values.first { $0.aspect == .size })
    #expect(size.indexed == 5 && size.found == 8)
    #expect(audit.differences[0].description.hasPrefix("outdated \(tree.path("f")): "))
    // The file is checked as soon as it changes under its own name.
    try tree.write("f", "1")
    #expect(try #require(await watcher.audit()).isClean)
  }

  @Test("Files that the kernel doesn't report are missing or surplus; the files in a missing directory aren't listed")
  func untoldFiles() async throws {
    let tree = try TemporaryTree()
    try tree.write("gone")
    try tree.makeDirectory("d")
    try tree.write("d/f")
    let deaf = DeafWatcher()
    let watcher = try TreeWatcher([tree.root], backend: deaf)
    #expect(try #require(await watcher.audit()).isClean)
    try tree.unlink("gone")
    try tree.makeDirectory("new")
    try tree.write("new/f")
    try tree.write("d/f2")
    let audit = try #require(await watcher.audit())
    let faults = audit.differences.filter { $0.path != tree.root && $0.path != tree.path("d") }.map(\.description)
    #expect(faults == ["missing \(tree.path("d/f2"))", "surplus \(tree.path("gone"))", "missing \(tree.path("new"))"])
  }

  @Test("Nothing that changes while an audit goes on is taken for wrong", arguments: 0..<UInt64(3))
  func changesMeanwhile(seed: UInt64) async throws {
    let tree = try TemporaryTree()
    let churner = Guarded(Churner(seed: seed, tree, makesHardLinks: false))
    for _ in 0..<40 { churner.withLock { $0.step() } }
    let watcher = try TreeWatcher([tree.root])
    try await watcher.waitUntilCurrent()
    let isOver = Guarded(false)
    let end = ThreadEvent()
    HostThread.start(name: "churning") {
      while !isOver.withLock({ $0 }) { churner.withLock { $0.step() } }
      end.signal()
    }
    for _ in 0..<15 {
      let differences = try #require(await watcher.audit()).differences
      #expect(differences == [], "seed \(seed): \(differences.map(\.description))")
    }
    isOver.withLock { $0 = true }
    end.wait()
    let audit = try #require(await watcher.audit())
    #expect(audit.isClean && audit.unsettledCount == 0)
  }

  @Test(
    "A change that the file system shows before the kernel tells of it isn't taken for wrong, but one that it doesn't tell is"
  )
  func toldLate() async throws {
    let tree = try TemporaryTree()
    for name in ["f", "gone", "silent"] { try tree.write(name) }
    let outside = tree.base.appending("outside")
    try tree.link(tree.path("silent"), to: outside)
    let late = LateWatcher(try InotifyWatcher(tellsMounts: false))
    let clock = ReleasingClock(late)
    let watcher = try TreeWatcher([tree.root], backend: late, clock: clock)
    #expect(try #require(await watcher.audit()).isClean)
    #expect(clock.pauseCount.withLock { $0 } == 0)
    tree.waitForFileTime()
    late.hold()
    try tree.write(tree.path("f"), "more", adding: true)
    try tree.write("new")
    try tree.unlink("gone")
    try tree.write(outside, "more", adding: true)
    let audit = try #require(await watcher.audit())
    #expect(audit.differences.map(\.path) == [tree.path("silent")])
    #expect(audit.unsettledCount == 0)
    #expect(clock.pauseCount.withLock { $0 } == 1)
  }

  @Test("A watcher that's stopped isn't audited")
  func stopped() async throws {
    let watcher = try TreeWatcher([try TemporaryTree().root])
    watcher.stop()
    #expect(await watcher.audit() == nil)
  }
}

/// Claims to watch, and reports nothing.
private final class DeafWatcher: FileWatcher {
  private let base = ManualFileWatcher(PollingWatcher())
  private let count = Guarded(Int32(0))

  func watch(_ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool) throws(SystemError) -> WatchID {
    WatchID(
      count.withLock { count in
        count += 1
        return count
      })
  }

  func unwatch(_ watch: WatchID) {}
  func takeEvents() -> [WatchEvent] { [] }
  func waitForEvents() throws(SystemError) { try base.waitForEvents() }
  func wake() { base.wake() }
}

/// Reports events as late as the kernel does while calls go on.
private final class LateWatcher: FileWatcher {
  private let base: InotifyWatcher
  private let isHeld = Guarded(false)

  init(_ base: InotifyWatcher) { self.base = base }

  func hold() { isHeld.withLock { $0 = true } }

  func release() {
    isHeld.withLock { $0 = false }
    wake()
  }

  func watch(_ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool) throws(SystemError) -> WatchID {
    try base.watch(path, interest, isDirectory: isDirectory)
  }

  func unwatch(_ watch: WatchID) { base.unwatch(watch) }
  func takeEvents() -> [WatchEvent] { isHeld.withLock { $0 } ? [] : base.takeEvents() }
  func waitForEvents() throws(SystemError) { try base.waitForEvents() }
  func wake() { base.wake() }
}

/// A clock on which the calls that go on have ended when the caller has paused, be it for a moment.
private final class ReleasingClock: CoordinationClock {
  private let watcher: LateWatcher
  let pauseCount = Guarded(0)

  init(_ watcher: LateWatcher) { self.watcher = watcher }

  var now: MonotonicTime { HostClock.shared.now }

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    pauseCount.withLock { $0 += 1 }
    watcher.release()
    return HostClock.shared.schedule(at: now, action)
  }
}
