internal import SystemInterface

/// How long a thread stays awake for an event.
///
/// Two processes that talk to each other answer in less time than the kernel takes to put a thread to sleep and to wake
/// it again, from another processor above all. As long as that is so, polling for a moment pays. Where answers take
/// longer, because of waits or silence, less and less time is spent on that.
struct Watchfulness {
  /// How long it polls at most.
  private static let durationMax = Duration.microseconds(50)
  private static let durationMin = Duration.microseconds(1)
  /// A thread that was woken so soon would have seen the event awake, as the wake-up takes time as well.
  private static let shortWait = Duration.microseconds(100)

  private var duration = durationMin

  /// Polls for a moment, then sleeps.
  ///
  /// - Parameters:
  ///   - look: Checks for the event, without waiting.
  ///   - sleep: Waits for it.
  /// - Returns: The result of one of them.
  /// - Throws: The error of one of them.
  mutating func await<Result, Failure: Error>(
    _ look: () throws(Failure) -> Result?, orSleep sleep: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard Spin.isUseful else { return try sleep() }
    let start = HostClock.shared.now
    let end = start.advanced(by: duration)
    repeat {
      if let result = try look() {
        duration = min(duration * 2, Self.durationMax)
        return result
      }
      Spin.pause()
    } while HostClock.shared.now < end
    let result = try sleep()
    let isShort = start.duration(to: HostClock.shared.now) < Self.shortWait
    duration = isShort ? min(duration * 2, Self.durationMax) : max(duration / 2, Self.durationMin)
    return result
  }
}
