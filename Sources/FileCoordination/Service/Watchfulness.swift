internal import SystemInterface

/// How long a thread stays awake for what it waits for.
///
/// Two processes that talk to each other answer in less time than the kernel takes to put a thread to sleep and to wake it
/// again, from another processor above all. As long as that is so, it's worth looking again and again for a moment. Where
/// it takes longer, because somebody has to be waited for or nobody says anything, less and less is spent on that.
struct Watchfulness {
  /// How long it looks at most.
  private static let durationMax = Duration.microseconds(50)
  private static let durationMin = Duration.microseconds(1)
  /// Who was woken so soon would have seen it awake, as the wake-up takes time as well.
  private static let shortWait = Duration.microseconds(100)

  private var duration = durationMin

  /// Looks again and again for a moment, then sleeps.
  ///
  /// - Parameters:
  ///   - look: Looks whether it's there, without waiting.
  ///   - sleep: Waits for it.
  /// - Returns: What one of them found.
  /// - Throws: What one of them throws.
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
