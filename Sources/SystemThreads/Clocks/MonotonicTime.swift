internal import Glibc

/// A point in time that no change of the wall clock moves.
///
/// Times of one clock can be compared with each other, not with those of another clock or another boot.
public struct MonotonicTime: InstantProtocol, Hashable, Comparable, Sendable {
  /// The time since the origin of the clock, in nanoseconds.
  public var nanoseconds: Int64

  /// Creates a point in time.
  ///
  /// - Parameter nanoseconds: The time since the origin of the clock, in nanoseconds.
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// A time that never comes: 292 years after the origin.
  public static let distantFuture = MonotonicTime(nanoseconds: .max)

  /// The time that is a duration away from this one.
  ///
  /// A part of a nanosecond is rounded up, so that a deadline is never early. A result outside the range of the type is
  /// its first or last time, and ``distantFuture`` stays where it is.
  ///
  /// - Parameter duration: How far to go; negative to go back.
  /// - Returns: The other time.
  public func advanced(by duration: Duration) -> MonotonicTime {
    guard self != .distantFuture else { return self }
    let (seconds, attoseconds) = duration.components
    let (whole, remainder) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let fraction = whole + (remainder > 0 ? 1 : 0)
    // 128 bits hold every sum of a duration and a time.
    let sum = Int128(nanoseconds) + Int128(seconds) * 1_000_000_000 + Int128(fraction)
    return MonotonicTime(nanoseconds: Int64(clamping: sum))
  }

  /// How long it takes from this time to another.
  ///
  /// - Parameter other: The other time.
  /// - Returns: The duration, negative if the other time is earlier.
  public func duration(to other: MonotonicTime) -> Duration {
    .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
  }

  /// Whether one time is earlier than another.
  public static func < (earlier: MonotonicTime, later: MonotonicTime) -> Bool {
    earlier.nanoseconds < later.nanoseconds
  }
}

extension MonotonicTime: CustomStringConvertible {
  /// The time since the origin, for example `12.5 seconds`.
  public var description: String { Duration.nanoseconds(nanoseconds).description }
}

extension MonotonicTime {
  /// Reads CLOCK_MONOTONIC, see clock_gettime(2).
  package static func host() -> MonotonicTime { read(CLOCK_MONOTONIC, "CLOCK_MONOTONIC") }

  /// Reads CLOCK_BOOTTIME, see clock_gettime(2), which goes on while the system is suspended.
  package static func hostSinceBoot() -> MonotonicTime { read(CLOCK_BOOTTIME, "CLOCK_BOOTTIME") }

  private static func read(_ clock: clockid_t, _ name: StaticString) -> MonotonicTime {
    var time = timespec()
    let result = unsafe clock_gettime(clock, &time)
    precondition(result == 0, "clock_gettime(\(name)) failed with errno \(errno)")
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}

extension timespec {
  /// The absolute time for a system call.
  ///
  /// Times before the origin become the origin: the kernel refuses negative ones.
  init(_ time: MonotonicTime) {
    let (seconds, nanoseconds) = max(0, time.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
    self.init(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
  }
}
