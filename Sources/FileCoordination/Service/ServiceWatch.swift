internal import CoordinationService
internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

/// Sees to it that nobody waits without end for a service whose process is stopped.
///
/// Deadlines are the service's, and a process that's stopped keeps none. While somebody waits for it, each process looks
/// once a second whether it runs.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `isLooking` | itself | one look is scheduled at a time |
/// | `stoppedSince` | its lock | looks follow each other on the clock's thread |
final class ServiceWatch: Sendable {
  private let isLooking = Atomic<Bool>(false)
  private let stoppedSince = Guarded<MonotonicTime?>(nil)
  private static let interval = Duration.seconds(1)
  /// How long a service may be stopped before those who wait for it are told.
  static let tolerance = Duration.seconds(5)

  /// Looks from time to time, as long as somebody waits.
  func begin(_ link: ServiceLink) {
    if isLooking.load(ordering: .relaxed) || isLooking.exchange(true, ordering: .acquiringAndReleasing) { return }
    schedule(link)
  }

  private func schedule(_ link: ServiceLink) {
    _ = HostClock.shared.schedule(at: HostClock.shared.now.advanced(by: Self.interval)) { [weak link] in
      if let link { self.look(link) }
    }
  }

  private func look(_ link: ServiceLink) {
    guard link.isAwaited else {
      stoppedSince.withLock { $0 = nil }
      isLooking.store(false, ordering: .sequentiallyConsistent)
      // Somebody may have begun to wait after the look.
      if link.isAwaited { begin(link) }
      return
    }
    if let process = link.stoppedService, hasBeenStoppedForTooLong() { link.giveUpOnStopped(process) }
    schedule(link)
  }

  private func hasBeenStoppedForTooLong() -> Bool {
    let now = HostClock.shared.now
    return stoppedSince.withLock { since in
      if let since { return since.duration(to: now) >= Self.tolerance }
      since = now
      return false
    }
  }

  func noteRunning() { stoppedSince.withLock { $0 = nil } }
}

extension ServiceLink {
  /// Something has been told that's answered.
  func expectAnswer() {
    connectIfIdle()
    watch.begin(self)
  }

  /// Whether somebody waits for the service's answer.
  var isAwaited: Bool { state.withLock { !$0.questions.isEmpty } || host?.isAwaitingService == true }

  /// The service's process, if it's connected and stopped.
  var stoppedService: Int32? {
    let process = serviceProcess.load(ordering: .acquiring)
    if process != 0, ProcessIdentity.isStopped(process) { return process }
    watch.noteRunning()
    return nil
  }

  /// Those who wait are told why, instead of waiting for as long as somebody holds up another process.
  func giveUpOnStopped(_ process: Int32) {
    let error = FileCoordinationError.serviceStopped(process, name: ProcessIdentity.name(of: process) ?? "")
    let questions = state.withLock { exchange(&$0.questions, with: [:]) }
    for question in questions.values { question.resolve(.unreachable(error)) }
    host?.serviceIsStopped(error)
  }
}

extension ArbiterHost {
  var isAwaitingService: Bool {
    withState { state in
      state.remote?.requests.keys.contains { state.waiters[$0]?.isGranted == false } == true
    }
  }

  /// Accesses that wait, but not for ever, wait no longer.
  func serviceIsStopped(_ error: FileCoordinationError) {
    let waiters = withState { state -> [AccessWaiter] in
      var failed: [AccessWaiter] = []
      for (id, request) in (state.remote?.requests ?? [:]).sorted(by: { $0.key < $1.key }) {
        // One that has its token is being granted.
        guard request.limits.waiting != nil, let waiter = state.waiters[id], !waiter.isGranted, waiter.token == nil
        else { continue }
        state.waiters[id] = nil
        _ = state.tell(.accessCancelled(id), at: 0)
        failed.append(waiter)
      }
      return failed
    }
    link?.flush()
    for waiter in waiters { waiter.resolve(.unreachable(error)) }
  }
}
