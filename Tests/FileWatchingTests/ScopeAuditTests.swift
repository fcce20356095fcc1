import FileWatching
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@Suite("Audits: what is known beside a fresh walk", .blocking, .timeLimit(.minutes(4)))
struct ScopeAuditTests {
  /// Passes a path of the difference, and what differs of it.
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
    // The file is looked at as soon as something is done to it under its own name.
    try tree.write("f", "1")
    #expect(try #require(await watcher.audit()).isClean)
  }

  @Test("Files that the kernel doesn't tell of are missing or surplus; what's in a missing directory isn't listed")
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
    for _ in 0..<15 { #expect(try #require(await watcher.audit()).differences == [], "seed \(seed)") }
    isOver.withLock { $0 = true }
    end.wait()
    let audit = try #require(await watcher.audit())
    #expect(audit.isClean && audit.unsettledCount == 0)
  }

  @Test("A watcher that's stopped isn't audited")
  func stopped() async throws {
    let watcher = try TreeWatcher([try TemporaryTree().root])
    watcher.stop()
    #expect(await watcher.audit() == nil)
  }
}

/// Says that it watches, and tells nothing.
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
