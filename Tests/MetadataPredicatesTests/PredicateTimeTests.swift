import MetadataPredicates
import SeededRandom
import Testing

@Suite("When a predicate about the present moment has another result")
struct PredicateTimeTests {
  private static let noon = 700_056_000.0
  private static let hour = 3_600.0
  /// Two hours ahead of UTC, and one from a certain moment on, as when summer ends.
  private static let calendar = PredicateCalendar { moment in
    moment.secondsSince2001 < noon + 13 * hour ? 7_200 : 3_600
  }

  private func environment(_ seconds: Double) -> PredicateEnvironment {
    PredicateEnvironment(now: MetadataDate(secondsSince2001: seconds), calendar: Self.calendar)
  }

  private static func item(_ date: Double, _ other: Double) -> MetadataValue {
    [
      "date": .date(MetadataDate(secondsSince2001: date)), "other": .date(MetadataDate(secondsSince2001: other)),
      "dates": .array([.date(MetadataDate(secondsSince2001: date)), .date(MetadataDate(secondsSince2001: other))]),
      "size": 3,
    ]
  }

  private static func predicate(_ text: String) throws -> CompiledPredicate {
    let predicate =
      text.contains("$time") ? try MetadataPredicate(query: text) : try MetadataPredicate(format: text)
    return try predicate.compiled()
  }

  private static let foreseeable = [
    "date >= $time.now(-3600)", "date < $time.now(-60) && other > $time.now(7200)", "date >= $time.today",
    "date >= $time.yesterday && other < $time.this_week(1)", "date > $time.now(-1d)", "other <= $time.this_month",
    "date > now()", "NOT (date + 600 < now())", "now() - date > 3600",
    "-CAST(date, 'NSNumber') > -CAST(now(), 'NSNumber')",
    "date BETWEEN {now() - 600, now() + 600}", "ANY dates > now() - 30", "ALL dates < now()", "date == now()",
    "size == 3 AND date != now() OR other >= today()", "missing > now()", "size > now()",
  ]

  @Test(
    "R40: the result of a predicate doesn't change before the foreseen moment",
    arguments: foreseeable)
  func soundness(text: String) throws {
    let predicate = try Self.predicate(text)
    #expect(predicate.isTimeDependent && predicate.isForeseeable)
    var random = SplitMix(seed: 7)
    func distance() -> Double { (Double(random.below(200_001)) - 100_000) / 10 }
    var changeCount = 0
    for _ in 0..<200 {
      let now = Self.noon + distance() * 6
      let item = Self.item(now + distance(), now + distance())
      let isMatch = predicate.matches(item, in: environment(now))
      let moment = predicate.nextMoment(for: item, in: environment(now))?.secondsSince2001
      if let moment { #expect(moment > now) }
      let end = min(moment ?? .infinity, now + 40 * Self.hour)
      for step in 0..<40 {
        let time = now + (end - now) * Double(step) / 40
        #expect(predicate.matches(item, in: environment(time)) == isMatch, "\(time - now) s behind \(now)")
      }
      if let moment, predicate.matches(item, in: environment(moment)) != isMatch { changeCount += 1 }
    }
    if text.hasPrefix("date >= $time.now") { #expect(changeCount > 0) }
  }

  @Test("A date that's compared with now alone changes at that moment, and never again")
  func exactness() throws {
    let predicate = try Self.predicate("date >= $time.now(-3600)")
    let item = Self.item(Self.noon, 0)
    let moment = try #require(predicate.nextMoment(for: item, in: environment(Self.noon + 1)))
    #expect(abs(moment.secondsSince2001 - Self.noon - 3_600) < 1e-5)
    #expect(predicate.matches(item, in: environment(Self.noon + 3_600)))
    #expect(!predicate.matches(item, in: environment(moment.secondsSince2001)))
    #expect(predicate.nextMoment(for: item, in: environment(moment.secondsSince2001)) == nil)
    // At the very moment, it's going to change at once.
    let last = try #require(predicate.nextMoment(for: item, in: environment(Self.noon + 3_600)))
    #expect(last.secondsSince2001 - Self.noon - 3_600 < 1e-5)
  }

  @Test("S6: days begin at local midnight")
  func midnight() throws {
    let predicate = try Self.predicate("date >= $time.today")
    let moment = try #require(predicate.nextMoment(for: Self.item(0, 0), in: environment(Self.noon)))
    #expect(moment.secondsSince2001 == Self.noon + 10 * Self.hour)
  }

  @Test(
    "Where nobody can tell beforehand, that's said",
    arguments: [
      "TERNARY(date > now(), 1, 2) == 1", "SUBQUERY(dates, $d, $d > now()).@count > 1", "now() * 2 > date",
      "date IN {now()}", "ANYKEY > now()", "($x := now()) > date", "random() < now()",
    ])
  func unforeseeable(text: String) throws {
    let predicate = try Self.predicate(text)
    #expect(predicate.isTimeDependent && !predicate.isForeseeable)
  }

  @Test("A predicate that doesn't depend on time never changes with it")
  func timeless() throws {
    let predicate = try Self.predicate("date > CAST(700000000, 'NSDate') AND size == 3")
    #expect(!predicate.isTimeDependent && predicate.isForeseeable)
    #expect(predicate.nextMoment(for: Self.item(0, 0), in: environment(Self.noon)) == nil)
    #expect(try Self.predicate("date > now()").nextMoment(for: Self.item(0, 0), in: .standard) == nil)
  }
}
