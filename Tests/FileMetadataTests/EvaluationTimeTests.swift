import FileWatching
import Glibc
import MetadataPredicates
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

/// Predicates about the present moment, on clocks that the test sets.
@Suite("Queries about the present moment", .blocking)
struct EvaluationTimeTests {
  private let tree: TemporaryTree
  private let indexed: IndexedTree
  private let port = QueryPort()
  private let wall = Guarded(MetadataDate(secondsSince2001: 0))
  /// When files were written, in seconds since 2001.
  private static let start = 800_000_000.0

  init() throws {
    tree = try TemporaryTree()
    for (name, age) in [("a", 0.0), ("b", 100), ("c", 200)] {
      try tree.write(name)
      let seconds = Self.start + age + MetadataDate.secondsFrom1970To2001
      try HostFileSystem().setModificationTime(
        of: tree.path(name), at: .workingDirectory, to: Int64(seconds) * 1_000_000_000)
    }
    indexed = try IndexedTree(tree)
  }

  private func set(_ seconds: Double) { wall.withLock { $0 = MetadataDate(secondsSince2001: Self.start + seconds) } }

  private func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

  private var now: TableSnapshot { TableSnapshot(indexed.indexer.index.table) }

  private var names: [String] { (port.results ?? .none).map(\.name) }

  private func runner(_ query: String, _ calendar: PredicateCalendar = PredicateCalendar()) throws -> QueryRunner {
    let clock = WallClock(now: { [wall] in wall.withLock { $0 } }, calendar: calendar)
    let plan = try QueryPlan(
      MetadataPredicate(query: query).compiled(), [.init("kMDItemFSName")], .immediate, wallClock: clock)
    return QueryRunner(plan, port, FileTable())
  }

  @Test("R40: each file is looked at again when its time has come, and no other one")
  func moments() throws {
    set(1_000)
    let runner = try runner("kMDItemFSContentChangeDate >= $time.now(-1000)")
    var pacing = EvaluationPacing()
    runner.begin(now, ScopeHealth(), at: time(0))
    #expect(names == ["a", "b", "c"])
    pacing.evaluate([runner], now, ScopeHealth(), at: time(0))
    let first = try #require(pacing.next)
    #expect(first > time(0) && first < time(0.001))
    for (seconds, left) in [(0.5, ["b", "c"]), (60, ["b", "c"]), (99.9, ["b", "c"]), (100.01, ["c"]), (200.01, [])] {
      set(1_000 + seconds)
      pacing.evaluate([runner], now, ScopeHealth(), at: time(seconds))
      #expect(names == left, "after \(seconds) s")
    }
    #expect(runner.nextMoment == nil)
  }

  @Test("R40: it's looked at when the next file's time comes, and every minute whether the clock was set")
  func wakeUps() throws {
    set(970)
    let runner = try runner("kMDItemFSContentChangeDate >= $time.now(-1000)")
    var pacing = EvaluationPacing()
    runner.begin(now, ScopeHealth(), at: time(5))
    pacing.evaluate([runner], now, ScopeHealth(), at: time(5))
    #expect(abs(try #require(pacing.next).nanoseconds - time(35).nanoseconds) < 1_000_000)
    set(1_010)
    pacing.evaluate([runner], now, ScopeHealth(), at: time(45))
    #expect(names == ["b", "c"] && pacing.next == time(105))
    // An hour later, as the clock on the wall has it; and back.
    set(4_600)
    pacing.evaluate([runner], now, ScopeHealth(), at: time(50))
    #expect(names == [])
    set(900)
    pacing.evaluate([runner], now, ScopeHealth(), at: time(51))
    #expect(names == ["a", "b", "c"])
    // Without such queries no evaluation is scheduled.
    pacing.evaluate([], now, ScopeHealth(), at: time(52))
    #expect(pacing.next == nil)
  }

  @Test("R40: a moment that has passed, by a calendar whose clocks go back for days, isn't waited for at once")
  func passedMoment() throws {
    set(1_000)
    let change = MetadataDate(secondsSince2001: Self.start)
    let runner = try runner(
      "kMDItemFSContentChangeDate >= $time.today", PredicateCalendar { $0 < change ? 0 : -3 * 86_400 })
    var pacing = EvaluationPacing()
    runner.begin(now, ScopeHealth(), at: time(0))
    pacing.evaluate([runner], now, ScopeHealth(), at: time(0))
    #expect(try #require(runner.nextMoment).secondsSince2001 <= Self.start + 1_000)
    #expect(pacing.next == time(1))
  }

  @Test("R40: A predicate whose next change can't be foreseen is evaluated every second")
  func unforeseeable() throws {
    set(999.5)
    let runner = try runner("kMDItemFSContentChangeDate >= $time.now(-1000)")
    let format = try MetadataPredicate(format: "TERNARY(kMDItemFSContentChangeDate >= now() - 1000, 1, 2) == 1")
    let plan = try QueryPlan(
      format.compiled(), [.init("kMDItemFSName")], .immediate, wallClock: runner.plan.wallClock)
    let other = QueryRunner(plan, port, FileTable())
    var pacing = EvaluationPacing()
    other.begin(now, ScopeHealth(), at: time(0))
    pacing.evaluate([other], now, ScopeHealth(), at: time(0))
    #expect(names == ["a", "b", "c"] && pacing.next == time(1))
    set(1_000.4)
    pacing.evaluate([other], now, ScopeHealth(), at: time(0.9))
    #expect(names == ["a", "b", "c"] && pacing.next == time(1))
    set(1_000.5)
    pacing.evaluate([other], now, ScopeHealth(), at: time(1))
    #expect(names == ["b", "c"] && pacing.next == time(2))
  }

  @Test("R40: a file that's written anew, removed or looked for by another predicate has another moment")
  func changes() throws {
    set(1_000)
    let runner = try runner("kMDItemFSContentChangeDate >= $time.now(-1050)")
    runner.begin(now, ScopeHealth(), at: time(0))
    #expect(runner.nextMoment.map { Int($0.secondsSince2001 - Self.start) } == 1_050)
    try tree.unlink("a")
    indexed.settle()
    runner.filesChanged(now.table.numbers, now, ScopeHealth(), at: time(0))
    // The number of a file that's gone isn't in the table.
    set(1_051)
    runner.momentPassed(now, ScopeHealth(), at: time(51))
    #expect(names == ["b", "c"] && runner.nextMoment.map { Int($0.secondsSince2001 - Self.start) } == 1_150)
    let later = try QueryPlan(
      MetadataPredicate(query: "kMDItemFSContentChangeDate >= $time.now(-5000)").compiled(), [.init("kMDItemFSName")],
      .immediate, wallClock: runner.plan.wallClock)
    runner.replan(later, now, ScopeHealth(), at: time(51))
    #expect(runner.nextMoment.map { Int($0.secondsSince2001 - Self.start) } == 5_100)
  }

  @Test("S6: days begin at midnight of the time zone that the machine is in")
  func localTime() {
    let moment = MetadataDate(secondsSince1970: 1_720_000_000)
    var local = tm()
    var seconds = time_t(1_720_000_000)
    localtime_r(&seconds, &local)
    #expect(WallClock.host.calendar.secondsFromUTC(moment) == local.tm_gmtoff)
    #expect(LocalTime.secondsAheadOfUTC(at: .infinity) == 0)
  }
}
