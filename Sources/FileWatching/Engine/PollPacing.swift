package import SystemInterface

/// When to look at what isn't watched.
package struct PollPacing: Sendable {
  private let interval: Duration
  /// When to look next, if at all.
  package private(set) var next: MonotonicTime?
  /// When the look began that goes on.
  private var began: MonotonicTime?

  /// Looking takes at most one part in so many of the time.
  private static let share = 20

  /// - Parameter interval: How often to look, at most.
  package init(interval: Duration) { self.interval = interval }

  /// Has the indexer look if it's time, and plans when it's time again.
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
