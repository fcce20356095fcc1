package import SystemInterface

/// The life of a lease as its holder may count on it, as a value.
///
/// The holder counts from before a request was sent, and stops a margin before the server would. So it never counts on a lease that
/// the server has ended, unless the clocks of the two run at different speeds.
package struct LeaseCore: Hashable, Sendable {
  /// An order to the runner.
  package enum Order: Hashable, Sendable {
    /// Ask for a renewal at a time.
    case renew(at: MonotonicTime)
    /// The lease has ended.
    case end
  }

  /// The number of the lease.
  package let id: EtcdLeaseID
  /// Until when the holder may count on it.
  package private(set) var validUntil: MonotonicTime
  /// The time that the server gives it.
  package private(set) var ttl: Duration
  /// Whether the server has said that there's no such lease.
  package private(set) var isLost = false

  /// The part of the time that the holder doesn't count on.
  package static let marginDivisor = 10

  /// Begins with a lease.
  package init(_ id: EtcdLeaseID, ttl: Duration, askedAt: MonotonicTime) {
    self.id = id
    self.ttl = ttl
    validUntil = Self.end(ttl, askedAt)
  }

  private static func end(_ ttl: Duration, _ askedAt: MonotonicTime) -> MonotonicTime {
    askedAt.advanced(by: ttl - ttl / marginDivisor)
  }

  /// Whether the holder may count on it.
  package func isValid(at now: MonotonicTime) -> Bool { !isLost && now < validUntil }

  /// The order after the grant or a renewal.
  package func order(at now: MonotonicTime) -> Order {
    isValid(at: now) ? .renew(at: now.advanced(by: ttl / 3)) : .end
  }

  /// A renewal was answered.
  ///
  /// - Parameters:
  ///   - ttl: The time that the server gives it from the answer on; `nil` if there's no such lease (an answer without a time).
  ///   - askedAt: When the renewal was sent.
  ///   - now: The time.
  /// - Returns: The next order.
  package mutating func renewed(_ ttl: Duration?, askedAt: MonotonicTime, at now: MonotonicTime) -> Order {
    guard let ttl, ttl > .zero else {
      isLost = true
      return .end
    }
    // One that has ended for its holder stays so, even if the server hasn't noticed.
    guard isValid(at: now) else { return .end }
    self.ttl = ttl
    validUntil = max(validUntil, Self.end(ttl, askedAt))
    return order(at: now)
  }

  /// A renewal has failed: it's tried again soon, as long as there's time.
  package mutating func renewalFailed(_ error: EtcdError, at now: MonotonicTime) -> Order {
    if error.code == .leaseNotFound { isLost = true }
    guard isValid(at: now) else { return .end }
    return .renew(at: min(now.advanced(by: ttl / 10), validUntil))
  }
}
