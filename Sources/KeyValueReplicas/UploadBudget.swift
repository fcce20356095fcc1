/// How many uploads a replica may make: a token bucket (KV-11).
///
/// A few may follow each other at once, and then one in each interval.
package struct UploadBudget: Hashable, Sendable {
  /// How many uploads may follow each other at once.
  package let countMax: Int
  /// In nanoseconds: how long it takes until one more is allowed.
  package let interval: Int64
  private(set) var count: Int
  /// When the last token was added.
  private(set) var addedAt: Int64?

  /// - Parameters:
  ///   - countMax: At least one.
  ///   - interval: In nanoseconds; zero for no limit.
  package init(countMax: Int = 5, interval: Int64 = 12_000_000_000) {
    self.countMax = max(1, countMax)
    self.interval = max(0, interval)
    count = self.countMax
  }

  /// A budget of which some is used up.
  init(countMax: Int, interval: Int64, count: Int, addedAt: Int64?) {
    self.init(countMax: countMax, interval: interval)
    self.count = max(0, min(count, self.countMax))
    self.addedAt = addedAt
  }

  /// The same use with other limits.
  package func limited(countMax: Int, interval: Int64) -> UploadBudget {
    UploadBudget(
      countMax: countMax, interval: interval, count: count == self.countMax ? countMax : count, addedAt: addedAt)
  }

  /// The instant from which an upload is allowed, in nanoseconds: `now` if it's allowed already.
  package func next(at now: Int64) -> Int64 {
    let filled = filled(at: now)
    if filled.count > 0 { return now }
    let (next, isOver) = (filled.addedAt ?? now).addingReportingOverflow(interval)
    return isOver ? .max : next
  }

  /// Counts from the present on if the clock was set back: a clock that was ahead once would hold uploads back until that time comes.
  mutating func notice(_ now: Int64) {
    if let addedAt, now < addedAt { self.addedAt = now }
  }

  /// - Returns: Whether an upload is allowed now; then it's counted.
  package mutating func take(at now: Int64) -> Bool {
    self = filled(at: now)
    if count == 0 { return false }
    if count == countMax { addedAt = now }
    count -= 1
    return true
  }

  private func filled(at now: Int64) -> UploadBudget {
    var filled = self
    guard let addedAt, interval > 0 else {
      filled.count = countMax
      return filled
    }
    // A clock that was set back gives nothing, and takes no more than one interval.
    if now < addedAt {
      filled.addedAt = now
      return filled
    }
    let added = (now - addedAt) / interval
    filled.count = added >= Int64(countMax - count) ? countMax : count + Int(added)
    filled.addedAt = addedAt + added * interval
    return filled
  }
}
