import Synchronization

/// An actor whose code runs on one pinned thread, as the locks that block do.
///
/// Asynchronous functions that it calls cost what they cost in most programs: see ``LoopExecutor`` for the difference.
actor ThreadActor {
  private final class Executor: SerialExecutor {
    let loop = JobLoop()

    func enqueue(_ job: consuming ExecutorJob) { loop.append(UnownedJob(job)) }

    func run(until isFinished: () -> Bool) {
      while !isFinished() {
        if let job = loop.take() { job.runSynchronously(on: asUnownedSerialExecutor()) } else { loop.wait() }
      }
    }
  }

  private nonisolated let executor = Executor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private func run(_ body: @Sendable () async -> Void) async { await body() }

  /// Runs an async function on the calling thread and waits for its end.
  ///
  /// - Parameter body: What to run.
  /// - Returns: What it returned.
  /// - Throws: What it threw.
  static func perform<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
    let outcome = Shared(Mutex<Swift.Result<Result, any Error>?>(nil))
    let actor = ThreadActor()
    Task {
      await actor.run {
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        outcome.value.withLock { $0 = result }
      }
    }
    actor.executor.run { outcome.value.withLock { $0 != nil } }
    guard let result = outcome.value.withLock({ $0 }) else { preconditionFailure("ended without a result") }
    return try result.get()
  }
}
