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
    let state = Guarded(State<Value>())
    let stop: @Sendable (DocumentError) -> Void = { error in
      let (answer, task) = state.withLock { state in
        state.isStopped = true
        return (state.answer, state.task)
      }
      answer?.fail(error)
      task?.cancel()
    }
    return try await withTaskCancellationHandler {
      try await FileAnswer<Value>.wait { answer in
        state.withLock { $0.answer = answer }
        if Task.isCancelled { return answer.fail(DocumentError.cancelled) }
        // The time of the code begins before the code.
        let timer = duration.map { duration in
          clock.schedule(at: clock.now.advanced(by: duration)) { stop(lateness) }
        }
        let task = Task.detached {
          do { answer.succeed(try await body()) } catch { answer.fail(error) }
          timer?.cancel()
        }
        let isStopped = state.withLock { state in
          state.task = task
          return state.isStopped
        }
        if isStopped { task.cancel() }
      }
    } onCancel: {
      stop(.cancelled)
    }
  }

  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | all | the lock around it | the timer and a cancellation come from other threads, also while the code begins |
  private struct State<Value: Sendable> {
    var answer: FileAnswer<Value>?
    var task: Task<Void, Never>?
    /// The task is to be cancelled as soon as it's there.
    var isStopped = false
  }
}
