package import SystemInterface

/// When everything is read again because events were lost.
///
/// The first time is at once. If events are lost again soon after, more is changed than can be read, and reading
/// everything over and over would make that worse. Then the pause is as long as the last reading took, twice as long
/// the next time, and so on. A caller that waits for the current state isn't held up by that.
package struct RereadPacing: Sendable {
  /// When to read, if that has to wait.
  package private(set) var next: MonotonicTime?
  /// When the reading began that goes on.
  private var began: MonotonicTime?
  /// When the last reading ended.
  private var ended: MonotonicTime?
  /// When it was seen that events had been lost since.
  private var lost: MonotonicTime?
  /// How long the last reading took.
  private var cost = Duration.zero
  /// How many times as long nothing is read.
  private var share = 0

  /// Reading takes at least one part in so many of the time, however often events are lost.
  private static let shareMax = 20

  package init() {}

  /// Makes the indexer read everything again if it's behind and it's time, and plans the time otherwise.
  ///
  /// - Parameters:
  ///   - indexer: The indexer that reads.
  ///   - isAwaited: Whether a caller waits for the current state.
  ///   - now: The time.
  package mutating func readAgain(_ indexer: ScopeIndexer, isAwaited: Bool, at now: MonotonicTime) {
    if indexer.hasWork { return }
    if let began {
      self.began = nil
      ended = now
      cost = began.duration(to: now)
    }
    next = nil
    if !indexer.isBehind { return }
    let lost = lost ?? now
    self.lost = lost
    let isCalm = ended.map { $0.duration(to: lost) >= cost * Self.shareMax } ?? true
    let due = isCalm ? now : ended?.advanced(by: cost * share) ?? now
    guard isAwaited || due <= now else {
      next = due
      return
    }
    self.lost = nil
    share = isCalm ? 1 : min(2 * share, Self.shareMax)
    began = now
    indexer.readAgain()
  }
}
