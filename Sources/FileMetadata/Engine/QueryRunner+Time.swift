internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

extension QueryRunner {
  /// The moment from which on the result for some file may differ though it doesn't change.
  var nextMoment: MetadataDate? { moments.first }

  /// Evaluates files again whose results may differ with the passing of time.
  ///
  /// - Note: Rule R40.
  func momentPassed(_ now: TableSnapshot, _ health: ScopeHealth, at time: MonotonicTime) {
    let due = moments.takeDue(at: plan.wallClock.now())
    if !due.isEmpty { filesChanged(due, now, health, at: time) }
  }

  /// The numbers are computed only if the query depends on the time: there may be a million.
  func noteMoments(_ numbers: @autoclosure () -> some Sequence<FileNumber>, _ now: TableSnapshot) {
    let plan = plan
    guard plan.predicate.isTimeDependent, plan.predicate.isForeseeable else { return }
    let environment = plan.environment
    let item = plan.item(in: now)
    for number in numbers() { moments.set(plan.nextMoment(of: number, item, now, environment), for: number) }
  }
}
