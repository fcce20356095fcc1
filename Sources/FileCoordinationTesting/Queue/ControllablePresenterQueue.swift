public import FileCoordination
internal import SystemInterface

/// A presenter's executor that runs its jobs only when a test says so.
///
/// Give it to a presenter as `presentedItemExecutor`. A callback is one job, and one more for each time it has been
/// suspended. Other executors get callbacks that follow each other as one job.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its own lock | jobs come from any thread, the test takes them on another |
public final class ControllablePresenterQueue: TaskExecutor, SteppedPresenterExecutor {
  private struct State: Sendable {
    var jobs: [UnownedJob] = []
    var isOpen = false
    var arrivalCount = 0
  }

  private let state = Watched(State())

  /// Creates a queue that holds everything.
  public init() {}

  /// How many jobs are held.
  public var jobCount: Int { state.value.jobs.count }

  /// How many jobs have come, held or run.
  public var arrivalCount: Int { state.value.arrivalCount }

  /// Takes a job: holds it, or runs it on a thread of the library once the queue is open.
  ///
  /// - Parameter job: The job.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isOpen = state.update { state in
      state.arrivalCount += 1
      if !state.isOpen { state.jobs.append(job) }
      return state.isOpen
    }
    if isOpen { ElasticThreadPool.shared.enqueue(ExecutorJob(job)) }
  }

  /// Runs the oldest job, on the calling thread.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func runNext() -> Bool {
    let job = state.update { state in state.jobs.isEmpty ? nil : state.jobs.removeFirst() }
    guard let job else { return false }
    // A job is run once: it has just been taken out, under the lock.
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }

  /// Runs jobs, on the calling thread, until none is left; those that the jobs enqueue here too.
  ///
  /// - Returns: How many ran.
  @discardableResult
  public func runAll() -> Int {
    var count = 0
    while runNext() { count += 1 }
    return count
  }

  /// Lets go of all jobs, now and from now on: they run on threads of the library, in parallel if they can.
  public func open() {
    let jobs = state.update { state -> [UnownedJob] in
      state.isOpen = true
      let jobs = state.jobs
      state.jobs = []
      return jobs
    }
    for job in jobs { ElasticThreadPool.shared.enqueue(ExecutorJob(job)) }
  }

  /// Suspends until jobs are held.
  ///
  /// - Parameter count: How many are awaited.
  /// - Throws: `CancellationError` when the task is cancelled first.
  public func waitForJob(count: Int = 1) async throws {
    try await state.waitUntil { $0.jobs.count >= count }
  }
}
