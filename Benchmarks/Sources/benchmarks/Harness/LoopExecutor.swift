/// Runs the tasks that prefer it on the one thread that calls ``runNext()``, in an order that this thread decides.
///
/// A task with such a preference looks it up, under a lock, at each return from an asynchronous function. A task that
/// calls no actor is faster on a ``ThreadActor``.
final class LoopExecutor: TaskExecutor {
  private let loop = JobLoop()

  func enqueue(_ job: consuming ExecutorJob) { loop.append(UnownedJob(job)) }

  /// Runs the next job, if one is there.
  ///
  /// - Returns: How long it took, in nanoseconds; `nil` if there is none.
  @discardableResult
  func runNext() -> UInt64? {
    guard let job = loop.take() else { return nil }
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
      if runNext() == nil { loop.wait() }
    }
  }

  /// Runs an async function on the calling thread, the code of actors included, and waits for its end.
  ///
  /// - Parameter body: The work to run.
  /// - Returns: Its result.
  /// - Throws: Its error.
  static func perform<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
    let outcome = AsyncOutcome<Result>()
    let executor = LoopExecutor()
    Task(executorPreference: executor) { await outcome.fill(body) }
    executor.run { outcome.isThere }
    return try outcome.get()
  }
}
