/// A lock that takes part in the comparison: ours or a peer's.
///
/// Made from a function that makes workers, in whose generic initializers the loops are specialized: nothing between loop
/// and lock is called through a table.
struct Contender: Sendable {
  /// Part of the names of results.
  let id: String
  let name: String
  let isOurs: Bool
  let scenarios: [Scenario]
  /// The contender of the same scenario that shows how little it can cost.
  var floor: String?
  private let attempt: @Sendable (Scenario, Laboratory) throws -> Attempt
  private let violations: @Sendable (Laboratory) throws -> [String]

  /// A lock that blocks.
  ///
  /// - Parameters:
  ///   - id: Part of the names of results.
  ///   - name: For people.
  ///   - isOurs: Whether it's ours.
  ///   - scenarios: Those in which it makes sense.
  ///   - makeWorker: Makes the access of one thread to the item with a number, on that thread.
  init<Worker: LockWorker & ~Copyable>(
    _ id: String, _ name: String, isOurs: Bool = false, scenarios: [Scenario] = Scenario.all,
    makeWorker: @escaping @Sendable (_ thread: Int, _ item: Int) throws -> Worker
  ) {
    self.id = id
    self.name = name
    self.isOurs = isOurs
    self.scenarios = scenarios
    attempt = { scenario, laboratory in
      try runOnWorkers(scenario, laboratory) { thread, barriers, times in
        let worker = try makeWorker(thread, scenario.isShared ? 0 : thread)
        let warmUpStart = try barriers.warmUp.arrive()
        _ = try operate(worker, scenario, thread: thread, from: warmUpStart, until: warmUpStart + times.warmUp)
        let start = try barriers.start.arrive()
        let waited = SchedulerWait.ofCallingThread()
        let end = try operate(worker, scenario, thread: thread, from: start, until: start + times.duration)
        return LoopOutcome(end, waitedSince: waited)
      }
    }
    violations = { laboratory in
      try ExclusionCheck.run(laboratory) { check, thread, count in
        let worker = try makeWorker(thread, 0)
        for round in 0..<count {
          if round % 2 == 0 { try worker.write { check.write() } } else { try worker.read { check.read() } }
        }
      }
    }
  }

  /// A lock whose users suspend: each thread runs one task.
  ///
  /// - Parameters:
  ///   - id: Part of the names of results.
  ///   - name: For people.
  ///   - isOurs: Whether it's ours.
  ///   - scenarios: Those in which it makes sense.
  ///   - home: The executor of the task.
  ///   - makeWorker: Makes the access of one thread to the item with a number, on that thread.
  init<Worker: AsyncLockWorker>(
    async id: String, _ name: String, isOurs: Bool = false, scenarios: [Scenario] = Scenario.upToTwoThreads,
    on home: AsyncHome = .threadActor,
    makeWorker: @escaping @Sendable (_ thread: Int, _ item: Int) throws -> Worker
  ) {
    self.id = id
    self.name = name
    self.isOurs = isOurs
    self.scenarios = scenarios
    attempt = { scenario, laboratory in
      try runOnWorkers(scenario, laboratory) { thread, barriers, times in
        let worker = try makeWorker(thread, scenario.isShared ? 0 : thread)
        return try home.perform {
          let warmUpStart = try barriers.warmUp.arrive()
          _ = try await operate(worker, scenario, thread: thread, from: warmUpStart, until: warmUpStart + times.warmUp)
          let start = try barriers.start.arrive()
          let waited = SchedulerWait.ofCallingThread()
          let end = try await operate(worker, scenario, thread: thread, from: start, until: start + times.duration)
          return LoopOutcome(end, waitedSince: waited)
        }
      }
    }
    violations = { laboratory in
      try ExclusionCheck.run(laboratory) { check, thread, count in
        let worker = try makeWorker(thread, 0)
        try home.perform {
          for round in 0..<count {
            if round % 2 == 0 {
              try await worker.write { check.write() }
            } else {
              try await worker.read { check.read() }
            }
          }
        }
      }
    }
  }

  /// Makes the rows of all its scenarios.
  ///
  /// - Parameters:
  ///   - suite: The beginning of the names of results.
  ///   - group: The heading; that of the scenario unless stated.
  /// - Returns: A row for each scenario.
  func cells(suite: String, group: String? = nil) -> [Cell] {
    scenarios.map { scenario in
      Cell(
        id: "\(suite)/\(scenario.id)/\(id)", subject: group == nil ? name : "\(name), \(scenario.title)",
        group: group ?? scenario.title, unit: Self.unit, isOurs: isOurs,
        isPlotted: group == nil && !Floors.all.contains(id), floor: floor.map { "\(suite)/\(scenario.id)/\($0)" }
      ) { try attempt(scenario, $0) }
    }
  }

  /// Wall time × processors in use ÷ operations: the cost of one operation for one processor.
  static let unit = "ns"

  /// The same contender, whose rows show their distance from those of another one.
  func above(_ floor: String) -> Contender {
    var contender = self
    contender.floor = floor
    return contender
  }

  /// Whether it is a lock at all: the problems when two threads read and wrote a shared value.
  func exclusionViolations(_ laboratory: Laboratory) throws -> [String] { try violations(laboratory) }
}

struct Barriers: Sendable {
  let warmUp: StartBarrier
  let start: StartBarrier

  init(_ count: Int) {
    warmUp = StartBarrier(count)
    start = StartBarrier(count)
  }

  func abandon() {
    warmUp.abandon()
    start.abandon()
  }
}

struct LoopTimes: Sendable {
  let warmUp: UInt64
  let duration: UInt64
}

extension LoopOutcome {
  init(_ end: (operationCount: UInt64, endTime: UInt64), waitedSince earlier: UInt64?) {
    operationCount = end.operationCount
    endTime = end.endTime
    waited = earlier.flatMap { earlier in SchedulerWait.ofCallingThread().map { $0 - earlier } }
  }
}

/// One repetition: threads start together, and their operations are counted together.
private func runOnWorkers(
  _ scenario: Scenario, _ laboratory: Laboratory,
  _ body: @escaping @Sendable (Int, Barriers, LoopTimes) throws -> LoopOutcome
) throws -> Attempt {
  let settings = laboratory.settings
  // Threads that take turns on a processor need some turns to be comparable.
  let isCrowded = scenario.threadCount > laboratory.processors.count
  let times = LoopTimes(
    warmUp: settings.warmUp.nanoseconds, duration: settings.duration.nanoseconds * (isCrowded ? 2 : 1))
  let barriers = Barriers(scenario.threadCount)
  let loadBefore = MachineLoad.now()
  let before = monotonicNanoseconds()
  let outcomes = try laboratory.workers.run(scenario.threadCount) { thread -> LoopOutcome in
    do { return try body(thread, barriers, times) } catch {
      barriers.abandon()
      throw error
    }
  }
  let after = monotonicNanoseconds()
  let loadAfter = MachineLoad.now()
  let processors = min(scenario.threadCount, laboratory.processors.count)
  let operationCount = outcomes.reduce(0) { $0 + $1.operationCount }
  // All stop at the same time on the clock, but for the rest of a batch.
  let start = barriers.start.time
  let duration = (outcomes.map(\.endTime).max() ?? start) - start
  let value = Double(duration) * Double(processors) / Double(operationCount)
  // A thread that waits for its processor is disturbed. So is one that has it alone while others keep the processor beside
  // it busy, which may share its caches and clock: it would look slow beside two threads that keep both busy themselves.
  let waited = isCrowded ? 0 : Double(outcomes.compactMap(\.waited).max() ?? 0) / Double(duration)
  let areAllUsed = scenario.threadCount == laboratory.processors.count
  let taken = areAllUsed ? 0 : shareTakenByOthers(loadBefore, loadAfter, after - before, laboratory.processors)
  return Attempt(value: value, disturbance: max(waited, taken))
}

/// The share of all processors' time that others took; 0 if the kernel doesn't report it.
private func shareTakenByOthers(
  _ before: MachineLoad?, _ after: MachineLoad?, _ duration: UInt64, _ processors: Processors
) -> Double {
  guard let before, let after else { return 0 }
  let taken = after.takenByOthers(since: before, processors: processors.count)
  return Double(taken) / Double(duration * UInt64(processors.count))
}
