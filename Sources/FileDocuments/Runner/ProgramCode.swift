internal import FileCoordination
internal import SystemInterface

/// Runs code of the program that suspends, and that may take its time or never end.
enum ProgramCode {
  /// Waits for the code until a deadline, or the cancellation of this task, at most: its task is cancelled then, and its result is
  /// dropped.
  ///
  /// - Parameters:
  ///   - duration: How long to wait; `nil` for as long as it takes.
  ///   - clock: The clock of that.
  ///   - lateness: The error when the time is over.
  ///   - body: The code.
  /// - Returns: Its result.
  /// - Throws: Its error, `lateness`, or ``DocumentError`` with code `.cancelled`.
  static func run<Value: Sendable>(
    atMost duration: Duration?, _ clock: any CoordinationClock, orFail lateness: DocumentError,
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let end = Guarded<(@Sendable (DocumentError) -> Void)?>(nil)
    return try await withTaskCancellationHandler {
      try await FileAnswer<Value>.wait { answer in
        if Task.isCancelled { return answer.fail(DocumentError.cancelled) }
        let task = Task.detached {
          do { answer.succeed(try await body()) } catch { answer.fail(error) }
        }
        let stop: @Sendable (DocumentError) -> Void = { error in
          answer.fail(error)
          task.cancel()
        }
        end.withLock { $0 = stop }
        if Task.isCancelled { return stop(.cancelled) }
        if let duration {
          _ = clock.schedule(at: clock.now.advanced(by: duration)) { stop(lateness) }
        }
      }
    } onCancel: {
      end.withLock { $0 }?(.cancelled)
    }
  }
}
