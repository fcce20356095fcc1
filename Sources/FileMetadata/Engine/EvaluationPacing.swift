internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

/// When predicates about the present moment are evaluated again: files begin and cease to match as time passes.
///
/// - Note: Rule R40.
struct EvaluationPacing {
  /// When to evaluate next.
  private(set) var next: MonotonicTime?
  /// When those predicates are evaluated for which the moment of change can't be predicted.
  private var nextOfUnforeseeable: MonotonicTime?
  /// By how much the clock on the wall is ahead of the other one, in seconds.
  private var lead: Double?

  private static let unforeseeableInterval = Duration.seconds(1)
  /// There's no event when the clock is set: that's polled, if it matters.
  private static let lookInterval = Duration.seconds(60)
  /// More than the clock is corrected by in that time without being set.
  private static let setMin = 0.25

  mutating func evaluate(
    _ runners: some Collection<QueryRunner>, _ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime
  ) {
    let dependent = runners.filter(\.plan.predicate.isTimeDependent)
    guard let wallNow = dependent.first?.plan.wallClock.now() else {
      self = EvaluationPacing()
      return
    }
    let isSet = noteLead(wallNow.secondsSince2001 - Double(time.nanoseconds) / 1e9)
    let isDue = nextOfUnforeseeable.map { $0 <= time } ?? false
    for runner in dependent {
      if isSet || isDue && !runner.plan.predicate.isForeseeable {
        runner.filesChanged(now.table.numbers, now, health, at: time)
      } else {
        runner.momentPassed(now, health, at: time)
      }
    }
    plan(dependent, wallNow, isDue: isDue, at: time)
  }

  private mutating func plan(_ runners: [QueryRunner], _ wallNow: MetadataDate, isDue: Bool, at time: MonotonicTime) {
    let areForeseeable = runners.allSatisfy(\.plan.predicate.isForeseeable)
    let hasNone = nextOfUnforeseeable == nil || isDue
    if areForeseeable {
      nextOfUnforeseeable = nil
    } else if hasNone {
      nextOfUnforeseeable = time.advanced(by: Self.unforeseeableInterval)
    }
    let look = time.advanced(by: Self.lookInterval)
    let moment = runners.compactMap(\.nextMoment).min().map { moment in
      let distance = moment.secondsSince2001 - wallNow.secondsSince2001
      // All that was due has just been evaluated: a calendar that says something is due again can't be foreseen.
      if distance <= 0 { return time.advanced(by: Self.unforeseeableInterval) }
      // Not the duration itself: that may be longer than there are numbers for.
      return time.advanced(by: .seconds(min(distance, 60)))
    }
    next = [moment, nextOfUnforeseeable, look].compactMap(\.self).min()
  }

  /// - Returns: Whether the clock has been set.
  private mutating func noteLead(_ new: Double) -> Bool {
    defer { lead = new }
    return lead.map { abs($0 - new) > Self.setMin } ?? false
  }
}
