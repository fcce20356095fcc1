import FileCoordinationTesting
import FileWatching
import MetadataPredicates
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

/// The engine and the readers, which act concurrently otherwise, one step at a time.
@Suite("One query of an engine, and its reader", .blocking)
struct QueryRunnerTests {
  private let tree: TemporaryTree
  private let indexed: IndexedTree
  private let port = QueryPort()
  private let runner: QueryRunner
  /// Stands still: every report is caused by an event, unless a test lets time pass.
  private let clock = VirtualClock()

  init() throws {
    tree = try TemporaryTree()
    try tree.write("a")
    indexed = try IndexedTree(tree)
    let plan = try QueryPlan(MetadataPredicate.constant(true).compiled(), [.init("kMDItemFSName")], .immediate)
    runner = QueryRunner(plan, port, FileTable())
  }

  private var now: TableSnapshot { TableSnapshot(indexed.indexer.index.table) }

  /// Brings everything that was done to files to the runner.
  private func distribute() {
    indexed.settle()
    runner.filesChanged(now.table.numbers, now, ScopeHealth(), at: clock.now)
  }

  /// Takes the batch that waits, without a message to the engine.
  private func take(_ reader: Int) throws -> (change: MetadataQueryChange, takenCount: Int) {
    guard case .change(let change, let takenCount) = port.fetch(reader, nil) else {
      throw SystemError(call: "no batch", paths: [], errno: 0)
    }
    return (change, takenCount)
  }

  private func begin() -> Int {
    distribute()
    runner.gatheringFinished(now, ScopeHealth(), at: clock.now)
    let (reader, takenCount) = port.beginReading()
    runner.readerBegan(takenCount, now, ScopeHealth(), at: clock.now)
    return reader
  }

  // engine   put a · · · · · put b (refused) · · flush (not yet) · · taken, put b · · flush (done)
  // reader           take a  · · · · · · · · · · · · · · · · · · ·
  @Test("L16: results aren't said to be current while the engine doesn't know that a reader has taken a batch")
  func takenMeanwhile() throws {
    let reader = begin()
    let taken = try take(reader)
    #expect(taken.change.added.map(\.item.name) == ["a"])
    try tree.write("b")
    distribute()
    #expect(!runner.flush(now, ScopeHealth(), at: clock.now))
    runner.taken(taken.takenCount, now, ScopeHealth(), at: clock.now)
    #expect(runner.flush(now, ScopeHealth(), at: clock.now))
    #expect(port.results?.map(\.name) == ["a", "b"])
    #expect(try take(reader).change.added.map(\.item.name) == ["b"])
  }

  @Test("L16: nothing that was refused because of a reader is left behind when the reader goes")
  func readerGone() throws {
    let reader = begin()
    runner.taken(try take(reader).takenCount, now, ScopeHealth(), at: clock.now)
    let count = try #require(port.cancel(reader))
    try tree.write("b")
    distribute()
    runner.taken(count, now, ScopeHealth(), at: clock.now)
    #expect(runner.flush(now, ScopeHealth(), at: clock.now))
    #expect(port.results?.map(\.name) == ["a", "b"])
  }

  @Test("R3: A batch that was refused because of a pause that the engine didn't know of is reported after it")
  func pausedMeanwhile() throws {
    let reader = begin()
    runner.taken(try take(reader).takenCount, now, ScopeHealth(), at: clock.now)
    port.pause()
    try tree.write("b")
    distribute()
    runner.pause()
    #expect(runner.flush(now, ScopeHealth(), at: clock.now))
    #expect(port.results?.map(\.name) == ["a"])
    _ = port.resume()
    runner.resume(now, ScopeHealth(), at: clock.now)
    #expect(port.results?.map(\.name) == ["a", "b"])
  }

  @Test("A pause that the engine hears of after the end of the first search delays its last batch, and nothing else")
  func pausedFinish() throws {
    distribute()
    let (reader, takenCount) = port.beginReading()
    port.pause()
    runner.readerBegan(takenCount, now, ScopeHealth(), at: clock.now)
    runner.gatheringFinished(now, ScopeHealth(), at: clock.now)
    runner.pause()
    _ = port.resume()
    runner.resume(now, ScopeHealth(), at: clock.now)
    let change = try take(reader).change
    #expect(change.finishesGathering && change.added.map(\.item.name) == ["a"])
  }

  // results  b     c       d
  // time     0     999     1000          1999    2000 ms
  // told                   b c                   d
  @Test("Q18: a batch is told when its first change has waited for as long as it may, and not before")
  func delay() throws {
    let plan = try QueryPlan(
      MetadataPredicate.constant(true).compiled(), [.init("kMDItemFSName")], MetadataBatching(interval: .seconds(1)))
    let runner = QueryRunner(plan, port, FileTable())
    func change(_ name: String) throws {
      try tree.write(name)
      indexed.settle()
      runner.filesChanged(now.table.numbers, now, ScopeHealth(), at: clock.now)
    }
    func letPass(_ duration: Duration) -> Duration? {
      clock.advance(by: duration)
      runner.timePassed(now, ScopeHealth(), at: clock.now)
      return runner.deadline.map { clock.now.duration(to: $0) }
    }
    runner.gatheringFinished(now, ScopeHealth(), at: clock.now)
    let (reader, takenCount) = port.beginReading()
    runner.readerBegan(takenCount, now, ScopeHealth(), at: clock.now)
    runner.taken(try take(reader).takenCount, now, ScopeHealth(), at: clock.now)
    #expect(port.results?.map(\.name) == [])
    try change("b")
    #expect(letPass(.milliseconds(999)) == .milliseconds(1))
    try change("c")
    #expect(port.results?.map(\.name) == [])
    #expect(letPass(.milliseconds(1)) == nil)
    #expect(port.results?.map(\.name) == ["a", "b", "c"])
    runner.taken(try take(reader).takenCount, now, ScopeHealth(), at: clock.now)
    try change("d")
    #expect(letPass(.milliseconds(999)) == .milliseconds(1))
    #expect(port.results?.map(\.name) == ["a", "b", "c"])
    #expect(letPass(.milliseconds(1)) == nil)
    #expect(try take(reader).change.added.map(\.item.name) == ["d"])
  }
}
