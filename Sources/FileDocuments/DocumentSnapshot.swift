public import FoundationEssentials
internal import Observation
internal import SystemInterface

/// The state of a document at a moment, without its contents.
///
/// - Note: Rule CD-35.
public struct DocumentSnapshot: Hashable, Sendable {
  // Compared first: it differs after each edit, and URLs take long to compare.
  /// The conditions of the document, and the obstacles to editing it.
  public internal(set) var state: DocumentState
  /// Where the file is.
  public internal(set) var url: URL
  /// When the file was changed last, as of the last open, save or reload; `nil` before.
  ///
  /// - Note: Rule CD-03.
  public internal(set) var fileModificationDate: Date?
  /// Whether the file can be saved where it is, as far as permissions show: as of the last open, save or reload.
  ///
  /// A document of a file that can't be written can be edited. Its saves fail with code ``DocumentError/Code/notWritable``, the contents
  /// stay in memory, and ``FileDocument/save(as:replacing:within:)`` puts them elsewhere: the URL says where.
  ///
  /// - Note: Rule CD-32.
  public internal(set) var isWritable = true
  /// Whether a step of edits can be taken back, see ``FileDocument/undo(within:)``.
  public internal(set) var canUndo = false
  /// Whether a step can be made again that was taken back.
  public internal(set) var canRedo = false
  /// How far the reading or writing of a large file has come; there exactly while the state has the condition `progressAvailable`.
  ///
  /// - Note: Rule CD-26.
  public internal(set) var progress: DocumentProgress?
}

/// The states of a document: the present one, and then the latest one whenever it has changed.
///
/// One state is buffered: a slow reader gets the latest, and not each in between.
public struct DocumentStates: AsyncSequence, Sendable {
  let stream: AsyncStream<DocumentSnapshot>

  /// Iterates the states.
  ///
  /// - Returns: An iterator; a second one would share the states with it.
  public func makeAsyncIterator() -> Iterator { Iterator(iterator: stream.makeAsyncIterator()) }

  /// Takes one state after the other.
  public struct Iterator: AsyncIteratorProtocol {
    var iterator: AsyncStream<DocumentSnapshot>.Iterator

    /// Suspends until the state has changed.
    ///
    /// - Returns: The latest state; `nil` when the task was cancelled, or the document is gone.
    public mutating func next() async -> DocumentSnapshot? {
      await iterator.next(isolation: #isolation)
    }
  }
}

/// Where a document puts its snapshot, for everybody to read.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the document writes on its actor, readers are anywhere |
///
/// States are yielded inside the lock, so that a reader that joins never gets an older one after a newer one. Yielding calls no foreign
/// code: it hands a job to the reader's executor.
final class DocumentBoard: Sendable {
  private struct State: Sendable {
    var snapshot: DocumentSnapshot
    var lastReader = 0
    var readers: [Int: AsyncStream<DocumentSnapshot>.Continuation] = [:]
  }

  private let state: Guarded<State>

  init(_ snapshot: DocumentSnapshot) { state = Guarded(State(snapshot: snapshot)) }

  deinit { state.withLock { for reader in $0.readers.values { reader.finish() } } }

  var snapshot: DocumentSnapshot { state.withLock { $0.snapshot } }

  /// Puts all of it except for the progress, which comes from elsewhere.
  func put(_ snapshot: DocumentSnapshot) {
    change { former in
      let progress = former.progress
      former = snapshot
      former.note(progress)
    }
  }

  /// Puts what an edit has changed.
  func put(_ revision: UInt64, canUndo: Bool, canRedo: Bool) {
    change { snapshot in
      snapshot.state.revision = revision
      snapshot.canUndo = canUndo
      snapshot.canRedo = canRedo
    }
  }

  /// - Returns: Whether that changed anything.
  func hasOther(_ progress: DocumentProgress?) -> Bool { state.withLock { $0.snapshot.progress != progress } }

  func put(_ progress: DocumentProgress?) { change { $0.note(progress) } }

  private func change(_ body: (inout DocumentSnapshot) -> Void) {
    state.withLock { state in
      body(&state.snapshot)
      for reader in state.readers.values { reader.yield(state.snapshot) }
    }
  }

  func states() -> DocumentStates {
    let (stream, reader) = AsyncStream<DocumentSnapshot>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.lastReader += 1
      state.readers[state.lastReader] = reader
      reader.yield(state.snapshot)
      return state.lastReader
    }
    reader.onTermination = { [weak self] _ in self?.remove(number) }
    return DocumentStates(stream: stream)
  }

  private func remove(_ number: Int) {
    // Freed outside the lock.
    _ = state.withLock { $0.readers.removeValue(forKey: number) }
  }
}

extension DocumentSnapshot {
  fileprivate mutating func note(_ progress: DocumentProgress?) {
    self.progress = progress
    if progress == nil {
      state.conditions.remove(.progressAvailable)
    } else {
      state.conditions.insert(.progressAvailable)
    }
  }
}
