internal import FileAccessArbiter
internal import SystemInterface

/// A closure that gives the item back to its presenter.
///
/// Functions and containers of any type would wrap a bare closure in another one, on its way in and on its way out.
struct Reacquirer: Sendable {
  let run: FileReacquirer

  /// - Parameter run: The closure; without one there's no reacquirer.
  init?(_ run: FileReacquirer?) {
    guard let run else { return nil }
    self.run = run
  }
}

/// The work of a task on a thread of the library for a presenter.
///
/// Making a task takes five allocations, and its callbacks a stack besides. So a task that has done its errand waits for
/// another one, of whatever presenter and domain. It refers to neither meanwhile.
///
/// Callbacks on executors that somebody chose run in tasks of their own: such an executor may count them, hold them, or
/// be gone tomorrow.
enum PresenterErrand: Sendable {
  case deliver(ArbiterHost, ArbiterHost.AddressedDelivery)
  case reacquire(ArbiterHost, Reacquirer, MessageID, PresenterRecord)

  /// How many tasks wait for an errand at most; each keeps some kilobytes.
  static let idleTaskCountMax = 16

  /// How many errands a task does at most: the stack of a callback that went deep isn't kept for ever.
  static let errandCountMax = 1024

  /// The priority of these tasks, which is that of a detached task by itself.
  private static let priority = TaskPriority.medium

  private static let idleTasks = IdleTasks()

  /// Whether the task that delivers a message may be one of these.
  ///
  /// - Parameter priority: The priority of the access that waits for the answer, if there's one.
  /// - Returns: Whether it has the priority of these tasks, or none.
  static func mayHave(_ priority: TaskPriority?) -> Bool { priority == nil || priority == Self.priority }

  /// Has a task do it: one that waits for an errand, or else a new one.
  func begin() {
    if let task = Self.idleTasks.take() { return task.goOn(with: self) }
    Task.detached(name: "file presenter", executorPreference: ElasticThreadPool.shared, priority: Self.priority) {
      await Self.work(self)
    }
  }

  private static func work(_ first: PresenterErrand) async {
    var errand: PresenterErrand? = first
    var surroundings: Lineage?
    let task = IdleTask()
    for _ in 0..<errandCountMax {
      await run(&errand, in: &surroundings)
      Lineage.forget(&surroundings)
      // A callback may have cancelled the task that it ran in, or somebody has raised its priority.
      if Task.isCancelled || Task.currentPriority != priority { return }
      errand = await idleTasks.next(for: task)
      if errand == nil { return }
    }
    await run(&errand, in: &surroundings)
  }

  /// Does an errand, and keeps nothing of it but the memory of the surroundings.
  private static func run(_ errand: inout PresenterErrand?, in surroundings: inout Lineage?) async {
    switch errand.take() {
    case .deliver(let host, let delivery): await host.goOn(with: delivery, count: 0, in: &surroundings)
    case .reacquire(let host, let reacquirer, let message, let record):
      await host.giveBack(reacquirer, message, record, in: &surroundings)
    case nil: break
    }
  }
}

/// The tasks that wait for an errand, the one that worked last on top.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `tasks` | its lock | a task comes from its own thread, and is taken on that of anyone who has an errand |
///
/// A task may be taken before it has fallen asleep: then it goes on without a job of its own.
private final class IdleTasks: Sendable {
  private let tasks = Guarded<[IdleTask]>([])

  /// Suspends a task until there's an errand.
  ///
  /// - Parameter task: The present task.
  /// - Returns: The errand; `nil` if enough tasks wait already.
  func next(for task: IdleTask) async -> PresenterErrand? {
    await task.suspend { [tasks] in
      tasks.withLock { tasks in
        if tasks.count >= PresenterErrand.idleTaskCountMax { return false }
        tasks.append(task)
        return true
      }
    }
  }

  func take() -> IdleTask? { tasks.withLock { $0.popLast() } }
}

/// A task that waits for an errand now and then.
///
/// The continuation isn't a checked one, which would be allocated. It's resumed once: by the code that takes the task off
/// the list, or at once if the task gets no place there. It carries nothing: the thread sanitizer doesn't see the order between
/// a result that's stored and a task that goes on at that moment without having slept.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the task waits and reads, and another thread brings the errand |
private final class IdleTask: Sendable {
  /// The continuation is resumed by the code that has taken it out, and by nobody else.
  @safe
  private struct State: Sendable {
    var continuation: UnsafeContinuation<Void, Never>?
    var errand: PresenterErrand?
  }

  private let state = Guarded(State())

  /// Waits until somebody lets the task go on.
  ///
  /// - Parameter enlist: Puts the task on the list; `false` if there's no room.
  /// - Returns: The errand, or `nil` if there's none.
  func suspend(_ enlist: () -> Bool) async -> PresenterErrand? {
    unsafe await withUnsafeContinuation { continuation in
      state.withLock { state in unsafe state.continuation = continuation }
      if !enlist() { goOn(with: nil) }
    }
    return state.withLock { $0.errand.take() }
  }

  func goOn(with errand: PresenterErrand?) {
    let continuation = unsafe state.withLock { state in
      state.errand = errand
      return unsafe state.continuation.take()
    }
    unsafe continuation?.resume()
  }
}
