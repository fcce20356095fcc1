package import HTTPTransport
package import SystemInterface

/// A transport without a server: a test answers each request, by a script or step by step.
///
/// Limits, cancellation and back-pressure are those of any transport, on the clock of the test.
package final class ScriptedTransport: HTTPTransport {
  private let clock: any CoordinationClock
  private let answer: @Sendable (HTTPRequest, ScriptedExchange) -> Void

  /// Creates a transport.
  ///
  /// - Parameters:
  ///   - clock: The clock of limits and delays.
  ///   - answer: Answers a request, on the task of the caller.
  package init(
    clock: any CoordinationClock, answer: @escaping @Sendable (HTTPRequest, ScriptedExchange) -> Void
  ) {
    self.clock = clock
    self.answer = answer
  }

  package func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    if let flaw = request.flaw { throw HTTPTransportError(.invalidRequest, flaw, isUnsent: true) }
    let scripted = ScriptedExchange(clock: clock)
    let exchange = Exchange(request, clock: clock) { [weak scripted] order in
      if order == .resume { scripted?.proceed() }
    }
    scripted.begin(exchange)
    let body = HTTPBody(exchange)
    answer(request, scripted)
    return HTTPResponse(head: try await exchange.head(), body: body)
  }
}

/// The server's side of an exchange.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | steps come from the test, the clock and the reader |
///
/// One thread at a time performs steps: the others leave theirs to it.
package final class ScriptedExchange: Sendable {
  /// One step of an answer.
  package enum Step: Sendable {
    /// Nothing happens for a while.
    case pause(Duration)
    /// The head.
    case head(HTTPHead)
    /// A piece of the body, which waits while there's no room.
    case piece([UInt8])
    /// The end of the body, or a failure.
    case end(HTTPTransportError?)
  }

  private struct State: Sendable {
    var exchange: Exchange?
    var steps: [Step] = []
    var isBusy = false
    var isPausing = false
    var wasCalled = false
  }

  private let state = Guarded(State())
  private let clock: any CoordinationClock

  init(clock: any CoordinationClock) { self.clock = clock }

  func begin(_ exchange: Exchange) { state.withLock { $0.exchange = exchange } }

  /// Whether the client reads no more.
  package var isEnded: Bool { state.withLock { $0.exchange }?.isEnded ?? true }

  /// How many steps aren't done, because there's no room or a pause.
  package var waitingStepCount: Int { state.withLock { $0.steps.count } }

  /// Adds steps.
  package func perform(_ steps: Step...) { perform(steps) }

  /// Adds steps.
  package func perform(_ steps: [Step]) {
    state.withLock { $0.steps += steps }
    proceed()
  }

  /// Answers with a whole body.
  package func respond(_ status: Int, _ text: String) {
    perform(.head(HTTPHead(status: status)), .piece(Array(text.utf8)), .end(nil))
  }

  func proceed() {
    while let (exchange, step) = nextStep() {
      var isDone = true
      switch step {
      case .pause(let duration):
        state.withLock { $0.isPausing = true }
        _ = clock.schedule(at: clock.now.advanced(by: duration)) { self.pauseEnded() }
      case .head(let head): exchange.headArrived(head)
      case .piece(let piece): isDone = exchange.pieceArrived(piece)
      case .end(let failure): exchange.end(failure)
      }
      let isOver = state.withLock { state -> Bool in
        state.isBusy = false
        if isDone { state.steps.removeFirst() }
        // Room may have come between the attempt and here.
        return !isDone && !state.wasCalled
      }
      if isOver { return }
    }
  }

  private func pauseEnded() {
    state.withLock { $0.isPausing = false }
    proceed()
  }

  private func nextStep() -> (Exchange, Step)? {
    state.withLock { state in
      guard !state.isBusy else {
        state.wasCalled = true
        return nil
      }
      state.wasCalled = false
      guard !state.isPausing, let exchange = state.exchange, let step = state.steps.first else { return nil }
      state.isBusy = true
      return (exchange, step)
    }
  }
}
