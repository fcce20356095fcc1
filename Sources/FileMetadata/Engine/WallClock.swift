internal import FoundationEssentials
internal import MetadataPredicates
internal import SystemInterface

/// The present moment, and the beginning of a day, for predicates.
struct WallClock: Sendable {
  /// The present moment, which can be set, unlike ``CoordinationClock``.
  let now: @Sendable () -> MetadataDate
  let calendar: PredicateCalendar

  /// That of the machine: days begin at local midnight.
  ///
  /// - Note: Rule S6.
  static let host = WallClock(
    now: { MetadataDate(secondsSince1970: Date.now.timeIntervalSince1970) },
    calendar: PredicateCalendar { moment in
      LocalTime.secondsAheadOfUTC(at: moment.secondsSince2001 + MetadataDate.secondsFrom1970To2001)
    })

  var environment: PredicateEnvironment { PredicateEnvironment(now: now(), calendar: calendar) }
}
