/// An actor whose code runs on one pinned thread, as the locks that block do.
///
/// Its calls of asynchronous functions have the same cost as in most programs: see ``LoopExecutor`` for the difference.
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
  /// - Parameter body: The work to run.
  /// - Returns: Its result.
  /// - Throws: Its error.
  static func perform<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
    let outcome = AsyncOutcome<Result>()
    let actor = ThreadActor()
    Task { await actor.run { await outcome.fill(body) } }
    actor.executor.run { outcome.isThere }
    return try outcome.get()
  }
}
