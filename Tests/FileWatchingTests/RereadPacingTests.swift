import FileWatching
import SystemInterface
import Testing
import WatchingTestSupport

/// Reading again after events were lost, on a clock of the test's own.
@Suite("Reading everything again, when events are lost again and again")
struct RereadPacingTests {
  private let tree: TemporaryTree
  private let indexed: IndexedTree

  init() throws {
    tree = try TemporaryTree()
    try tree.makeDirectory("d")
    indexed = try IndexedTree(tree)
  }

  private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  private func lose() {
    indexed.watcher.loseEvents()
    indexed.indexer.processEvents()
    #expect(indexed.indexer.isBehind && indexed.indexer.health.isBehind && !indexed.indexer.health.isComplete)
  }

  /// Loses events, and reads for some seconds as soon as that's due.
  ///
  /// - Returns: When that was, and when it was over.
  private func read(
    _ pacing: inout RereadPacing, lostAt lost: Int64, for cost: Int64
  ) -> (began: MonotonicTime, ended: Int64) {
    lose()
    pacing.readAgain(indexed.indexer, isAwaited: false, at: time(lost))
    let due = pacing.next ?? time(lost)
    if pacing.next != nil {
      #expect(indexed.indexer.isBehind)
      pacing.readAgain(indexed.indexer, isAwaited: false, at: MonotonicTime(nanoseconds: due.nanoseconds - 1))
      #expect(pacing.next == due && indexed.indexer.isBehind)
      pacing.readAgain(indexed.indexer, isAwaited: false, at: due)
    }
    #expect(pacing.next == nil && !indexed.indexer.isBehind && indexed.indexer.hasWork)
    indexed.indexer.work()
    let end = due.nanoseconds / 1_000_000_000 + cost
    pacing.readAgain(indexed.indexer, isAwaited: false, at: time(end))
    return (due, end)
  }

  @Test("L2: the first time at once, then after as long as it took, twice as long, and at most twenty times as long")
  func backOff() {
    var pacing = RereadPacing()
    var end: Int64 = 0
    var pauses: [Int64] = []
    for _ in 0..<8 {
      let (began, ended) = read(&pacing, lostAt: end, for: 3)
      pauses.append(began.nanoseconds / 1_000_000_000 - end)
      end = ended
    }
    #expect(pauses == [0, 3, 6, 12, 24, 48, 60, 60])
    // After a time without losses it's as it was at first.
    let (began, ended) = read(&pacing, lostAt: end + 60, for: 3)
    #expect(began == time(end + 60))
    #expect(read(&pacing, lostAt: ended, for: 3).began == time(ended + 3))
  }

  @Test("L2: A caller that waits for the current state doesn't wait for that")
  func awaited() throws {
    var pacing = RereadPacing()
    let (_, end) = read(&pacing, lostAt: 0, for: 100)
    try tree.write("d/f")
    lose()
    pacing.readAgain(indexed.indexer, isAwaited: false, at: time(end))
    #expect(pacing.next == time(end + 100))
    pacing.readAgain(indexed.indexer, isAwaited: true, at: time(end))
    #expect(pacing.next == nil && !indexed.indexer.isBehind)
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test("Events that are lost while everything is read are read for again when that's over")
  func lostWhileReading() {
    var pacing = RereadPacing()
    lose()
    pacing.readAgain(indexed.indexer, isAwaited: false, at: time(0))
    lose()
    pacing.readAgain(indexed.indexer, isAwaited: false, at: time(1))
    #expect(indexed.indexer.isBehind && pacing.next == nil)
    indexed.indexer.work()
    pacing.readAgain(indexed.indexer, isAwaited: false, at: time(2))
    #expect(indexed.indexer.isBehind && pacing.next == time(4))
  }
}
