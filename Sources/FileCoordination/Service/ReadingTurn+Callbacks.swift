internal import SystemInterface

// A message to a presenter would wake two threads one after the other: the reading thread, and one that runs the callback. So a process
// with presenters has a thread that does both. It reads as long as it's free. While it runs a callback, the reading thread reads:
// callbacks may wait, and only the reading thread finds the next service.

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

    /// - Returns: Whether the next message wakes it.
    mutating func watch(_ stream: LocalStream, _ isWanted: Bool) -> Bool {
      guard isWanted != isArmed, case .running(let poller) = life else { return isArmed }
      do throws(SystemError) {
        try poller.modify(stream, token: ReadingTurn.token, awaiting: isWanted ? [.readable, .once] : .once)
        isArmed = isWanted
      } catch {
        // The stream isn't watched any more.
        isArmed = false
      }
      return isArmed
    }

    /// - Returns: The events of the thread that is to be started.
    mutating func start(_ stream: LocalStream) -> ReadinessPoller? {
      guard case .notStarted = life else { return nil }
      do throws(SystemError) {
        let poller = try ReadinessPoller()
        try poller.add(stream, token: ReadingTurn.token, awaiting: .once)
        life = .running(poller)
        return poller
      } catch {
        life = .refused
        return nil
      }
    }

    mutating func begin(_ stream: LocalStream) {
      isArmed = false
      switch life {
      case .running(let poller):
        do throws(SystemError) { try poller.add(stream, token: ReadingTurn.token, awaiting: .once) } catch { refuse() }
      case .refused: life = .notStarted
      case .notStarted, .ended: break
      }
    }

    func end(_ stream: LocalStream) {
      if case .running(let poller) = life { poller.remove(stream) }
    }

    /// Other threads read, and run callbacks.
    mutating func refuse() { endThread(.refused) }

    mutating func endThread(_ life: Life = .ended) {
      if case .running(let poller) = self.life { poller.wake() }
      isFree = false
      isArmed = false
      self.life = life
    }

    /// Whether a thread is the one that runs; if not, it has to end.
    func isRunning(by poller: ReadinessPoller) -> Bool {
      if case .running(let current) = life { current === poller } else { false }
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
    guard let poller = state.withLock({ $0.callbacks.start(conversation.stream) }) else { return }
    let code = HostThread.tryStart(name: "coord-callbacks") { self.runCallbacks(for: link, awokenBy: poller) }
    if code != 0 { state.withLock { $0.callbacks.refuse() } }
  }

  /// No service is searched for any more.
  func endCallbackReader() { state.withLock { $0.callbacks.endThread() } }
}

// MARK: - The thread that runs callbacks

extension ReadingTurn {
  private func runCallbacks(for link: ServiceLink, awokenBy callbackPoller: ReadinessPoller) {
    while let conversation = borrowForCallbacks(callbackPoller) {
      let pool = ElasticThreadPool.shared
      let job = pool.keepingFirstJob { conversation.read(for: link) }
      giveBack(conversation, isFree: job == nil)
      if let job { pool.run(job) }
    }
  }

  /// Waits for messages, and takes the turn.
  ///
  /// - Returns: The conversation to read; `nil` if the thread has to end.
  private func borrowForCallbacks(_ callbackPoller: ReadinessPoller) -> Conversation? {
    var events: [ReadinessPoller.Event] = []
    while awaitNext(callbackPoller) {
      do throws(SystemError) { _ = try callbackPoller.wait(into: &events) } catch {
        refuseCallbacks()
        return nil
      }
      let conversation = state.withLock { state -> Conversation? in
        guard state.callbacks.isRunning(by: callbackPoller) else { return nil }
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
  ///
  /// - Returns: Whether the thread goes on.
  private func awaitNext(_ callbackPoller: ReadinessPoller) -> Bool {
    state.withLock { state in
      guard state.callbacks.isRunning(by: callbackPoller) else { return false }
      state.callbacks.isFree = true
      if let conversation = state.conversation { state.watch(conversation.stream, by: poller) }
      return true
    }
  }

  private func refuseCallbacks() {
    state.withLock { state in
      state.callbacks.refuse()
      if let conversation = state.conversation { state.watch(conversation.stream, by: poller) }
    }
  }
}
