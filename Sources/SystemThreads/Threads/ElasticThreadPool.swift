/// An executor for code that may block its thread, such as the callbacks of presenters.
///
/// Swift's own executor has as many threads as processors: two callbacks that wait for a file stop every task of a
/// program on a small computer. Here a job that finds no idle thread gets a new one, so that a blocked job starves no
/// other until ``threadCountMax`` of them block at once; from there on jobs wait in a queue.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state.queue`, `state.idle`, `state.threadCount` | the lock of `state` | a job must find an idle thread, a new thread or the queue, in one step |
/// | `Worker.job` | before `unpark`: the thread that took the worker off `idle`; after it: the worker | handing over needs no second turn of the lock |
/// | `Worker.parker` | let go only by the thread that took the worker off `idle`; reset by the worker before it gets there | so a reset never swallows a wake-up |
///
/// Idle threads form a stack: the one that worked last, with warm caches, works next, and the others can age. The bottom
/// ``idleThreadCountMax`` sleep without limit; those above end after ``idleTimeout``. A thread's place in the stack never
/// grows while it sleeps, and never falls below the limit by the departure of one that sleeps above the limit. So whether
/// it sleeps with a limit is decided once.
///
/// Jobs start in the order they were enqueued; their priority is ignored. The queue has no limit of its own because
/// `enqueue` can't refuse: it is as long as the number of tasks that its users keep running.
package final class ElasticThreadPool: TaskExecutor {
  /// The pool that runs callbacks.
  package static let shared = ElasticThreadPool()

  /// How many threads exist at most, working and idle.
  package let threadCountMax: Int

  /// How many idle threads are kept for good.
  package let idleThreadCountMax: Int

  /// How long any other thread is kept after its last job.
  package let idleTimeout: Duration

  /// Starts a named thread; returns 0 or an errno.
  ///
  /// See ``HostThread/tryStart(name:_:)``.
  package typealias ThreadStarter = @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) -> Int32

  private let threadStarter: ThreadStarter
  private let threadDidEnd: (@Sendable (_ threadCount: Int) -> Void)?

  private struct State {
    var queue = JobQueue()
    var idle: [Worker] = []
    var threadCount = 0
    /// How many threads were ever started, for their names.
    var startCount = 0
  }

  private let state = Guarded(State())

  /// Creates a pool without threads.
  ///
  /// The pool must outlive the tasks that prefer it: they don't keep it alive. Its idle threads do.
  ///
  /// - Parameters:
  ///   - threadCountMax: How many threads exist at most, at least 1.
  ///   - idleThreadCountMax: How many idle threads are kept for good.
  ///   - idleTimeout: How long any other thread is kept after its last job.
  ///   - threadStarter: How to get a thread; a test can refuse.
  ///   - threadDidEnd: Called on a thread that is about to end, with the number of threads left.
  package init(
    threadCountMax: Int = 256, idleThreadCountMax: Int = 4, idleTimeout: Duration = .seconds(5),
    threadStarter: @escaping ThreadStarter = { HostThread.tryStart(name: $0, $1) },
    threadDidEnd: (@Sendable (_ threadCount: Int) -> Void)? = nil
  ) {
    precondition(threadCountMax >= 1, "a pool without threads would never run a job")
    precondition(idleThreadCountMax >= 0, "idleThreadCountMax is a count")
    self.threadCountMax = threadCountMax
    self.idleThreadCountMax = idleThreadCountMax
    self.idleTimeout = idleTimeout
    self.threadStarter = threadStarter
    self.threadDidEnd = threadDidEnd
  }

  /// How many threads exist, working and idle.
  package var threadCount: Int { state.withLock { $0.threadCount } }

  /// How many threads wait for a job.
  package var idleThreadCount: Int { state.withLock { $0.idle.count } }

  /// How many jobs wait for a thread.
  package var queuedJobCount: Int { state.withLock { $0.queue.count } }
}

// MARK: - Handing out jobs

extension ElasticThreadPool {
  private enum Placement {
    case wake(Worker)
    case startThread(number: Int)
    case queued
  }

  /// Runs a job on an idle thread, a new thread, or when a thread becomes free, in this order of preference.
  ///
  /// - Parameter job: The job.
  /// - Complexity: O(1); a system call to wake or start a thread, none if the idle thread hasn't fallen asleep yet, or if the calling
  ///   one keeps the job for itself.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if keep(job) { return }
    switch place(job) {
    case .wake(let worker):
      worker.job = job
      worker.parker.unpark()
    case .startThread(let number):
      startThread(number: number, for: job)
    case .queued:
      break
    }
  }

  private func place(_ job: UnownedJob) -> Placement {
    state.withLock { state in
      if let worker = state.idle.popLast() { return .wake(worker) }
      if state.threadCount < threadCountMax {
        state.threadCount += 1
        state.startCount += 1
        return .startThread(number: state.startCount)
      }
      state.queue.append(job)
      return .queued
    }
  }

  private func startThread(number: Int, for job: UnownedJob) {
    let code = threadStarter("file-coord-\(number)") { self.run(Worker(job)) }
    if code == 0 { return }
    // The system allows no more threads: that is the real threadCountMax. The others take the job when they are free.
    let isQueued = state.withLock { state in
      state.threadCount -= 1
      guard state.threadCount > 0, state.idle.isEmpty else { return false }
      state.queue.append(job)
      return true
    }
    if isQueued { return }
    // A thread became idle in the meantime, or there is none at all, which only the system can change.
    precondition(
      threadCount > 0,
      "pthread_create failed with errno \(code); raise the limit of threads (ulimit -u, pids.max) or of memory")
    enqueue(ExecutorJob(job))
  }
}

// MARK: - Jobs for the calling thread

extension ElasticThreadPool {
  /// A job that a thread keeps for itself; on the stack of that thread, which alone uses it.
  private struct Kept {
    /// Only that of this pool.
    let pool: ElasticThreadPool
    var job: UnownedJob?
  }

  /// Points to the ``Kept`` of a thread that wants a job.
  private static let keeping = unsafe ThreadSpecific { _ in }

  /// Runs `body`, and keeps the first job that it enqueues on the calling thread.
  ///
  /// Nobody starts that job before ``run(_:)``, so `body` must not wait for it. All further jobs are handed out as always.
  ///
  /// - Parameter body: Enqueues jobs, perhaps.
  /// - Returns: The first of them.
  package func keepingFirstJob(of body: () -> Void) -> UnownedJob? {
    var kept = Kept(pool: self)
    unsafe withUnsafeMutablePointer(to: &kept) { pointer in
      unsafe Self.keeping.pointer = UnsafeMutableRawPointer(pointer)
      defer { unsafe Self.keeping.pointer = nil }
      body()
    }
    return kept.job
  }

  /// Runs a kept job on the calling thread, which needn't be one of the pool.
  ///
  /// - Parameter job: The job; each is run once.
  package func run(_ job: UnownedJob) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }

  /// - Returns: Whether the calling thread keeps the job for itself.
  private func keep(_ job: UnownedJob) -> Bool {
    guard let pointer = unsafe Self.keeping.pointer?.assumingMemoryBound(to: Kept.self),
      unsafe pointer.pointee.pool === self, unsafe pointer.pointee.job == nil
    else { return false }
    unsafe pointer.pointee.job = job
    return true
  }
}

// MARK: - Threads

extension ElasticThreadPool {
  /// One thread's side of the hand-over; see the table above.
  ///
  /// `@unchecked Sendable` because `job` has one owner at a time, and `parker` publishes the change of owner.
  private final class Worker: @unchecked Sendable {
    var job: UnownedJob?
    let parker = Parker()

    init(_ job: UnownedJob) {
      self.job = job
    }
  }

  private enum Next {
    case run(UnownedJob)
    case park(until: MonotonicTime?)
  }

  private func run(_ worker: Worker) {
    while let job = worker.job.take() ?? awaitJob(worker) {
      run(job)
    }
  }

  /// Waits for the next job of a thread.
  ///
  /// - Parameter worker: The thread.
  /// - Returns: The job, or `nil` if the thread has to end.
  private func awaitJob(_ worker: Worker) -> UnownedJob? {
    switch next(worker) {
    case .run(let job):
      return job
    case .park(let deadline):
      if worker.parker.park(until: deadline) { return worker.job.take() }
      if retire(worker) { return nil }
      // Another thread took the worker off the stack just now, and is about to let it go.
      worker.parker.park()
      return worker.job.take()
    }
  }

  private func next(_ worker: Worker) -> Next {
    worker.parker.reset()
    return state.withLock { state in
      if let job = state.queue.popFirst() { return .run(job) }
      let isKept = state.idle.count < idleThreadCountMax
      state.idle.append(worker)
      return .park(until: isKept ? nil : MonotonicTime.host().advanced(by: idleTimeout))
    }
  }

  /// Takes a thread out of the pool unless a job has been handed to it.
  private func retire(_ worker: Worker) -> Bool {
    let threadCount = state.withLock { state -> Int? in
      guard let index = state.idle.lastIndex(where: { $0 === worker }) else { return nil }
      state.idle.remove(at: index)
      state.threadCount -= 1
      return state.threadCount
    }
    guard let threadCount else { return false }
    threadDidEnd?(threadCount)
    return true
  }
}

/// Jobs in the order of their arrival.
///
/// Both ends in amortized constant time, without a circular buffer: the front is a cursor, and the jobs behind it are
/// removed once they are half of the array.
struct JobQueue {
  private var jobs: [UnownedJob] = []
  private var front = 0

  var count: Int { jobs.count - front }

  mutating func append(_ job: UnownedJob) {
    jobs.append(job)
  }

  mutating func popFirst() -> UnownedJob? {
    guard front < jobs.endIndex else { return nil }
    defer {
      front += 1
      if front * 2 >= jobs.count {
        jobs.removeFirst(front)
        front = 0
      }
    }
    return jobs[front]
  }
}
