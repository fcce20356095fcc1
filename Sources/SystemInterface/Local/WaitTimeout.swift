internal import Glibc

/// Repeats a call that waits until it finds something, fails or the deadline has passed.
///
/// poll(2) and epoll_wait(2) count relative milliseconds: a wait that a signal interrupts goes on with the remaining
/// time, and one that is longer than an `Int32` holds goes in parts.
///
/// - Parameters:
///   - deadline: When to give up; `nil` waits without limit.
///   - body: The call with its timeout.
/// - Returns: The result of the call: how much it found, 0 at the deadline, -1 with `errno` on an error but EINTR.
func retryingWait(until deadline: MonotonicTime?, _ body: (_ timeout: Int32) -> Int32) -> Int32 {
  while true {
    let timeout = deadline.map { MonotonicTime.host().waitTimeout(until: $0) } ?? -1
    let result = body(timeout)
    if result > 0 || result == 0 && timeout == 0 || result < 0 && errno != EINTR { return result }
  }
}

extension MonotonicTime {
  /// The milliseconds from this time to a deadline, rounded up so that a wait doesn't end early.
  func waitTimeout(until deadline: MonotonicTime) -> Int32 {
    if deadline <= self { return 0 }
    // 128 bits hold the distance between any two times.
    return Int32(clamping: (Int128(deadline.nanoseconds) - Int128(nanoseconds) + 999_999) / 1_000_000)
  }
}
