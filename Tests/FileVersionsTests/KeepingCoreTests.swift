import SystemInterface
import Testing

@testable import FileVersions

@Suite("Decisions of the keeping of a directory")
struct KeepingCoreTests {
  private typealias Order = KeepingCore.Order

  private let full = KeepingCore.Outcome.failed(KeepingCore.Reason(code: 2, errno: 28))
  private let denied = KeepingCore.Outcome.failed(KeepingCore.Reason(code: 2, errno: 13))

  private func path(_ number: Int) -> SystemPath { SystemPath("/d/\(number)") }

  /// A core whose files have changed and were tried for the first time, at no time.
  private func core(_ outcomes: [KeepingCore.Outcome]) -> KeepingCore {
    var core = KeepingCore(firstInterval: .seconds(1))
    core.filesChanged(outcomes.indices.reversed().map(path), KeepingCore.Health())
    var left = outcomes[...]
    while case .keep(let batch) = core.next(at: .zero) {
      _ = core.attempted(Array(zip(batch, left.prefix(batch.count))), at: .zero)
      left = left.dropFirst(batch.count)
    }
    return core
  }

  /// Passes the outcome of the files that the core wants to be kept.
  private func attempt(
    _ core: inout KeepingCore, at seconds: Int, _ outcome: (SystemPath) -> KeepingCore.Outcome
  ) -> (paths: [SystemPath], isNews: [Bool])? {
    guard case .keep(let batch) = core.next(at: .seconds(seconds)) else { return nil }
    return (batch, core.attempted(batch.map { ($0, outcome($0)) }, at: .seconds(seconds)))
  }

  @Test("Files are kept in the order of their changes, sixteen at once, and 'ready' comes after the last")
  func order() {
    var core = KeepingCore(firstInterval: .seconds(1))
    core.filesChanged((0..<20).reversed().map(path), KeepingCore.Health())
    var kept: [SystemPath] = []
    while let (paths, _) = attempt(&core, at: 0, { _ in .kept }) {
      #expect(paths.count <= 16)
      kept += paths
    }
    // The order that ended the loop was the report.
    #expect(kept == (0..<20).map(path))
    #expect(core.next(at: .zero) == .wait(until: nil))
  }

  @Test("A failed file is tried again after one second, two, four, up to 64, and reported once for each reason")
  func backoff() {
    var core = core([full])
    #expect(core.next(at: .zero) == .wait(until: .seconds(1)))
    var now = 0
    for interval in [1, 2, 4, 8, 16, 32, 64, 64, 64] {
      #expect(core.next(at: .seconds(now + interval) - .nanoseconds(1)) == .wait(until: .seconds(now + interval)))
      now += interval
      #expect(attempt(&core, at: now) { _ in full }?.isNews == [false])
    }
    now += 64
    #expect(attempt(&core, at: now) { _ in denied }?.isNews == [true])
    now += 64
    #expect(attempt(&core, at: now) { _ in .kept }?.paths == [path(0)])
    #expect(core.next(at: .seconds(now)) == .wait(until: nil))
  }

  @Test("When one of many can be kept again, all others follow at once")
  func recovery() {
    var core = core([KeepingCore.Outcome](repeating: full, count: 40))
    // A batch that fails stands for the others.
    #expect(attempt(&core, at: 1) { _ in full }?.paths.count == 16)
    #expect(core.next(at: .seconds(1)) == .wait(until: .seconds(3)))
    var kept: [SystemPath] = []
    while let (paths, _) = attempt(&core, at: 3, { _ in .kept }) { kept += paths }
    #expect(Set(kept) == Set((0..<40).map(path)) && kept.count == 40)
    #expect(core.next(at: .seconds(3)) == .wait(until: nil))
  }

  @Test("Files that can never be kept don't stand in the way of others")
  func rotation() {
    var core = core([KeepingCore.Outcome](repeating: denied, count: 16) + [full])
    var now = 0
    for _ in 0..<2 {
      guard case .wait(let time?) = core.next(at: .seconds(now)) else {
        Issue.record("nothing is waited for")
        return
      }
      now = Int(time.components.seconds)
      let paths = attempt(&core, at: now) { $0 == path(16) ? .kept : denied }?.paths
      if paths?.contains(path(16)) == true { return }
    }
    Issue.record("the seventeenth file wasn't tried again")
  }

  @Test("A change of a file that failed is tried at once; a success brings the next attempt of others forward")
  func forward() {
    var core = core([full, full])
    for now in [1, 3, 7] { _ = attempt(&core, at: now) { _ in full } }
    #expect(core.next(at: .seconds(7)) == .wait(until: .seconds(15)))
    core.filesChanged([path(0)], KeepingCore.Health())
    #expect(attempt(&core, at: 8) { _ in .kept }?.paths == [path(0)])
    #expect(core.next(at: .seconds(8)) == .wait(until: .seconds(9)))
    #expect(attempt(&core, at: 9) { _ in .unneeded }?.paths == [path(1)])
    #expect(core.next(at: .seconds(9)) == .wait(until: nil))
  }

  @Test("A file that was kept because it changed isn't tried again with the others")
  func overtaken() {
    var core = core([KeepingCore.Outcome](repeating: full, count: 17))
    #expect(attempt(&core, at: 1) { _ in .kept }?.paths.count == 16)
    core.filesChanged([path(16)], KeepingCore.Health())
    #expect(attempt(&core, at: 1) { _ in .kept }?.paths == [path(16)])
    #expect(core.next(at: .seconds(1)) == .wait(until: nil))
  }

  @Test("A directory that's gone is reported once, and 'ready' again when one is there and its files were tried")
  func gone() {
    var core = core([.kept])
    #expect(core.next(at: .zero) == .wait(until: nil))
    core.filesChanged([path(0)], KeepingCore.Health(isRootMissing: true))
    #expect(attempt(&core, at: 0) { _ in .unneeded }?.paths == [path(0)])
    #expect(core.next(at: .zero) == .report(.gone))
    #expect(core.next(at: .zero) == .wait(until: nil))
    core.filesChanged([path(1)], KeepingCore.Health())
    #expect(attempt(&core, at: 0) { _ in .kept }?.paths == [path(1)])
    #expect(core.next(at: .zero) == .report(.ready))
    #expect(core.next(at: .zero) == .wait(until: nil))
  }

  @Test("More directories that can't be read are reported, and once that some aren't watched")
  func health() {
    var core = core([])
    core.filesChanged(
      [], KeepingCore.Health(unreadableCount: 2, unreadableReason: "EMFILE", unwatchedCount: 1, unwatchedReason: "why"))
    #expect(core.next(at: .zero) == .report(.unreadable(2, because: "EMFILE")))
    #expect(core.next(at: .zero) == .report(.unwatched(1, because: "why")))
    core.filesChanged([], KeepingCore.Health(unreadableCount: 1, unwatchedCount: 5))
    #expect(core.next(at: .zero) == .wait(until: nil))
    core.filesChanged([], KeepingCore.Health(unreadableCount: 2))
    #expect(core.next(at: .zero) == .report(.unreadable(2, because: nil)))
  }
}
