import FileCoordination
import Foundation
import Synchronization

extension Suite {
  static let claimsPresenters = Suite(
    name: "claims/presenters", summary: "reads that ask presenters first, beside hops between queues (T-7)"
  ) { laboratory, report in
    let domain = CoordinationDomain()
    let counts = [1, 2, 4, 8, 16]
    var cells = [hopCell()]
    var audiences: [Audience] = []
    for count in counts {
      let audience = try Audience(count, laboratory.tree.paths[count % TemporaryTree.itemCount], domain) {
        QueueExecutor()
      }
      audiences.append(audience)
      if count > 1 { cells.append(fanOutCell(count)) }
      cells.append(
        try readCell(
          "\(count)", "read, \(count) presenter\(count == 1 ? "" : "s")", audience, domain,
          floor: count == 1 ? "hop" : "fan-out-\(count)"))
    }
    let own = try Audience(1, laboratory.tree.paths[15], domain) { nil }
    audiences.append(own)
    cells.append(
      try readCell("1-own-threads", "read, 1 presenter on threads of the library", own, domain, floor: "hop"))
    report.results += try laboratory.measure(cells)
    for audience in audiences { try audience.checkThatAllWereAsked() }
    report.targets += targets(report, counts)
    for audience in audiences { audience.leave() }
  }

  private static let group = "reads that ask presenters to relinquish and save, and give back"

  private static func hopCell() -> Cell {
    let hop = QueueHop()
    return Cell(
      id: "claims/presenters/hop", subject: "hop to an OperationQueue and back", group: group, unit: "ns",
      isOurs: false
    ) { laboratory in try timedAlone(laboratory) { hop.roundTrip() } }
  }

  private static func fanOutCell(_ count: Int) -> Cell {
    let queues = QueueFanOut(count)
    return Cell(
      id: "claims/presenters/fan-out-\(count)",
      subject: "hop to \(count) OperationQueues at once, and back from the last", group: group, unit: "ns",
      isOurs: false
    ) { laboratory in try timedAlone(laboratory) { queues.roundTrip() } }
  }

  private static func readCell(
    _ id: String, _ subject: String, _ audience: Audience, _ domain: CoordinationDomain, floor: String
  ) throws -> Cell {
    Cell(
      id: "claims/presenters/\(id)", subject: subject, group: group, unit: "ns", isOurs: true,
      floor: "claims/presenters/\(floor)"
    ) { laboratory in
      let worker = try HandleWorker(audience.path, domain)
      return try timedAlone(laboratory) {
        try worker.read {}
        audience.noteRead()
      }
    }
  }

  private static func targets(_ report: Report, _ counts: [Int]) -> [TargetLine] {
    let hop = report.median("claims/presenters/hop")
    let one = report.median("claims/presenters/1")
    let hops = hop.flatMap { hop in one.map { $0 / hop } }
    let alone = TargetLine(
      "T-7 1 presenter", "read with relinquish, save and reacquire, in queue hops", ratio: hops, target: 2.5,
      higherIsBetter: false)
    return [alone]
      + counts.dropFirst().map { count in
        let time = report.median("claims/presenters/\(count)")
        let bound = hop.map { 2 * $0 + 3_000 * Double(count) }
        let share = time.flatMap { time in bound.map { time / $0 } }
        return TargetLine(
          "T-7 \(count) presenters", "the same with \(count) presenters, in (2 hops + 3 µs × \(count))", ratio: share,
          target: 1, higherIsBetter: false)
      }
  }
}

/// One repetition of work that one pinned thread does while other threads answer it.
///
/// Nothing shows here which thread waited for which, so the load of the machine shows whether others disturbed it.
func timedAlone(_ laboratory: Laboratory, _ body: @escaping @Sendable () throws -> Void) throws -> Attempt {
  let settings = laboratory.settings
  let processorCount = laboratory.processors.count
  return try laboratory.workers.run(1) { _ in
    try repeatBody(body, for: settings.warmUp.nanoseconds)
    let loadBefore = MachineLoad.now()
    let start = monotonicNanoseconds()
    let count = try repeatBody(body, for: settings.duration.nanoseconds)
    let duration = monotonicNanoseconds() - start
    var disturbance = 0.0
    if let loadBefore, let loadAfter = MachineLoad.now() {
      let taken = loadAfter.takenByOthers(since: loadBefore, processors: processorCount)
      disturbance = Double(taken) / Double(duration * UInt64(processorCount))
    }
    return Attempt(value: Double(duration) / Double(count), disturbance: disturbance)
  }[0]
}

@discardableResult
private func repeatBody(_ body: () throws -> Void, for duration: UInt64) throws -> UInt64 {
  let end = monotonicNanoseconds() + duration
  var count: UInt64 = 0
  repeat {
    try body()
    count += 1
  } while monotonicNanoseconds() < end
  return count
}

/// Presenters of one item that only count the questions to them.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `readCount` | is atomic | counted by the reader, compared when all is over |
private final class Audience: Sendable {
  let path: String
  private let presenters: [CountingPresenter]
  private let registrations: [FilePresenterRegistration]
  private let readCount = Atomic(0)

  init(_ count: Int, _ path: String, _ domain: CoordinationDomain, executor: () -> QueueExecutor?) throws {
    self.path = path
    presenters = (0..<count).map { _ in CountingPresenter(fileURL(path), executor()) }
    registrations = try presenters.map { try domain.register($0) }
  }

  func noteRead() { readCount.add(1, ordering: .relaxed) }

  /// The measurement is valid only if every presenter was asked in each read.
  func checkThatAllWereAsked() throws {
    let expected = readCount.load(ordering: .relaxed)
    for presenter in presenters where presenter.saveCount != expected || presenter.relinquishCount != expected {
      throw BenchmarkFailure(
        "a presenter of \(path) relinquished \(presenter.relinquishCount) and saved \(presenter.saveCount) times in \(expected) reads"
      )
    }
  }

  func leave() {
    for registration in registrations { registration.end() }
  }
}

/// Counts only, so that all time is that of the messages.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | counts | are atomic | compared by another thread in the end |
private final class CountingPresenter: FilePresenter {
  let presentedItemURL: URL?
  let presentedItemCallbacks = FilePresenterCallbacks.all
  let presentedItemExecutor: (any TaskExecutor)?
  private let relinquishes = Atomic(0)
  private let saves = Atomic(0)
  private let reacquisitions = Atomic(0)

  init(_ url: URL, _ executor: QueueExecutor?) {
    presentedItemURL = url
    presentedItemExecutor = executor
  }

  var relinquishCount: Int { relinquishes.load(ordering: .relaxed) }
  var saveCount: Int { saves.load(ordering: .relaxed) }

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
    relinquishes.add(1, ordering: .relaxed)
    return { [self] in _ = reacquisitions.add(1, ordering: .relaxed) }
  }

  func savePresentedItemChanges(origin: AccessOrigin) async throws { saves.add(1, ordering: .relaxed) }
}
