// Public for the other targets of this package alone, which get specialized code for it; no product offers it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// A day of the Gregorian calendar, by arithmetic alone.
public struct CivilDate: Equatable, Sendable {
  public let year: Int
  public let month: Int
  public let day: Int

  /// The date of a day.
  ///
  /// - Parameter number: Days since 0000-03-01.
  public init(dayNumber number: Int) {
    let era = Self.floorDivide(number, 146_097)
    let dayOfEra = number - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
  }

  /// The date of a moment in UTC.
  public init(secondsSince1970 seconds: Int64) {
    self.init(dayNumber: Self.dayNumber(year: 1970, month: 1, day: 1) + Self.floorDivide(Int(seconds), 86_400))
  }

  /// How many days lie between 0000-03-01 and a date, so that the leap day is the last one of a year.
  ///
  /// Months and days may be beyond their year or month: they count on from its beginning.
  public static func dayNumber(year: Int, month: Int, day: Int) -> Int {
    let months = year * 12 + month - 3
    let marchYear = floorDivide(months, 12)
    let marchMonth = months - marchYear * 12
    let leapDays = floorDivide(marchYear, 4) - floorDivide(marchYear, 100) + floorDivide(marchYear, 400)
    return marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1
  }

  private static func floorDivide(_ number: Int, _ divisor: Int) -> Int {
    number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
  }
}
