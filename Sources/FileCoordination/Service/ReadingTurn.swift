internal import CoordinationService
internal import SystemInterface

/// The turn to read the service's messages.
///
/// As a rule it's the reading thread's. A thread that blocks until the service answers borrows the turn and reads the
/// answer itself: the kernel then wakes this thread directly, instead of another thread first. It takes in the other
/// messages that come meanwhile for all.
///
/// A process with presenters has a thread more, which reads as long as it's free, and runs callbacks: see `+Callbacks`.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the turn passes between threads, and with it the events that wake each of them |
final class ReadingTurn: Sendable {
  struct State: Sendable {
    /// Absent while a thread reads, and between two services.
    var conversation: Conversation?
    /// A thread that waits for its answer, or one that runs callbacks, has the turn.
    var isLent = false
    /// The service doesn't read fast enough, so that the reading thread has to go on writing.
    var isStalled = false
    /// Wakes the reading thread when the turn comes back.
    var returned: ThreadEvent?
    /// The events that wake the reading thread.
    var awaited = ReadinessPoller.Readiness.readable
    var callbacks = CallbackReader()

    /// Lets the next message wake the right thread.
    mutating func watch(_ stream: LocalStream, by poller: ReadinessPoller) {
      let isOpen = conversation.map { $0.isWelcome && !$0.isOver } ?? false
      let isForCallbacks = callbacks.watch(stream, !isLent && isOpen && callbacks.isFree)
      var wanted: ReadinessPoller.Readiness = isLent || isForCallbacks ? [] : .readable
      if isStalled { wanted.insert(.writable) }
      if wanted != awaited {
        awaited = wanted
        // It fails when the stream isn't watched any more.
        try? poller.modify(stream, token: ReadingTurn.token, awaiting: wanted)
      }
    }
  }

  static let token: UInt64 = 1
  let poller: ReadinessPoller
  let state = Guarded(State())

  init() throws(SystemError) { poller = try ReadinessPoller() }

  /// Ends the reading thread's wait.
  func wakeReader() { poller.wake() }
}

// MARK: - The reading thread

extension ReadingTurn {
  /// A service has been found.
  func begin(_ conversation: Conversation) throws(SystemError) {
    try poller.add(conversation.stream, token: Self.token, awaiting: .readable)
    state.withLock { state in
      state.callbacks.begin(conversation.stream)
      state = State(conversation: conversation, callbacks: state.callbacks)
    }
  }

  /// Waits until there may be something to do.
  ///
  /// - Parameters:
  ///   - deadline: When to give up.
  ///   - clock: The clock of that deadline.
  /// - Throws: An error of epoll_wait(2).
  func wait(until deadline: MonotonicTime?, by clock: DomainClock) throws(SystemError) {
    var events: [ReadinessPoller.Event] = []
    let poller = poller
    try clock.waiting(until: deadline, wake: { poller.wake() }) { (deadline) throws(SystemError) in
      _ = try poller.wait(into: &events, until: deadline)
    }
    // The end of a connection is reported for any requested events, so another wait would end at once.
    if events.contains(where: \.isHangUp) { awaitReturn() }
  }

  /// Takes the turn, if no thread has borrowed it.
  func take() -> Conversation? { state.withLock { $0.conversation.take() } }

  /// Leaves the turn to the next thread that needs it.
  func leave(_ conversation: Conversation) {
    state.withLock { state in
      state.conversation = conversation
      state.watch(conversation.stream, by: poller)
    }
  }

  /// The connection has to be written to when that's possible, or not any more.
  func noteStalled(_ isStalled: Bool, _ stream: LocalStream) {
    state.withLock { state in
      state.isStalled = isStalled
      state.watch(stream, by: poller)
    }
  }

  /// The conversation is over: no thread reads before the next one begins.
  func end(_ conversation: Conversation) {
    conversation.stream.shutdown()
    awaitReturn()
    poller.remove(conversation.stream)
    state.withLock { state in
      state.callbacks.end(conversation.stream)
      state = State(callbacks: state.callbacks)
    }
  }

  private func awaitReturn() {
    let event = ThreadEvent()
    let isLent = state.withLock { state in
      if state.isLent { state.returned = event }
      return state.isLent
    }
    if isLent { event.wait() }
  }
}

// MARK: - Threads that wait for answers

extension ReadingTurn {
  /// Takes the turn until it's given back.
  ///
  /// - Returns: The conversation to read; `nil` if another thread reads, or there's no service.
  func borrow() -> Conversation? {
    state.withLock { state in
      guard let conversation = state.conversation, conversation.isWelcome, !conversation.isOver else { return nil }
      state.conversation = nil
      state.isLent = true
      state.watch(conversation.stream, by: poller)
      return conversation
    }
  }

  /// - Parameters:
  ///   - conversation: The conversation that was borrowed.
  ///   - isFree: Whether the thread that runs callbacks, which gives it back, waits for more; `nil` if it's another thread.
  func giveBack(_ conversation: Conversation, isFree: Bool? = nil) {
    // Looked up while it's this thread's.
    let isOver = conversation.isOver
    let returned = state.withLock { state in
      state.conversation = conversation
      state.isLent = false
      if let isFree { state.callbacks.isFree = isFree }
      state.watch(conversation.stream, by: poller)
      return state.returned.take()
    }
    returned?.signal()
    // The end has been read, and isn't reported again.
    if isOver { wakeReader() }
  }
}

extension ServiceLink {
  /// Runs `ask`, which asks the service something, and reads the service's messages until that's answered, unless
  /// another thread reads.
  ///
  /// Blocks. When another thread reads, or the service has gone, it returns without an answer, which comes later.
  ///
  /// - Parameters:
  ///   - ask: Sends the question, and returns it.
  ///   - isAnswered: Checks whether it's answered.
  /// - Returns: The result of `ask`.
  /// - Throws: The error of `ask`.
  func reading<Question, Failure: Error>(
    _ ask: () throws(Failure) -> Question, until isAnswered: (Question) -> Bool
  ) throws(Failure) -> Question {
    // Before asking, so that the answer doesn't wake the reading thread.
    guard let turn = turn.withLock({ $0 }), let conversation = turn.borrow() else { return try ask() }
    defer { turn.giveBack(conversation) }
    let question = try ask()
    while !isAnswered(question), !conversation.isOver { conversation.read(for: self, waits: true) }
    return question
  }
}
