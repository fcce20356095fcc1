import Synchronization

/// The executor of a task that uses a lock on one pinned thread; each lock gets the best one for it.
enum AsyncHome: Sendable {
  /// Fastest for code that calls no actor.
  case threadActor
  /// Runs the code of actors on the thread as well, instead of on another one.
  case loopExecutor

  func perform<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
    switch self {
    case .threadActor: try ThreadActor.perform(body)
    case .loopExecutor: try LoopExecutor.perform(body)
    }
  }
}

/// The result of a task, for the thread that runs it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `result` | its mutex | the task may end on another thread |
final class AsyncOutcome<Success: Sendable>: Sendable {
  private let result = Mutex<Result<Success, any Error>?>(nil)

  var isThere: Bool { result.withLock { $0 != nil } }

  func fill(_ body: () async throws -> Success) async {
    let outcome: Result<Success, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    result.withLock { $0 = outcome }
  }

  func get() throws -> Success {
    guard let result = result.withLock({ $0 }) else { preconditionFailure("ended without a result") }
    return try result.get()
  }
}
