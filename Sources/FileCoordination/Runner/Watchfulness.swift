internal import Synchronization
internal import SystemInterface

/// How long a thread stays awake for an event.
///
/// Two processes that talk to each other, or a reader and the presenter that it asks, answer in less time than the kernel takes to put a thread to sleep and to wake
/// it again, from another processor above all. As long as that is so, polling for a moment pays. Where answers take
/// longer, because of waits or silence, less and less time is spent on that.
struct Watchfulness {
  /// How long it polls at most.
  private static let durationMax = Duration.microseconds(50)
  private static let durationMin = Duration.microseconds(1)
  /// A thread that was woken so soon would have seen the event awake, as the wake-up takes time as well.
  private static let shortWait = Duration.microseconds(100)

  /// How often it looks at most, should the clock stand still.
  ///
  /// A look and a pause take at least 0.05 µs, so by the machine's clock time is up before.
  private static let lookCountMax = 1024

  fileprivate var duration = durationMin

  /// Polls for a moment, then sleeps.
  ///
  /// - Parameters:
  ///   - clock: The clock that measures the wait.
  ///   - look: Looks whether it's there, without waiting.
  ///   - sleep: Waits for it.
  /// - Returns: The result of one of them.
  /// - Throws: The error of one of them.
  mutating func await<Result, Failure: Error>(
    by clock: DomainClock, _ look: () throws(Failure) -> Result?, orSleep sleep: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard Spin.isUseful else { return try sleep() }
    let start = clock.now
    let end = start.advanced(by: duration)
    var lookCount = 0
    repeat {
      lookCount += 1
      if let result = try look() {
        duration = min(duration * 2, Self.durationMax)
        return result
      }
      Spin.pause()
    } while lookCount < Self.lookCountMax && clock.now < end
    let result = try sleep()
    let isShort = start.duration(to: clock.now) < Self.shortWait
    duration = isShort ? min(duration * 2, Self.durationMax) : max(duration / 2, Self.durationMin)
    return result
  }
}

/// The watchfulness that the waiting threads of a domain have in common.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `nanoseconds` | is atomic | of two threads that wait at once, one remembers for both |
struct SharedWatchfulness: ~Copyable, Sendable {
  private let nanoseconds = Atomic<Int64>(Watchfulness().duration.wholeNanoseconds)

  /// Polls for a moment, then sleeps; see ``Watchfulness``.
  func await(by clock: DomainClock, _ isThere: () -> Bool, orSleep sleep: () -> Void) {
    var watchfulness = Watchfulness()
    watchfulness.duration = .nanoseconds(nanoseconds.load(ordering: .relaxed))
    watchfulness.await(by: clock, { isThere() ? () : nil }, orSleep: sleep)
    nanoseconds.store(watchfulness.duration.wholeNanoseconds, ordering: .relaxed)
  }
}

extension Duration {
  /// Of durations below a second.
  fileprivate var wholeNanoseconds: Int64 { components.attoseconds / 1_000_000_000 }
}
