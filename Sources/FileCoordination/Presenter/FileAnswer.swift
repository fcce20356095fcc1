internal import SystemInterface

/// A completion handler that can't be forgotten: dropped without having been called, it answers with an error.
///
/// Use it to bring code with completion handlers into a presenter's callbacks:
///
/// ```swift
/// func savePresentedItemChanges(origin: AccessOrigin) async throws {
///   try await FileAnswer<Void>.wait { answer in
///     editor.save { error in
///       if let error { answer.fail(error) } else { answer.succeed() }
///     }
///   }
/// }
/// ```
///
/// May be called on any thread. The first call counts, later ones do nothing (C-188).
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `receiver` | its lock | taking it out makes the first call the only one |
///
/// - Note: Rule C-186.
public final class FileAnswer<Value: Sendable>: Sendable {
  private let receiver: Guarded<(@Sendable (Result<Value, any Error>) -> Void)?>

  private init(_ receiver: @escaping @Sendable (Result<Value, any Error>) -> Void) {
    self.receiver = Guarded(receiver)
  }

  deinit { answer(.failure(FileCoordinationError.droppedAnswer)) }

  /// Answers.
  ///
  /// - Parameter value: The answer.
  public func succeed(_ value: Value) { answer(.success(value)) }

  /// Answers with an error.
  ///
  /// - Parameter error: Why there's no other answer.
  public func fail(_ error: any Error) { answer(.failure(error)) }

  /// Whether there's an answer.
  package var isAnswered: Bool { receiver.withLock { $0 == nil } }

  private func answer(_ result: Result<Value, any Error>) {
    receiver.withLock { $0.take() }?(result)
  }

  /// Suspends until the handler that `body` gets has been called or dropped.
  ///
  /// - Parameter body: Hands the handler to the code that will call it.
  /// - Returns: The answer.
  /// - Throws: The error it was called with, or ``FileCoordinationError`` with code `.answerDropped`.
  public static func wait(_ body: (FileAnswer) -> Void) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      body(FileAnswer { continuation.resume(with: $0) })
    }
  }

  /// Blocks the calling thread until the handler that `body` gets has been called or dropped.
  static func waitBlocking(
    serving server: (any BlockedThreadServer)? = nil, _ body: (FileAnswer) throws -> Void
  ) throws -> Value {
    let end = WaitEnd()
    let result = Guarded<Result<Value, any Error>?>(nil)
    try body(
      FileAnswer { answer in
        result.withLock { $0 = answer }
        end.come()
      })
    end.wait(serving: server)
    guard let answer = result.withLock({ $0 }) else { preconditionFailure("signalled without an answer") }
    return try answer.get()
  }
}

extension FileAnswer where Value == Void {
  /// Answers that all is done.
  public func succeed() { succeed(()) }
}
