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
  /// A document of a file that can't be written can be edited, unless it's locked. Its saves fail with code ``DocumentError/Code/notWritable``, the contents
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
  /// Grows when another program has added, removed or resolved versions of the file.
  public internal(set) var versionsRevision: UInt64 = 0
  /// Whether the document has made the file, and nobody has saved, moved or named it on purpose since.
  ///
  /// See ``FileDocument/open(creatingWith:within:)``.
  ///
  /// - Note: Rule ND-9.
  public internal(set) var isDraft = false

  /// Whether the file is locked; see ``FileDocument/lock(within:)``.
  ///
  /// - Note: Rule ND-9.
  public var isLocked: Bool { state.editingObstacles.contains(.locked) }
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
    var changeReaders: [WeakChangeReader] = []
  }

  private let state: Guarded<State>

  init(_ snapshot: DocumentSnapshot) { state = Guarded(State(snapshot: snapshot)) }

  deinit {
    state.withLock { state in
      for reader in state.readers.values { reader.finish() }
      for reader in state.changeReaders { reader.reader?.end() }
    }
  }

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
      // Without readers that want to know, nothing is compared.
      let former = state.changeReaders.isEmpty ? nil : state.snapshot
      body(&state.snapshot)
      for reader in state.readers.values { reader.yield(state.snapshot) }
      if let former { tellChangeReaders(former, &state) }
    }
  }

  private func tellChangeReaders(_ former: DocumentSnapshot, _ state: inout State) {
    let snapshot = state.snapshot
    let readers = state.changeReaders.compactMap(\.reader)
    let changed = snapshot.attributes(otherThanIn: former, among: readers.reduce([]) { $0.union($1.attributes) })
    if !changed.isEmpty { for reader in readers { reader.offer(changed, snapshot) } }
    if readers.count < state.changeReaders.count { state.changeReaders.removeAll { $0.reader == nil } }
  }

  /// The present snapshot is the first one: it's taken, and the reader joins, in one step.
  func changes(of attributes: DocumentAttributes) -> DocumentChanges {
    let reader = DocumentChangeReader(attributes)
    state.withLock { state in
      state.changeReaders.append(WeakChangeReader(reader))
      reader.offer(attributes, state.snapshot)
    }
    return DocumentChanges(reader: reader)
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
