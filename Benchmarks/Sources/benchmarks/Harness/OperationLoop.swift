/// The result of one thread in one repetition.
struct LoopOutcome: Sendable {
  let operationCount: UInt64
  /// When it stopped.
  let endTime: UInt64
  /// How long it was ready to run and did not; `nil` if the kernel doesn't report it.
  let waited: UInt64?
}

/// Decides how many operations to do before reading the clock again.
///
/// Each reading costs some 23 ns: seldom enough that it doesn't show, and often enough that slow operations stop in
/// time.
private struct Batch {
  private(set) var size: UInt64 = 1
  private var lastTime: UInt64

  init(start: UInt64) { lastTime = start }

  mutating func ended(at time: UInt64) {
    let duration = time &- lastTime
    lastTime = time
    if duration < 10_000 { size = min(size * 2, 4096) }
    if duration > 40_000 { size = max(size / 2, 1) }
  }
}

/// Acquires and releases until a time has come, with an empty critical section.
///
/// - Parameters:
///   - worker: The lock.
///   - scenario: Which operations.
///   - thread: The number of the thread, which is the seed of its choices.
///   - start: The time on the clock now.
///   - end: When to stop.
/// - Returns: How many operations were done, and when the last one had ended.
/// - Throws: The errors of the lock.
@inline(__always)
func operate<Worker: LockWorker & ~Copyable>(
  _ worker: borrowing Worker, _ scenario: Scenario, thread: Int, from start: UInt64, until end: UInt64
) throws -> (operationCount: UInt64, endTime: UInt64) {
  let threshold = scenario.writeThreshold
  var random = XorShift(seed: thread)
  var batch = Batch(start: start)
  var count: UInt64 = 0
  while true {
    for _ in 0..<batch.size {
      if UInt64(random.next()) < threshold { try worker.write {} } else { try worker.read {} }
    }
    count &+= batch.size
    let now = monotonicNanoseconds()
    if now >= end { return (count, now) }
    batch.ended(at: now)
  }
}

/// The same, for a lock whose users suspend.
///
/// - Parameters:
///   - worker: The lock.
///   - scenario: Which operations.
///   - thread: The number of the thread, which is the seed of its choices.
///   - start: The time on the clock now.
///   - end: When to stop.
/// - Returns: How many operations were done, and when the last one had ended.
/// - Throws: The errors of the lock.
@inline(__always)
func operate<Worker: AsyncLockWorker>(
  _ worker: Worker, _ scenario: Scenario, thread: Int, from start: UInt64, until end: UInt64
) async throws -> (operationCount: UInt64, endTime: UInt64) {
  let threshold = scenario.writeThreshold
  var random = XorShift(seed: thread)
  var batch = Batch(start: start)
  var count: UInt64 = 0
  while true {
    for _ in 0..<batch.size {
      if UInt64(random.next()) < threshold { try await worker.write {} } else { try await worker.read {} }
    }
    count &+= batch.size
    let now = monotonicNanoseconds()
    if now >= end { return (count, now) }
    batch.ended(at: now)
  }
}
