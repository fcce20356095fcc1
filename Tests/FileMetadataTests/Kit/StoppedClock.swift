import SystemInterface

/// A clock that stands still, so that passing time causes nothing: neither polling nor waiting.
struct StoppedClock: CoordinationClock {
  let now = HostClock.shared.now

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    ScheduledAction(action)
  }
}
