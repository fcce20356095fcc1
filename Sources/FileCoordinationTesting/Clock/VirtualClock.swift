public import SystemInterface

/// A clock whose time moves only at a test's command.
///
/// ```swift
/// let clock = VirtualClock()
/// var configuration = CoordinationDomain.Configuration()
/// configuration.clock = clock
/// let domain = CoordinationDomain(configuration)
/// // … an access that waits …
/// clock.advance(by: .seconds(300))
/// // … has failed with `.timedOut`, in no time.
/// ```
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its own lock | deadlines come from any thread, time moves on another |
///
/// Actions run outside the lock, one after the other, on the thread that moves the time.
public final class VirtualClock: CoordinationClock {
  private struct Entry: Sendable {
    let deadline: MonotonicTime
    let number: UInt64
    let action: ScheduledAction
  }

  private struct State: Sendable {
    var now: MonotonicTime
    var lastNumber: UInt64 = 0
    /// In order of deadline, then of scheduling.
    var entries: [Entry] = []
  }

  private let state: Watched<State>

  /// Creates a clock that stands still.
  ///
  /// - Parameter now: The time it shows.
  public init(now: MonotonicTime = MonotonicTime(nanoseconds: 0)) {
    state = Watched(State(now: now))
  }

  /// The time that the clock was last moved to.
  public var now: MonotonicTime { state.value.now }

  /// How many actions wait for their time.
  public var scheduledCount: Int { state.value.entries.count }

  /// When the next action is due; `nil` while there is none.
  public var nextDeadline: MonotonicTime? { state.value.entries.first?.deadline }

  /// Keeps an action until the time has been moved to its deadline.
  ///
  /// An action that is due already runs with the next move, even one by zero.
  ///
  /// - Parameters:
  ///   - deadline: When to run the action.
  ///   - action: The work to run.
  /// - Returns: The means to call it off.
  /// - Complexity: O(*n*) in the number of waiting actions.
  public func schedule(
    at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledAction {
    state.update { state in
      state.lastNumber += 1
      let number = state.lastNumber
      let scheduled = ScheduledAction(action, onCancel: { [weak self] in self?.remove(number) })
      let place = state.entries.firstIndex { $0.deadline > deadline } ?? state.entries.endIndex
      state.entries.insert(Entry(deadline: deadline, number: number, action: scheduled), at: place)
      return scheduled
    }
  }

  private func remove(_ number: UInt64) {
    // Freed outside the lock: the last reference may run foreign code.
    _ = state.update { state -> Entry? in
      guard let place = state.entries.firstIndex(where: { $0.number == number }) else { return nil }
      return state.entries.remove(at: place)
    }
  }

  /// Moves the time forward and runs, on the calling thread, the actions that become due, in order of deadline.
  ///
  /// Includes actions that those schedule within that time. While an action runs the clock shows its deadline.
  ///
  /// - Parameter duration: How far to go; nothing negative.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "a clock never goes back: \(duration)")
    advance(to: now.advanced(by: duration))
  }

  /// Moves the time to a point and runs, on the calling thread, the actions that become due, in order of deadline.
  ///
  /// A point in the past leaves the time as it is, and runs the actions that are due already.
  ///
  /// - Parameter time: Where to go.
  public func advance(to time: MonotonicTime) {
    while let action = nextDue(at: time) { action.start() }
    state.update { $0.now = max($0.now, time) }
  }

  private func nextDue(at time: MonotonicTime) -> ScheduledAction? {
    state.update { state in
      guard let first = state.entries.first, first.deadline <= max(time, state.now) else { return nil }
      state.now = max(state.now, first.deadline)
      return state.entries.removeFirst().action
    }
  }

  /// Suspends until some action's time is near.
  ///
  /// - Parameter duration: How near.
  /// - Throws: `CancellationError` when the task is cancelled first.
  package func waitForDeadline(within duration: Duration) async throws {
    try await state.waitUntil { state in
      state.entries.first.map { $0.deadline <= state.now.advanced(by: duration) } ?? false
    }
  }

  /// Suspends until at least a number of actions wait for their time.
  ///
  /// - Parameter count: How many are awaited.
  /// - Throws: `CancellationError` when the task is cancelled first.
  public func waitForScheduled(count: Int) async throws {
    try await state.waitUntil { $0.entries.count >= count }
  }
}
