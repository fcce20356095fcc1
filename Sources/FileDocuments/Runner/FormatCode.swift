internal import FileCoordination
internal import SystemInterface

/// Runs code of a format, which may take its time or never end, on threads of its own.
///
/// The task that waits for it waits until its deadline or its cancellation at most. Code that goes on nevertheless occupies one of the
/// threads, and nothing else: neither accesses nor the threads of tasks.
enum FormatCode {
  private static let threads = ElasticThreadPool(threadCountMax: 64)

  static func run<Value: Sendable>(
    atMost duration: Duration?, _ clock: any CoordinationClock, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let receiver = Guarded<FileAnswer<Value>?>(nil)
    return try await withTaskCancellationHandler {
      try await FileAnswer<Value>.wait { answer in
        receiver.withLock { $0 = answer }
        if Task.isCancelled { return answer.fail(DocumentError.cancelled) }
        let timer = duration.map { duration in
          clock.schedule(at: clock.now.advanced(by: duration)) { answer.fail(DocumentError.formatTimedOut) }
        }
        Task.detached(executorPreference: threads) {
          do { answer.succeed(try body()) } catch { answer.fail(error) }
          timer?.cancel()
        }
      }
    } onCancel: {
      receiver.withLock { $0 }?.fail(DocumentError.cancelled)
    }
  }
}

extension DocumentError {
  fileprivate static let formatTimedOut = DocumentError(
    .timedOut, "The document's format has neither read nor written the contents before the deadline of the options.")
}
