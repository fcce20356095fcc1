internal import Synchronization
internal import SystemInterface

// A message to a presenter would wake two threads one after the other: the reading thread, and one that runs the callback. So a process
// with presenters has a thread that does both. It reads as long as it's free. While it runs a callback, the reading thread reads: callbacks may
// wait, and only the reading thread finds the next service.

extension ReadingTurn {
  /// The state of the thread that reads and runs callbacks.
  struct CallbackReader: Sendable {
    enum Life: Sendable {
      /// No presenter has received a message yet.
      case notStarted
      /// The system has refused a thread or a descriptor. Another conversation may begin when there are some.
      case refused
      case running(ReadinessPoller)
      case ended
    }

    private(set) var life = Life.notStarted
    /// It waits for messages.
    var isFree = false
    /// The next message wakes it.
    private(set) var isArmed = false

    /// It has been woken, perhaps for nothing: the kernel reports a message once.
    mutating func noteWakeUp() { isArmed = false }

    mutating func watch(_ stream: LocalStream, _ isWanted: Bool) {
      guard isWanted != isArmed, case .running(let poller) = life else { return }
      isArmed = isWanted
      // It fails when the stream isn't watched any more.
      try? poller.modify(
        stream, token: ReadingTurn.token, awaiting: isWanted ? [.readable, .once] : .once)
    }

    /// - Returns: Whether the thread is to be started.
    mutating func start(_ stream: LocalStream) -> Bool {
      guard case .notStarted = life else { return false }
      do throws(SystemError) {
        let poller = try ReadinessPoller()
        try poller.add(stream, token: ReadingTurn.token, awaiting: .once)
        life = .running(poller)
        return true
      } catch {
        life = .refused
        return false
      }
    }

    mutating func begin(_ stream: LocalStream) {
      isArmed = false
      switch life {
      case .running(let poller): try? poller.add(stream, token: ReadingTurn.token, awaiting: .once)
      case .refused: life = .notStarted
      case .notStarted, .ended: break
      }
    }

    func end(_ stream: LocalStream) {
      if case .running(let poller) = life { poller.remove(stream) }
    }

    mutating func noteRefusal() {
      isFree = false
      life = .refused
    }

    mutating func endThread() {
      if case .running(let poller) = life { poller.wake() }
      isFree = false
      life = .ended
    }
  }
}

// MARK: - The reading thread

extension ReadingTurn {
  /// Starts the thread that runs callbacks, if there's none.
  ///
  /// Without it other threads run them.
  ///
  /// - Parameters:
  ///   - conversation: The conversation, of which the caller has the turn.
  ///   - link: Where the messages go.
  func startCallbackReader(_ conversation: Conversation, for link: ServiceLink) {
    guard state.withLock({ $0.callbacks.start(conversation.stream) }) else { return }
    let code = HostThread.tryStart(name: "coord-callbacks") { self.runCallbacks(for: link) }
    if code != 0 { state.withLock { $0.callbacks.noteRefusal() } }
  }

  /// No service is searched for any more.
  func endCallbackReader() { state.withLock { $0.callbacks.endThread() } }
}

// MARK: - The thread that runs callbacks

extension ReadingTurn {
  private func runCallbacks(for link: ServiceLink) {
    while let conversation = borrowForCallbacks() {
      let pool = ElasticThreadPool.shared
      let job = pool.keepingFirstJob { conversation.read(for: link) }
      giveBack(conversation, isFree: job == nil)
      if let job { pool.run(job) }
    }
  }

  /// Waits for messages, and takes the turn.
  ///
  /// - Returns: The conversation to read; `nil` if the thread has to end.
  private func borrowForCallbacks() -> Conversation? {
    var events: [ReadinessPoller.Event] = []
    while let poller = awaitNext() {
      guard (try? poller.wait(into: &events)) != nil else { return nil }
      let conversation = state.withLock { state -> Conversation? in
        state.callbacks.noteWakeUp()
        guard let conversation = state.conversation, conversation.isWelcome, !conversation.isOver else { return nil }
        state.conversation = nil
        state.isLent = true
        state.callbacks.isFree = false
        return conversation
      }
      if let conversation { return conversation }
    }
    return nil
  }

  /// Has the next message wake this thread.
  private func awaitNext() -> ReadinessPoller? {
    state.withLock { state in
      guard case .running(let callbackPoller) = state.callbacks.life else { return nil }
      state.callbacks.isFree = true
      if let conversation = state.conversation { state.watch(conversation.stream, by: poller) }
      return callbackPoller
    }
  }
}
