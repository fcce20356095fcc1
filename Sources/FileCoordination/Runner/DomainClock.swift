internal import FoundationEssentials
internal import SystemInterface

/// The clock of a domain, for threads that read it again and again or wait by it in the kernel.
///
/// The kernel knows the machine's clock only. A wait by another clock has no limit there, and that clock ends it.
struct DomainClock: Sendable {
  /// The clock that the domain was set up with.
  let base: any CoordinationClock
  /// Whether it's the machine's: reading that takes no dynamic call, and counts no references to the clock.
  private let isMachine: Bool
  /// The time since 1970 in milliseconds, which can be set, unlike the clock.
  let timeOfDay: @Sendable () -> UInt64

  init(
    _ base: any CoordinationClock,
    timeOfDay: @escaping @Sendable () -> UInt64 = { UInt64(max(Date.now.timeIntervalSince1970, 0) * 1000) }
  ) {
    self.base = base
    isMachine = base is HostClock
    self.timeOfDay = timeOfDay
  }

  @inline(__always)
  var now: MonotonicTime { isMachine ? HostClock.shared.now : base.now }

  /// Blocks until a time, or until an event that occurs before it.
  ///
  /// - Parameters:
  ///   - deadline: The time on this clock.
  ///   - event: The event, which need not be shared with other code: it's also signalled at that time.
  func wait(until deadline: MonotonicTime, orFor event: ThreadEvent = ThreadEvent()) {
    waiting(until: deadline, wake: { event.signal() }) { deadline in
      if let deadline { _ = event.wait(until: deadline) } else { event.wait() }
    }
  }

  /// Runs something that waits in the kernel until a time at most.
  ///
  /// - Parameters:
  ///   - deadline: The time on this clock; `nil` waits without limit.
  ///   - wake: Ends the wait, or the next one.
  ///   - body: Waits until the time that it's given, which is the machine's; `nil` if somebody else ends the wait.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  func waiting<Result, Failure: Error>(
    until deadline: MonotonicTime?, wake: @escaping @Sendable () -> Void,
    _ body: (MonotonicTime?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let deadline, !isMachine else { return try body(deadline) }
    let alarm = base.schedule(at: deadline, wake)
    defer { alarm.cancel() }
    // The time may have come before the clock knew of it.
    if base.now >= deadline { wake() }
    return try body(nil)
  }
}
