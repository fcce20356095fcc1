internal import SystemInterface

/// The calls of a document that wait, and how an operation that has ended comes to the document's actor.
///
/// An operation runs on a thread of its own. If it went to the actor by itself, and the call that waits for it was resumed from there, each of both
/// would be a change of threads, which takes longer than most operations. So the operation hands its result to a call that waits, which
/// feeds the core with it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `waiting` | its lock | calls begin to wait, and end, on the actor; operations end elsewhere |
final class WaitingCalls<Ended: Sendable>: Sendable {
  typealias Continuation = CheckedContinuation<Ended?, Never>

  private let waiting = Guarded<[(id: CallID, continuation: Continuation)]>([])

  /// Adds a call: it's resumed with an operation that has ended, or with `nil` when it has a result.
  func add(_ id: CallID, _ continuation: Continuation) { waiting.withLock { $0.append((id, continuation)) } }

  /// Resumes a call that has a result now, if it waits.
  func wake(_ id: CallID) {
    let found = waiting.withLock { waiting in
      waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0) }
    }
    found?.continuation.resume(returning: nil)
  }

  /// Resumes the call that has waited longest with an operation that has ended.
  ///
  /// - Returns: Whether a call waits.
  func hand(_ ended: Ended) -> Bool {
    let found = waiting.withLock { waiting in waiting.isEmpty ? nil : waiting.removeFirst() }
    found?.continuation.resume(returning: ended)
    return found != nil
  }
}

/// An operation of a document that has ended.
struct EndedOperation<Contents: Sendable>: Sendable {
  let kind: DocumentOperation
  let result: DocumentWork<Contents>.Result
}
