internal import CoordinationService
internal import Synchronization
internal import SystemInterface

// From one service to the next.

/// The first connection after a time without one, for those who wait for it.
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
  /// Sees to it that there's a service: blocks until there is one the first time.
  ///
  /// Between two services it doesn't block: what's told meanwhile is told to the next.
  ///
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable`, which says why.
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

  /// Without a thread nobody can be reached: that's told to everybody who waits.
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

  /// The service can't be reached: everybody who waits for it is told so.
  private func giveUp(_ error: FileCoordinationError) {
    // All of it before somebody else may try again.
    serviceProcess.store(0, ordering: .releasing)
    host?.serviceIsUnreachable(error)
    let attempt = state.withLock { state in
      if case .ended = state.phase {} else { state.phase = .idle }
      return state.attempt.take()
    }
    attempt?.fail(error)
    // Somebody has asked after everybody was told.
    if isAwaited { connectIfIdle() }
  }

  /// Whatever has been told is to reach a service, or to fail.
  ///
  /// After telling something that's answered: the link may have given up since ``ensureConnected()``.
  func connectIfIdle() {
    let isIdle = state.withLock { state in
      guard case .idle = state.phase else { return false }
      state.phase = .connecting
      state.attempt = ConnectionAttempt()
      return true
    }
    if isIdle { startReading() }
  }

  /// The service has accepted: what has been kept for it is told.
  func begin(_ welcome: Welcome, _ stream: LocalStream) {
    // Not what the service says: it may be in another namespace of processes, where it has another number. Zero if it has none here.
    serviceProcess.store((try? stream.peer().pid) ?? 0, ordering: .releasing)
    let attempt = state.withLock { state -> ConnectionAttempt? in
      if case .ended = state.phase { return nil }
      state.phase = .connected(stream)
      state.outbox = []
      state.writtenCount = 0
      state.isStalled = false
      return state.attempt.take()
    }
    // Tells what has been kept for it.
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
