internal import CompactContainers

/// The seconds of dates, which count from the beginning of 2001, and days of the Gregorian calendar.
enum CivilTime {
  static let secondsPerDay = 86_400.0
  /// 2001-01-01, the day that dates count from.
  private static let firstDay = CivilDate.dayNumber(year: 2001, month: 1, day: 1)

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
    let days = CivilDate.dayNumber(year: year, month: month, day: day)
    // The 31st of a shorter month would be a day of the next one.
    guard CivilDate(dayNumber: days).day == day else { return nil }
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
