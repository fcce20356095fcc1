import Foundation
import Synchronization

/// Runs tasks on the one thread that calls ``run(until:)``: a pinned worker, as for the locks that block.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `jobs` | its mutex | a lock may resume a task on whatever thread |
final class LoopExecutor: TaskExecutor {
  private struct Jobs: Sendable {
    var waiting: [UnownedJob] = []
    var next = 0

    mutating func take() -> UnownedJob? {
      if next == waiting.count {
        waiting.removeAll(keepingCapacity: true)
        next = 0
        return nil
      }
      defer { next += 1 }
      return waiting[next]
    }
  }

  private let jobs = Mutex(Jobs())
  private let arrival = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.waiting.append(job) }
    arrival.signal()
  }

  /// Runs the next job, if one is there.
  ///
  /// - Returns: How long it took, in nanoseconds; `nil` if there is none.
  @discardableResult
  func runNext() -> UInt64? {
    guard let job = jobs.withLock({ $0.take() }) else { return nil }
    let start = monotonicNanoseconds()
    job.runSynchronously(on: asUnownedTaskExecutor())
    return monotonicNanoseconds() - start
  }

  /// Runs jobs until none is left.
  func drain() {
    while runNext() != nil {}
  }

  /// Runs jobs, and waits for more, until a condition holds, which is asked after each job.
  func run(until isFinished: () -> Bool) {
    while !isFinished() {
      if runNext() == nil { arrival.wait() }
    }
  }

  /// Runs an async function on the calling thread and waits for its end.
  ///
  /// - Parameter body: What to run.
  /// - Returns: What it returned.
  /// - Throws: What it threw.
  func perform<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
    let outcome = Shared(Mutex<Swift.Result<Result, any Error>?>(nil))
    Task(executorPreference: self) {
      let result: Swift.Result<Result, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      outcome.value.withLock { $0 = result }
    }
    run { outcome.value.withLock { $0 != nil } }
    guard let result = outcome.value.withLock({ $0 }) else { preconditionFailure("ended without a result") }
    return try result.get()
  }
}
