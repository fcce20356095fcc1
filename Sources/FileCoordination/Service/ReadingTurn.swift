internal import CoordinationService
internal import SystemInterface

/// Whose turn it is to read what the service tells.
///
/// As a rule it's the reading thread's. A thread that blocks until the service answers borrows the turn and reads the answer
/// itself, so that the kernel wakes one thread, not one that has to wake another. What else comes meanwhile it takes in for
/// everybody.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the turn passes between threads, and with it what wakes the reading thread |
final class ReadingTurn: Sendable {
  private struct State: Sendable {
    /// Absent while somebody reads, and between two services.
    var conversation: Conversation?
    /// A thread that waits for its answer has the turn.
    var isLent = false
    /// The service doesn't read fast enough, so that the reading thread has to go on writing.
    var isStalled = false
    /// Wakes the reading thread when the turn comes back.
    var returned: ThreadEvent?
    /// What the reading thread is woken by.
    var interest = ReadinessPoller.Interest.readable

    mutating func watch(_ stream: LocalStream, by poller: ReadinessPoller) {
      var wanted: ReadinessPoller.Interest = isLent ? [] : .readable
      if isStalled { wanted.insert(.writable) }
      if wanted == interest { return }
      interest = wanted
      // It fails when nobody watches the stream any more.
      try? poller.modify(stream, token: ReadingTurn.token, interest: wanted)
    }
  }

  private static let token: UInt64 = 1
  private let poller: ReadinessPoller
  private let state = Guarded(State())

  init() throws(SystemError) { poller = try ReadinessPoller() }

  /// Ends the reading thread's wait.
  func wakeReader() { poller.wake() }
}

// MARK: - The reading thread

extension ReadingTurn {
  /// A service has been found.
  func begin(_ conversation: Conversation) throws(SystemError) {
    try poller.add(conversation.stream, token: Self.token, interest: .readable)
    state.withLock { $0 = State(conversation: conversation) }
  }

  /// Waits until there may be something to do.
  ///
  /// - Parameter deadline: When to give up.
  /// - Returns: Whether it ended before the deadline.
  /// - Throws: An error of epoll_wait(2).
  func wait(until deadline: MonotonicTime?) throws(SystemError) -> Bool {
    var events: [ReadinessPoller.Event] = []
    guard try poller.wait(into: &events, until: deadline) else { return false }
    // The end of a connection is told whatever one wants to be told of, so another wait would end at once.
    if events.contains(where: \.isHangUp) { awaitReturn() }
    return true
  }

  /// Takes the turn, if it isn't lent.
  func take() -> Conversation? { state.withLock { $0.conversation.take() } }

  /// Leaves the turn to whoever needs it.
  func leave(_ conversation: Conversation) {
    state.withLock { $0.conversation = conversation }
  }

  /// The connection has to be written to when that's possible, or not any more.
  func noteStalled(_ isStalled: Bool, _ stream: LocalStream) {
    state.withLock { state in
      state.isStalled = isStalled
      state.watch(stream, by: poller)
    }
  }

  /// The conversation is over: nobody reads before the next one begins.
  func end(_ conversation: Conversation) {
    conversation.stream.shutdown()
    awaitReturn()
    poller.remove(conversation.stream)
    state.withLock { $0 = State() }
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
  /// - Returns: What to read; `nil` if somebody else reads, or there's nobody who tells.
  func borrow() -> Conversation? {
    state.withLock { state in
      guard let conversation = state.conversation, conversation.isWelcome, !conversation.isOver else { return nil }
      state.conversation = nil
      state.isLent = true
      state.watch(conversation.stream, by: poller)
      return conversation
    }
  }

  func giveBack(_ conversation: Conversation) {
    // Looked up while it's this thread's.
    let isOver = conversation.isOver
    let returned = state.withLock { state in
      state.conversation = conversation
      state.isLent = false
      state.watch(conversation.stream, by: poller)
      return state.returned.take()
    }
    returned?.signal()
    // The end has been read, and isn't told again.
    if isOver { wakeReader() }
  }
}

extension ServiceLink {
  /// Runs `ask`, which asks the service something, and reads what the service tells until that's answered, if nobody else does.
  ///
  /// Blocks. When somebody else reads, or the service has gone, it returns without an answer, which comes later.
  ///
  /// - Parameters:
  ///   - ask: Asks, and returns what is to be answered.
  ///   - isAnswered: Looks whether it is.
  /// - Returns: What `ask` returned.
  /// - Throws: What `ask` threw.
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
