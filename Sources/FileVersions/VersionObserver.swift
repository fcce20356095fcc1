internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

/// Keeps an observer registered.
struct VersionObservation: Sendable {
  let observer: VersionObserver
  let registration: FilePresenterRegistration
}

/// Notes that something of a file has changed; any number of messages that nobody has looked at are one.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | callbacks note, the task that iterates takes |
final class VersionObserver: FilePresenter {
  struct State: Sendable {
    var url: URL
    /// Since it was taken last.
    var hasMoved = false
    /// A deletion, or a replacement, was announced.
    var mayBeDeleted = false
  }

  private let state: Guarded<State>
  private let changes: AsyncStream<Void>
  private let changed: AsyncStream<Void>.Continuation
  let presentedItemURL: URL?
  let presenterLabel = "versions"

  var presentedItemCallbacks: FilePresenterCallbacks {
    [.itemDidChange, .itemDidMove, .itemVersions, .accommodateDeletion]
  }

  init(_ url: URL) {
    presentedItemURL = url
    state = Guarded(State(url: url))
    (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Waits for a change.
  ///
  /// - Returns: Whether there was one; otherwise the task was cancelled.
  func change() async -> Bool {
    var iterator = changes.makeAsyncIterator()
    return await iterator.next() != nil
  }

  func take() -> State {
    state.withLock { state in
      defer { state.hasMoved = false }
      return state
    }
  }

  func presentedItemDidChange(origin: AccessOrigin) async { changed.yield() }

  func presentedItemDidChangeVersion(_ change: FileVersionChange, version: String, origin: AccessOrigin) async {
    changed.yield()
  }

  func presentedItemDidMove(to url: URL, origin: AccessOrigin) async {
    state.withLock { state in
      state.url = url
      state.hasMoved = true
      state.mayBeDeleted = false
    }
    changed.yield()
  }

  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
    state.withLock { $0.mayBeDeleted = true }
    changed.yield()
  }
}
