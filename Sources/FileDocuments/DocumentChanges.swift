internal import SystemInterface

/// A change of a document, for those who follow some of its attributes.
///
/// - Note: Rule ND-10.
public struct DocumentChange: Hashable, Sendable {
  /// The attributes that have changed since the former element, of those that were asked for; all of them in the first element.
  public let attributes: DocumentAttributes
  /// The document as it was after the latest of these changes.
  public let snapshot: DocumentSnapshot
}

/// The changes of some attributes of a document: its present snapshot first, and then each time that one of them has changed.
///
/// Changes that come while nobody waits for one are put together: one element is buffered, which has the attributes of all of
/// them, and the latest snapshot. So a slow reader misses no attribute, and a fast one gets no element for any other attribute. An
/// attribute that has changed back meanwhile is named as well.
///
/// - Note: Rule ND-10.
public struct DocumentChanges: AsyncSequence, Sendable {
  let reader: DocumentChangeReader

  /// Iterates the changes.
  ///
  /// - Returns: An iterator; a second one would share the changes with it.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

  /// Takes one change after the other.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: DocumentChangeReader

    /// Suspends until one of the attributes has changed.
    ///
    /// - Returns: The change; `nil` when the task was cancelled, or the document is gone.
    public mutating func next() async -> DocumentChange? { await reader.next() }
  }
}

/// Where changes wait for a reader, or a reader for changes.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | changes come under the lock of a document's board, readers are anywhere |
///
/// Offering calls no foreign code: it hands a job to the reader's executor. The lock is taken after the board's.
final class DocumentChangeReader: Sendable {
  private struct State: Sendable {
    var pending: DocumentChange?
    var waiting: [CheckedContinuation<DocumentChange?, Never>] = []
    /// A pending change is still taken, unless the reader was cancelled.
    var isEnded = false
  }

  let attributes: DocumentAttributes
  private let state = Guarded(State())

  init(_ attributes: DocumentAttributes) { self.attributes = attributes }

  /// Notes a change, if it's one of the attributes that were asked for.
  func offer(_ changed: DocumentAttributes, _ snapshot: DocumentSnapshot) {
    let changed = changed.intersection(attributes)
    // The first element has no attributes if none were asked for.
    if changed.isEmpty, !attributes.isEmpty { return }
    state.withLock { state in
      if state.isEnded { return }
      let former = state.pending?.attributes ?? []
      let change = DocumentChange(attributes: former.union(changed), snapshot: snapshot)
      if state.waiting.isEmpty {
        state.pending = change
      } else {
        state.waiting.removeFirst().resume(returning: change)
      }
    }
  }

  /// The document is gone: the reader gets what is pending, and then `nil`.
  func end() {
    state.withLock { state in
      state.isEnded = true
      for continuation in state.waiting { continuation.resume(returning: nil) }
      state.waiting = []
    }
  }

  private func cancel() {
    end()
    state.withLock { $0.pending = nil }
  }

  func next() async -> DocumentChange? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { state in
          if let pending = state.pending.take() {
            continuation.resume(returning: pending)
          } else if state.isEnded {
            continuation.resume(returning: nil)
          } else {
            state.waiting.append(continuation)
          }
        }
      }
    } onCancel: {
      cancel()
    }
  }
}

/// A weak reference that never changes.
///
/// `@unchecked Sendable`: `reader` is set once, in the initializer, and the runtime clears it atomically.
final class WeakChangeReader: @unchecked Sendable {
  private(set) weak var reader: DocumentChangeReader?

  init(_ reader: DocumentChangeReader) { self.reader = reader }
}
