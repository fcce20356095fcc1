import SystemInterface

/// A clock that stands still, so that passing time causes nothing: neither polling nor waiting.
struct StoppedClock: CoordinationClock {
  let now = MonotonicTime(nanoseconds: 1 << 40)

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    ScheduledAction(action)
  }
}
