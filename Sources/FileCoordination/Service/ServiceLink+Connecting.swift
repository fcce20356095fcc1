internal import CoordinationService
internal import Synchronization
internal import SystemInterface

// From one service to the next.

/// The first connection after a time without one, for the threads that wait for it.
final class ConnectionAttempt: Sendable {
  private let event = ThreadEvent()
  private let failure = Guarded<FileCoordinationError?>(nil)

  func succeed() { event.signal() }

  func fail(_ error: FileCoordinationError) {
    failure.withLock { $0 = error }
    event.signal()
  }

  func wait() throws(FileCoordinationError) {
    event.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

extension ServiceLink {
  /// Ensures that there's a service: blocks until there is one the first time.
  ///
  /// Between two services it doesn't block: requests made meanwhile are sent to the next.
  ///
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable`, and the reason.
  func ensureConnected() throws(FileCoordinationError) {
    let (attempt, isMine) = state.withLock { state -> (ConnectionAttempt?, Bool) in
      switch state.phase {
      case .connected, .ended: return (nil, false)
      case .connecting: return (state.attempt, false)
      case .idle:
        let attempt = ConnectionAttempt()
        state.phase = .connecting
        state.attempt = attempt
        return (attempt, true)
      }
    }
    guard let attempt else { return }
    if isMine { startReading() }
    watch.begin(self)
    try attempt.wait()
  }

  /// Without a thread no service can be reached: every wait ends with that error.
  private func startReading() {
    let code = HostThread.tryStart(name: "coordination") { self.run() }
    if code != 0 { giveUp(.noThread(errno: code)) }
  }

  private func run() {
    do throws(FileCoordinationError) {
      var reader = try LinkReader(self)
      defer { reader.end() }
      while !isEnded { try reader.talkToNextService() }
    } catch {
      giveUp(error)
    }
  }

  /// The service can't be reached: every wait for it ends with the error.
  private func giveUp(_ error: FileCoordinationError) {
    // All of it before another thread may try again.
    serviceProcess.store(0, ordering: .releasing)
    host?.serviceIsUnreachable(error)
    let attempt = state.withLock { state in
      if case .ended = state.phase {} else { state.phase = .idle }
      return state.attempt.take()
    }
    attempt?.fail(error)
    // A request has come after the waits had ended.
    if isAwaited { connectIfIdle() }
  }

  /// Pending requests are to reach a service, or to fail.
  ///
  /// After a request that's answered: the link may have given up since ``ensureConnected()``.
  func connectIfIdle() {
    let isIdle = state.withLock { state in
      guard case .idle = state.phase else { return false }
      state.phase = .connecting
      state.attempt = ConnectionAttempt()
      return true
    }
    if isIdle { startReading() }
  }

  /// The service has accepted: the client's state is sent to it.
  func begin(_ welcome: Welcome, _ stream: LocalStream) {
    // Not the number that the service states: it may be in another namespace of processes, where it has another number.
    // Zero if it has none here.
    serviceProcess.store((try? stream.peer().pid) ?? 0, ordering: .releasing)
    let attempt = state.withLock { state -> ConnectionAttempt? in
      if case .ended = state.phase { return nil }
      state.phase = .connected(stream)
      state.outbox = []
      state.writtenCount = 0
      state.isStalled = false
      return state.attempt.take()
    }
    // Sends the state that was kept for it.
    host?.serviceHasAccepted(welcome)
    attempt?.succeed()
  }

  /// The connection has broken: from now on the client keeps everything for the next service.
  func connectionHasEnded() {
    serviceProcess.store(0, ordering: .releasing)
    state.withLock { state in
      if case .ended = state.phase { return }
      state.phase = .connecting
      state.outbox = []
    }
    host?.serviceIsGone()
  }
}
