internal import Glibc

/// The time that clocks on the wall show here.
package enum LocalTime {
  /// How many seconds local time is ahead of UTC at a moment, by localtime_r(3).
  ///
  /// - Parameter seconds: The moment, in seconds since 1970-01-01T00:00:00Z.
  /// - Returns: The difference; 0 for a moment that's too far away for a calendar.
  package static func secondsAheadOfUTC(at seconds: Double) -> Int {
    guard let whole = Int(exactly: seconds.rounded(.down)) else { return 0 }
    var moment = time_t(whole)
    var local = unsafe tm()
    // localtime_r(3) needn't read the time zone by itself.
    _ = isPrepared
    return unsafe localtime_r(&moment, &local) == nil ? 0 : Int(local.tm_gmtoff)
  }

  private static let isPrepared: Void = tzset()
}
