import SystemInterface

/// A clock that stands still, so that nothing is done because time passes: neither polling nor waiting.
struct StoppedClock: CoordinationClock {
  let now = HostClock.shared.now

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    ScheduledAction(action)
  }
}
