internal import CompactContainers

/// The clock of this computer: CLOCK_MONOTONIC, which stands still during suspend.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state.heap` | the lock of `state` | scheduling, cancelling and the clock's thread change it |
/// | `state.isThreadStarted` | the lock of `state` | exactly one thread |
/// | `state.parkedUntil` | the lock of `state` | only a thread that schedules something earlier must wake the clock's thread |
/// | `state.turnCount` | the lock of `state` | shows a test that the thread sleeps |
/// | `parker` | let go after an insertion under the lock; reset under the lock, before the thread reads the heap | a wake-up that a reset swallows belongs to an insertion that the thread is about to see |
///
/// One thread, started by the first deadline, runs all actions one after the other, outside the lock. It sleeps until the
/// earliest deadline, and for ever while there is none. A cancelled action is removed at once; if it was the earliest, the
/// thread still wakes at its time, finds nothing and sleeps on. That is cheaper than a wake-up for every cancellation.
///
/// Threads don't survive fork(2): a child that goes on without exec has a clock whose actions never run.
public final class HostClock: CoordinationClock {
  /// The clock that everything uses by default.
  public static let shared = HostClock()

  /// Names an action that waits.
  typealias Token = PriorityHeap<MonotonicTime, ScheduledAction>.Token

  private struct State {
    var heap = PriorityHeap<MonotonicTime, ScheduledAction>()
    var isThreadStarted = false
    /// The time the thread sleeps until, `nil` if no insertion has to wake it.
    ///
    /// Out of date after that time, when a needless wake-up does no harm.
    var parkedUntil: MonotonicTime?
    /// How often the thread has read the heap.
    var turnCount = 0
  }

  private enum Wake {
    case none
    case startThread
    case unpark
  }

  private let state = Guarded(State())
  private let parker = Parker()

  /// Creates a clock with a thread of its own.
  ///
  /// The thread, once started, lives as long as the process.
  package init() {}

  /// The time on CLOCK_MONOTONIC, see clock_gettime(2).
  public var now: MonotonicTime { .host() }

  /// How many actions wait for their time.
  package var scheduledCount: Int { state.withLock { $0.heap.count } }

  /// How often the clock's thread searched for something to do: at most three times for each action.
  package var turnCount: Int { state.withLock { $0.turnCount } }

  /// Runs an action on the clock's thread when a time has come.
  ///
  /// Actions run in the order of their deadlines, those with the same deadline in the order of scheduling.
  ///
  /// - Parameters:
  ///   - deadline: When to run the action.
  ///   - action: The work to run. It must be short, and must not wait for another action of this clock.
  /// - Returns: The means to call it off.
  /// - Complexity: O(log *n*) in the number of waiting actions; a system call only for a new earliest deadline.
  public func schedule(
    at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledAction {
    let (scheduled, wake) = state.withLock { state in
      let scheduled = state.heap.insert(at: deadline) { token in
        ScheduledAction(action, token, in: self)
      }
      return (scheduled, Self.wake(for: deadline, &state))
    }
    switch wake {
    case .none: break
    case .unpark: parker.unpark()
    case .startThread: startThread()
    }
    return scheduled
  }

  /// If the system refuses a thread, the next scheduling tries again: earlier actions are late then, not lost.
  private func startThread() {
    let code = HostThread.tryStart(name: "file-coord-time") { self.run() }
    if code != 0 { state.withLock { $0.isThreadStarted = false } }
  }

  private static func wake(for deadline: MonotonicTime, _ state: inout State) -> Wake {
    guard state.isThreadStarted else {
      state.isThreadStarted = true
      return .startThread
    }
    guard let parkedUntil = state.parkedUntil, deadline < parkedUntil else { return .none }
    state.parkedUntil = nil
    return .unpark
  }

  func remove(_ token: Token) {
    // Freed outside the lock: the last reference may run foreign code.
    _ = state.withLock { $0.heap.remove(token) }
  }

  private enum Step {
    case start(ScheduledAction)
    case park(until: MonotonicTime)
  }

  private func run() -> Never {
    while true {
      let now = now
      let step = state.withLock { state -> Step in
        parker.reset()
        state.turnCount += 1
        if let action = state.heap.popFirst(upTo: now) { return .start(action) }
        let deadline = state.heap.least ?? .distantFuture
        state.parkedUntil = deadline
        return .park(until: deadline)
      }
      switch step {
      case .start(let action): action.start()
      case .park(until: let deadline): parker.park(until: deadline == .distantFuture ? nil : deadline)
      }
    }
  }
}
