package import SystemInterface

/// Decides when a batch is delivered: a value that is given the time.
///
/// Its runner calls ``timePassed(at:)`` at ``deadline`` and delivers each ordered batch at once: after a delivery
/// nothing is pending.
package struct BatchSchedule: Hashable, Sendable {
  /// The batch to deliver.
  package enum Delivery: Hashable, Sendable {
    /// Results of the first search; more follow.
    case progress
    /// The last results of the first search, perhaps none.
    case finish
    /// Changes afterwards.
    case update
  }

  private enum Phase: Hashable {
    /// Nothing has been delivered. Ends with the first delivery.
    case first
    /// The first search goes on. Ends with ``Delivery/finish``.
    case gathering
    /// The first search is over, and that has been delivered. Lasts.
    case live
  }

  private let limits: MetadataBatching
  private var phase = Phase.first
  /// The first search is over, and that hasn't been delivered.
  private var isFinishPending = false
  private var pendingCount = 0
  /// When the pending changes began to wait.
  private var pendingSince: MonotonicTime?
  private var pauseDepth = 0

  package init(_ limits: MetadataBatching) { self.limits = limits }

  private var limit: MetadataBatching.Limit {
    switch phase {
    case .first: limits.first
    case .gathering: limits.gathering
    case .live: limits.live
    }
  }

  /// Whether nothing is delivered.
  package var isPaused: Bool { pauseDepth > 0 }

  /// When time alone makes a batch due.
  package var deadline: MonotonicTime? {
    guard !isPaused, let pendingSince else { return nil }
    return pendingSince.advanced(by: limit.delayMax)
  }

  /// There are so many undelivered changes now; fewer than before if some have cancelled each other out.
  package mutating func pendingChanged(to count: Int, at now: MonotonicTime) -> Delivery? {
    pendingCount = count
    pendingSince = count == 0 ? nil : pendingSince ?? now
    return due(at: now)
  }

  /// The first search is over.
  package mutating func gatheringFinished(at now: MonotonicTime) -> Delivery? {
    precondition(phase != .live && !isFinishPending, "a search that was over has finished again")
    isFinishPending = true
    return due(at: now)
  }

  /// It's later.
  package mutating func timePassed(at now: MonotonicTime) -> Delivery? { due(at: now) }

  /// Delivers nothing from now on; nests.
  package mutating func pause() { pauseDepth += 1 }

  /// Ends one ``pause()``; the last one delivers batches that have been waiting for longer than they should, or
  /// everything if `flushes`.
  package mutating func resume(at now: MonotonicTime, flushes: Bool) -> Delivery? {
    precondition(pauseDepth > 0, "resumed without having been paused")
    pauseDepth -= 1
    return flushes && !isPaused && pendingCount > 0 ? deliver() : due(at: now)
  }

  /// Delivers everything that's pending at once, paused or not; `nil` if there's nothing to deliver.
  package mutating func flush() -> Delivery? { pendingCount > 0 || isFinishPending ? deliver() : nil }

  private mutating func due(at now: MonotonicTime) -> Delivery? {
    if isPaused { return nil }
    if isFinishPending { return deliver() }
    guard let deadline else { return nil }
    return pendingCount >= limit.countMax || deadline <= now ? deliver() : nil
  }

  private mutating func deliver() -> Delivery {
    pendingCount = 0
    pendingSince = nil
    if phase == .live { return .update }
    phase = isFinishPending ? .live : .gathering
    defer { isFinishPending = false }
    return isFinishPending ? .finish : .progress
  }
}
