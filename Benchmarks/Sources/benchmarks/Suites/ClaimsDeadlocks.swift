import FileCoordination
import Foundation
import Synchronization

extension Suite {
  static let claimsDeadlocks = Suite(
    name: "claims/deadlocks", summary: "what the search for a deadlock adds to a wait (T-9)"
  ) { laboratory, report in
    let waiterCount = laboratory.settings.unrelatedWaiterCount
    let cycleLength = laboratory.settings.cycleLength
    let group = "the request that has to wait, with the search for a deadlock"
    report.results += try laboratory.measure([
      waitCell("new-wait-alone", "new wait, nobody else waits", group, waiterCount: 0),
      waitCell(
        "new-wait", "new wait beside \(format(Double(waiterCount))) unrelated waiters", group,
        waiterCount: waiterCount),
      cycleCell("cycle", "wait that closes a cycle of \(format(Double(cycleLength)))", group, length: cycleLength),
    ])
    report.targets += [
      TargetLine(
        "T-9 new wait", "new wait beside \(format(Double(waiterCount))) unrelated waiters, search included",
        ratio: report.median("claims/deadlocks/new-wait").map { $0 / 1_000 }, target: 50, higherIsBetter: false,
        unit: " µs"),
      TargetLine(
        "T-9 cycle", "closing a cycle of \(format(Double(cycleLength))), search and resolution included",
        ratio: report.median("claims/deadlocks/cycle").map { $0 / 1_000_000 }, target: 5, higherIsBetter: false,
        unit: " ms"),
    ]
  }

  private static func waitCell(_ id: String, _ subject: String, _ group: String, waiterCount: Int) -> Cell {
    Cell(id: "claims/deadlocks/\(id)", subject: subject, group: group, unit: "ns", isOurs: true) { laboratory in
      try onWorker(laboratory) { try WaitExperiment().timeOfNewWait(waiterCount: waiterCount) }
    }
  }

  private static func cycleCell(_ id: String, _ subject: String, _ group: String, length: Int) -> Cell {
    Cell(id: "claims/deadlocks/\(id)", subject: subject, group: group, unit: "ns", isOurs: true) { laboratory in
      try onWorker(laboratory) { try WaitExperiment().timeOfClosingCycle(length: length) }
    }
  }

  /// The time that the experiment gives, and how long its thread had to wait for its processor.
  private static func onWorker(_ laboratory: Laboratory, _ experiment: @escaping @Sendable () throws -> UInt64) throws
    -> Attempt
  {
    try laboratory.workers.run(1) { _ in
      let waited = SchedulerWait.ofCallingThread()
      let start = monotonicNanoseconds()
      let time = try experiment()
      let duration = monotonicNanoseconds() - start
      var disturbance = 0.0
      if let waited, let waitedNow = SchedulerWait.ofCallingThread() {
        disturbance = Double(waitedNow - waited) / Double(duration)
      }
      return Attempt(value: Double(time), disturbance: disturbance)
    }[0]
  }
}

/// Tasks that wait for each other on one thread, in an order that we choose: the time of a step is the time of the one job
/// that makes it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | counters | are atomic | counted by tasks, compared by the thread that runs them |
private final class WaitExperiment: Sendable {
  private let loop = LoopExecutor()
  private let domain = CoordinationDomain()
  private let runningCount = Shared(Atomic(0))
  private let holdingCount = Shared(Atomic(0))
  private let deadlockCount = Shared(Atomic(0))
  private let unexpected = Shared(Mutex<[String]>([]))

  /// How many waits are timed in one experiment; the result is their median.
  private static let sampleCount = 25
  /// How many waits come before them, untimed, in which a new domain makes its tables.
  private static let warmUpCount = 50
  /// Waiters for one item.
  private static let queueLength = 10

  /// A task that holds one item asks for another, which a further task holds, while many others wait elsewhere.
  func timeOfNewWait(waiterCount: Int) throws -> UInt64 {
    let endOfHolders = Gate()
    let queueCount = waiterCount / Self.queueLength
    for queue in 0..<queueCount { start(holding: item("elsewhere", queue), until: endOfHolders) }
    loop.drain()
    try expectHolding(queueCount)
    for waiter in 0..<queueCount * Self.queueLength { start(holding: item("elsewhere", waiter % queueCount)) }
    loop.drain()
    var samples: [Double] = []
    for round in 0..<Self.warmUpCount + Self.sampleCount {
      let end = Gate()
      let ask = Gate()
      start(holding: item("wanted", 0), until: end)
      start(holding: item("held", 0), until: ask, thenAskingFor: item("wanted", 0))
      loop.drain()
      try expectHolding(queueCount + 2)
      ask.open()
      let time = try timeOfOneJob()
      if round >= Self.warmUpCount { samples.append(Double(time)) }
      try expectHolding(queueCount + 2)
      end.open()
      loop.run { runningCount.value.load(ordering: .relaxed) == queueCount * (1 + Self.queueLength) }
    }
    endOfHolders.open()
    try finish(expectedDeadlocks: 0)
    return UInt64(Measurement(samples: samples).median)
  }

  /// Tasks that each hold an item ask for the next one's; the last one asks for the first's.
  func timeOfClosingCycle(length: Int) throws -> UInt64 {
    let gates = (0..<length).map { _ in Gate() }
    for member in 0..<length {
      start(
        holding: item("cycle", member), until: gates[member],
        thenAskingFor: item("cycle", (member + 1) % length))
    }
    loop.drain()
    try expectHolding(length)
    for gate in gates.dropLast() {
      gate.open()
      loop.drain()
    }
    try expectHolding(length)
    gates[length - 1].open()
    let time = try timeOfOneJob()
    try finish(expectedDeadlocks: 1)
    return time
  }

  private func timeOfOneJob() throws -> UInt64 {
    guard let time = loop.runNext() else { throw BenchmarkFailure("the task that was let go isn't ready to run") }
    return time
  }

  private func item(_ kind: String, _ number: Int) -> URL { fileURL("/nowhere/\(kind)/\(number)") }

  /// Starts a task that writes an item until a gate opens, and then writes another inside of that.
  private func start(holding item: URL, until gate: Gate? = nil, thenAskingFor other: URL? = nil) {
    runningCount.value.add(1, ordering: .relaxed)
    Task(executorPreference: loop) { [self] in
      do {
        try await FileCoordinator(label: "member", domain: domain, deadlines: .never).write(item) { _ in
          holdingCount.value.add(1, ordering: .relaxed)
          defer { holdingCount.value.subtract(1, ordering: .relaxed) }
          await gate?.wait()
          if let other {
            try await FileCoordinator(label: "member", domain: domain, deadlines: .never).write(other) { _ in }
          }
        }
      } catch let error as FileCoordinationError where error.code == .deadlock {
        deadlockCount.value.add(1, ordering: .relaxed)
      } catch {
        unexpected.value.withLock { $0.append("\(error)") }
      }
      runningCount.value.subtract(1, ordering: .relaxed)
    }
  }

  private func expectHolding(_ count: Int) throws {
    let holding = holdingCount.value.load(ordering: .relaxed)
    if holding != count { throw BenchmarkFailure("\(holding) tasks hold an item instead of \(count)") }
  }

  /// Lets all tasks end, and checks that they ended as expected.
  private func finish(expectedDeadlocks: Int) throws {
    loop.run { runningCount.value.load(ordering: .relaxed) == 0 }
    let errors = unexpected.value.withLock { $0 }
    if let error = errors.first { throw BenchmarkFailure("\(errors.count) tasks failed, the first with \(error)") }
    let deadlocks = deadlockCount.value.load(ordering: .relaxed)
    if deadlocks != expectedDeadlocks {
      throw BenchmarkFailure("\(deadlocks) deadlocks were found instead of \(expectedDeadlocks)")
    }
  }
}

/// Lets tasks pass once it's open.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its mutex | tasks wait on one thread today, but nothing requires that |
private final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      return state.waiting.take()
    }
    for continuation in waiting { continuation.resume() }
  }
}

extension Array {
  fileprivate mutating func take() -> Self {
    defer { self = [] }
    return self
  }
}
