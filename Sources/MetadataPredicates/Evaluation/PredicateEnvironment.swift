internal import CompactContainers

/// The conditions of an evaluation besides the item: the moment, the calendar, the kinds of files, chance.
public struct PredicateEnvironment: Sendable {
  /// The present moment.
  ///
  /// Without one `now()` and Spotlight's `$time` give `nil`, and the evaluation reports a problem.
  public var now: MetadataDate?
  /// Where days, weeks, months and years begin.
  public var calendar = PredicateCalendar()
  /// Which uniform types are kinds of others.
  public var types = UniformTypeTree.standard
  /// The seed of `random()`.
  ///
  /// The same seed gives the same numbers.
  public var randomSeed: UInt64 = 0

  /// Makes an environment.
  ///
  /// - Parameters:
  ///   - now: The present moment.
  ///   - calendar: Where days begin; UTC unless said otherwise.
  public init(now: MetadataDate? = nil, calendar: PredicateCalendar = PredicateCalendar()) {
    self.now = now
    self.calendar = calendar
  }
}

/// The Gregorian calendar in some time zone.
public struct PredicateCalendar: Sendable {
  /// A day on which weeks begin.
  public enum Weekday: Int, Hashable, Sendable {
    case monday, tuesday, wednesday, thursday, friday, saturday, sunday
  }

  /// The day on which weeks begin.
  public var firstWeekday: Weekday
  /// How many seconds local time is ahead of UTC at a moment.
  public var secondsFromUTC: @Sendable (MetadataDate) -> Int

  /// Makes a calendar.
  ///
  /// - Parameters:
  ///   - firstWeekday: The day on which weeks begin.
  ///   - secondsFromUTC: How many seconds local time is ahead of UTC at a moment. Called on the thread of the evaluation.
  public init(
    firstWeekday: Weekday = .monday, secondsFromUTC: @escaping @Sendable (MetadataDate) -> Int = { _ in 0 }
  ) {
    self.firstWeekday = firstWeekday
    self.secondsFromUTC = secondsFromUTC
  }

  enum Unit: Character {
    case day = "d"
    case week = "w"
    case month = "m"
    case year = "y"
  }

  /// Farther from 2001 than that, in seconds (some 300,000 years), nothing is computed.
  private static let reach = 1e13
  private static let countMax = 1_000_000

  /// The beginning of a period around or beside a moment.
  ///
  /// - Parameters:
  ///   - unit: The length of the period.
  ///   - moment: A moment in the period from which to count.
  ///   - count: How many of `step` to go on from there; backwards if negative.
  ///   - step: The unit of `count`.
  /// - Returns: That moment; `nil` if it's too far away.
  func beginning(of unit: Unit, around moment: MetadataDate, movedBy count: Int, _ step: Unit) -> MetadataDate? {
    guard abs(moment.secondsSince2001) < Self.reach, abs(count) <= Self.countMax else { return nil }
    let local = moment.secondsSince2001 + Double(secondsFromUTC(moment))
    var day = CivilTime.day(ofSeconds: local)
    let date = CivilDate(dayNumber: day)
    switch unit {
    case .day: break
    case .week: day -= (CivilTime.weekday(ofDay: day) - firstWeekday.rawValue + 7) % 7
    case .month: day -= date.day - 1
    case .year: day = CivilDate.dayNumber(year: date.year, month: 1, day: 1)
    }
    return utc(localSeconds: CivilTime.seconds(days: moved(day, by: count, step)))
  }

  private func moved(_ day: Int, by count: Int, _ step: Unit) -> Int {
    switch step {
    case .day: return day + count
    case .week: return day + 7 * count
    case .month, .year:
      let date = CivilDate(dayNumber: day)
      let month = date.month + (step == .month ? count : 12 * count)
      let first = CivilDate.dayNumber(year: date.year, month: month, day: 1)
      let length = CivilDate.dayNumber(year: date.year, month: month + 1, day: 1) - first
      return first + min(date.day, length) - 1
    }
  }

  /// The offset is that of the moment itself, which depends on the offset: a second computation settles it.
  ///
  /// Where clocks are set forward at midnight, the day begins in that moment: by the offset before.
  private func utc(localSeconds: Double) -> MetadataDate {
    let guess = localSeconds - offset(at: localSeconds)
    let moment = localSeconds - offset(at: guess)
    let before = offset(at: moment)
    return MetadataDate(secondsSince2001: moment + before < localSeconds ? localSeconds - before : moment)
  }

  private func offset(at secondsSince2001: Double) -> Double {
    Double(secondsFromUTC(MetadataDate(secondsSince2001: secondsSince2001)))
  }
}
