internal import Glibc

/// The clock of the machine that tells the time of day: it may be wrong, and be set back.
package enum HostWallClock {
  /// In nanoseconds since 1970; see clock_gettime(2), CLOCK_REALTIME.
  package static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
