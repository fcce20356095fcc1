internal import SystemInterface

/// The calls of a document that wait, and how an operation that has ended comes to the document's actor.
///
/// An operation runs on a thread of its own. If it went to the actor by itself, and the call that waits for it was resumed from there, each of both
/// would be a change of threads, which takes longer than most operations. So the operation hands its result to a call that waits, which
/// feeds the core with it.
///
/// Not generic, unlike its documents: the compiler knows no list of a generic type by its size, and each use of one takes a microsecond.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `waiting` | its lock | calls begin to wait, and end, on the actor; operations end elsewhere |
final class WaitingCalls: Sendable {
  typealias Continuation = CheckedContinuation<EndedWork?, Never>

  private struct Waiting: Sendable {
    let id: CallID
    let continuation: Continuation
  }

  private let waiting = Guarded<[Waiting]>([])

  /// Adds a call: it's resumed with work that has ended, or with `nil` when it has a result.
  func add(_ id: CallID, _ continuation: Continuation) {
    waiting.withLock { $0.append(Waiting(id: id, continuation: continuation)) }
  }

  /// Resumes a call that has a result now, if it waits.
  func wake(_ id: CallID) {
    let found = waiting.withLock { waiting in
      waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0) }
    }
    found?.continuation.resume(returning: nil)
  }

  /// Resumes the call that has waited longest with work that has ended.
  ///
  /// - Returns: Whether a call waits.
  func hand(_ ended: EndedWork) -> Bool {
    let found = waiting.withLock { waiting in waiting.isEmpty ? nil : waiting.removeFirst() }
    found?.continuation.resume(returning: ended)
    return found != nil
  }
}

/// Work of a document that has ended.
enum EndedWork: Sendable {
  case operation(DocumentOperation, OperationResult)
  /// The search after an open, which ``DocumentSearch`` knows.
  case search
}

/// The result of an operation, for code that doesn't know the type of the contents: that of ``DocumentWork``.
///
/// `@unchecked Sendable`, since it has variables: its operation changes it, and nobody else has it before that has ended.
class OperationResult: @unchecked Sendable {}
