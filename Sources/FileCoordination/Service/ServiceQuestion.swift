internal import CoordinationService
internal import SystemInterface

/// A question whose answer may come later.
final class ServiceQuestion: Sendable {
  enum Answer: Sendable {
    case answered(ClientAnswer)
    /// There's no service, or none that runs.
    case failed(FileCoordinationError)

    init(_ answer: ClientAnswer, because reason: FileCoordinationError) {
      if case .unreachable = answer { self = .failed(reason) } else { self = .answered(answer) }
    }
  }

  private let event = ThreadEvent()
  private let answer: Guarded<Answer?>

  /// - Parameter answer: The answer, if there's one already.
  init(_ answer: Answer? = nil) {
    self.answer = Guarded(answer)
    if answer != nil { event.signal() }
  }

  func resolve(_ answer: Answer) {
    self.answer.withLock { if $0 == nil { $0 = answer } }
    event.signal()
  }

  var isAnswered: Bool { answer.withLock { $0 != nil } }

  /// Blocks until there's an answer.
  func wait() throws(FileCoordinationError) -> ClientAnswer {
    event.wait()
    switch answer.withLock({ $0 }) {
    case .answered(let answer): return answer
    case .failed(let error): throw error
    case nil: preconditionFailure("a question without an answer")
    }
  }
}
