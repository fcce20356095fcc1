package import SystemInterface

/// The times of polling, for places that aren't watched.
package struct PollPacing: Sendable {
  private let interval: Duration
  /// The time of the next poll, if any.
  package private(set) var next: MonotonicTime?
  /// When the present poll began.
  private var began: MonotonicTime?

  /// Polling takes at most one part in so many of the time.
  private static let share = 20

  /// - Parameter interval: How often to poll, at most.
  package init(interval: Duration) { self.interval = interval }

  /// Makes the indexer poll if it's time, and plans the next time.
  package mutating func poll(_ indexer: ScopeIndexer, at now: MonotonicTime) {
    if indexer.hasWork { return }
    let cost = began.map { $0.duration(to: now) } ?? .zero
    began = nil
    if !indexer.needsPolling {
      next = nil
    } else if let due = next, due <= now {
      next = nil
      began = now
      indexer.poll()
    } else if next == nil {
      next = now.advanced(by: max(interval, cost * Self.share))
    }
  }
}
