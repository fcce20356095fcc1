/// Days, months and years of the Gregorian calendar, by arithmetic alone.
enum CivilTime {
  static let secondsPerDay = 86_400.0
  /// 2001-01-01, the day that dates count from.
  private static let firstDay = days(year: 2001, month: 1, day: 1)

  /// Counts days from 0000-03-01, so that the leap day is the last one of a year.
  static func days(year: Int, month: Int, day: Int) -> Int {
    let months = year * 12 + month - 3
    let marchYear = floorDivide(months, 12)
    let marchMonth = months - marchYear * 12
    let leapDays = floorDivide(marchYear, 4) - floorDivide(marchYear, 100) + floorDivide(marchYear, 400)
    return marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1
  }

  /// The year and month of a day, and the day in it.
  static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let era = floorDivide(days, 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }

  private static func floorDivide(_ number: Int, _ divisor: Int) -> Int {
    number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
  }

  /// Seconds from the beginning of 2001 to that of a day.
  static func seconds(days: Int) -> Double { Double(days - firstDay) * secondsPerDay }

  /// The day of a moment that is given in local seconds since the beginning of 2001.
  static func day(ofSeconds seconds: Double) -> Int { Int((seconds / secondsPerDay).rounded(.down)) + firstDay }

  /// 0 for Monday to 6 for Sunday.
  ///
  /// 0000-03-01 was a Wednesday.
  static func weekday(ofDay day: Int) -> Int { ((day + 2) % 7 + 7) % 7 }

  // MARK: ISO 8601

  /// Reads `2018-10-01`, `2018-10-01T10:00`, `2018-10-01T10:00:30.5Z` or with an offset such as `+02:00`; without one it's UTC.
  static func date(iso8601 text: String) -> MetadataDate? {
    var rest = Substring(text)
    guard let year = number(&rest, 4), take("-", &rest), let month = number(&rest, 2), (1...12).contains(month),
      take("-", &rest), let day = number(&rest, 2), day >= 1
    else { return nil }
    let days = days(year: year, month: month, day: day)
    // The 31st of a shorter month would be a day of the next one.
    guard civil(days: days).day == day else { return nil }
    guard let time = timeOfDay(&rest), rest.isEmpty else { return nil }
    return MetadataDate(secondsSince2001: seconds(days: days) + time)
  }

  private static func timeOfDay(_ rest: inout Substring) -> Double? {
    if rest.isEmpty { return 0 }
    guard take("T", &rest) || take(" ", &rest), let hour = number(&rest, 2), hour < 25, take(":", &rest),
      let minute = number(&rest, 2), minute < 60
    else { return nil }
    var seconds = Double(hour * 3_600 + minute * 60)
    if take(":", &rest) {
      guard let second = number(&rest, 2), second < 61 else { return nil }
      seconds += Double(second)
      if take(".", &rest) {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, let fraction = Double("0." + digits) else { return nil }
        seconds += fraction
        rest = rest[digits.endIndex...]
      }
    }
    if rest.isEmpty || take("Z", &rest) { return seconds }
    let sign = take("+", &rest) ? -1.0 : (take("-", &rest) ? 1.0 : 0)
    guard sign != 0, let hours = number(&rest, 2) else { return nil }
    _ = take(":", &rest)
    guard let minutes = number(&rest, 2) else { return nil }
    return seconds + sign * Double(hours * 3_600 + minutes * 60)
  }

  private static func number(_ rest: inout Substring, _ count: Int) -> Int? {
    let digits = rest.utf8.prefix(count).filter { (48...57).contains($0) }
    guard digits.count == count else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
  }

  private static func take(_ sign: Character, _ rest: inout Substring) -> Bool {
    guard rest.first == sign else { return false }
    rest.removeFirst()
    return true
  }
}
