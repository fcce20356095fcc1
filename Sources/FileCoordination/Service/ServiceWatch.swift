internal import CoordinationService
internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

/// Ensures that no wait for a service whose process is stopped lasts without end.
///
/// Deadlines are the service's, and a stopped process keeps none. So while an access waits for the service, each
/// process checks once a second, and when a deadline passes, whether the service's process runs. If it doesn't, the
/// waiting process keeps its own deadlines.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `nextLook` | its lock | of scheduled checks only the earliest counts |
/// | `stoppedSince` | its lock | checks follow each other on the clock's thread |
final class ServiceWatch: Sendable {
  private let nextLook = Guarded<MonotonicTime?>(nil)
  private let stoppedSince = Guarded<MonotonicTime?>(nil)
  private let clock: any CoordinationClock
  private static let interval = Duration.seconds(1)
  /// How long a service may be stopped before waits for it end.
  static let tolerance = Duration.seconds(5)

  init(_ clock: any CoordinationClock) { self.clock = clock }

  var now: MonotonicTime { clock.now }

  /// Checks from time to time, as long as an access waits.
  ///
  /// - Parameters:
  ///   - link: The connection to the service.
  ///   - deadline: The deadline of a wait.
  func begin(_ link: ServiceLink, before deadline: MonotonicTime? = nil) {
    let regular = clock.now.advanced(by: Self.interval)
    let time = deadline.map { min($0, regular) } ?? regular
    let isEarliest = nextLook.withLock { next in
      if let next, next <= time { return false }
      next = time
      return true
    }
    guard isEarliest else { return }
    _ = clock.schedule(at: time) { [weak link] in
      if let link, self.takeTurn(time) { self.look(link) }
    }
  }

  /// - Returns: Whether no earlier check was scheduled after the one for this time.
  private func takeTurn(_ time: MonotonicTime) -> Bool {
    nextLook.withLock { next in
      guard next == time else { return false }
      next = nil
      return true
    }
  }

  private func look(_ link: ServiceLink) {
    guard link.isAwaited else { return stoppedSince.withLock { $0 = nil } }
    let stopped = link.stoppedService
    if let stopped, hasBeenStoppedForTooLong() { link.giveUpOnStopped(stopped) }
    let deadline = link.keepDeadlines(insteadOf: stopped)
    begin(link, before: deadline)
  }

  private func hasBeenStoppedForTooLong() -> Bool {
    let now = clock.now
    return stoppedSince.withLock { since in
      if let since { return since.duration(to: now) >= Self.tolerance }
      since = now
      return false
    }
  }

  func noteRunning() { stoppedSince.withLock { $0 = nil } }
}

extension ServiceLink {
  func expectAnswer(before limit: Nanoseconds?) {
    connectIfIdle()
    watch.begin(self, before: limit.map { watch.now.advanced(by: .nanoseconds($0)) })
  }

  func noteCancellation() { watch.begin(self, before: watch.now) }

  /// Ends waits whose deadlines have passed, or that were cancelled, if the service is stopped and can't.
  ///
  /// - Parameter stopped: The process that serves, if it's stopped.
  /// - Returns: When the next of the others ends.
  func keepDeadlines(insteadOf stopped: Int32?) -> MonotonicTime? {
    let now = watch.now
    guard let stopped else { return keepDeadlines(withoutServiceAt: now) }
    let reason = FileCoordinationError.serviceStopped(stopped, name: ProcessIdentity.name(of: stopped) ?? "")
    host?.keepDeadlines(at: now, because: reason)
    return host?.nextDeadline(after: now)
  }

  /// As long as no service is found, it can't keep deadlines either.
  private func keepDeadlines(withoutServiceAt now: MonotonicTime) -> MonotonicTime? {
    let isConnecting = state.withLock { state in
      if case .connecting = state.phase { return true }
      return false
    }
    // As a rule one is found, or elected, in much less time, which gives accesses a try that don't wait at all.
    if isConnecting {
      let process = serviceProcess.load(ordering: .acquiring)
      let reason = process == 0 ? FileCoordinationError.noServiceYet : .notWelcomed(by: process)
      host?.keepDeadlines(at: now.advanced(by: .zero - Self.searchTime), because: reason)
    }
    return host?.nextDeadline(after: now)
  }

  private static let searchTime = Duration.seconds(1)

  /// Whether any wait depends on the service's answer.
  var isAwaited: Bool {
    state.withLock { $0.attempt != nil } || host?.isAwaitingService == true
  }

  /// The service's process, if it's connected and stopped.
  var stoppedService: Int32? {
    let process = serviceProcess.load(ordering: .acquiring)
    if process != 0, ProcessIdentity.isStopped(process) { return process }
    watch.noteRunning()
    return nil
  }

  /// Ends waits with the reason, instead of making them last as long as another process is stopped.
  func giveUpOnStopped(_ process: Int32) {
    let error = FileCoordinationError.serviceStopped(process, name: ProcessIdentity.name(of: process) ?? "")
    state.withLock { $0.attempt.take() }?.fail(error)
    host?.serviceIsStopped(error)
  }
}

extension ArbiterHost {
  /// Gives up an access that may wait; at once, also if the service is stopped.
  func cancel(_ id: AccessID) {
    step(.accessCancelled(id))
    transport.noteCancellation()
  }
}
