public import FoundationEssentials
internal import SystemInterface

/// A change of an item or inside it.
public struct FilePresenterEvent: Hashable, Sendable {
  /// The kind of change.
  public enum Kind: Hashable, Sendable {
    /// The item may have changed.
    case itemDidChange
    /// The item was moved.
    case itemDidMove(to: URL)
    /// Ubiquity attributes of the item were announced to have changed.
    case itemDidChangeUbiquityAttributes(Set<String>)
    /// A version of the item was added, removed or resolved.
    case itemDidChangeVersion(FileVersionChange, version: String)
    /// A new item is inside the directory.
    case subitemDidAppear(URL)
    /// An item inside the directory may have changed, or is gone.
    case subitemDidChange(URL)
    /// An item inside the directory was moved.
    case subitemDidMove(from: URL, to: URL)
    /// A version of an item inside the directory was added, removed or resolved.
    case subitemDidChangeVersion(URL, FileVersionChange, version: String)
  }

  /// The kind of change.
  public let kind: Kind
  /// The origin of the change.
  public let origin: AccessOrigin
}

/// The changes of an item and inside it, for code that only needs notifications.
///
/// No access ever waits for a consumer of this sequence. Events wait in order: up to ``bufferedEventCountMax`` here,
/// and thousands more in the domain; beyond that events about changes are left out, and the next one says how many
/// (``AccessOrigin/omittedMessageCount``). Observation begins when the sequence is made, and ends with it. Tasks that
/// iterate it together share the events; when one of them is cancelled, it ends for all.
///
/// ```swift
/// for await event in try domain.events(at: directory) {
///   print(event.kind, event.origin.label)
/// }
/// ```
public struct FilePresenterEvents: AsyncSequence, Sendable {
  /// How many events wait in the sequence itself.
  public static let bufferedEventCountMax = 256

  private let observation: EventObservation

  /// Why not every change by programs that don't coordinate is seen; `nil` while all are, or if none are to be.
  public var uncoordinatedChangesProblem: FileCoordinationError? { observation.uncoordinatedChangesProblem }

  init(
    at url: URL, in domain: CoordinationDomain, label: String, observesUncoordinatedChanges: Bool
  ) throws(FileCoordinationError) {
    let observer = EventObserver(url, label, observesUncoordinatedChanges: observesUncoordinatedChanges)
    observation = EventObservation(observer, try domain.register(observer))
  }

  /// Iterates the events.
  ///
  /// - Returns: An iterator that takes events from this sequence; a second one would share them.
  public func makeAsyncIterator() -> Iterator { Iterator(observation: observation) }

  /// Takes one event after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let observation: EventObservation

    /// Suspends until the next event.
    ///
    /// - Returns: The next event; `nil` when the task was cancelled.
    public mutating func next() async -> FilePresenterEvent? { await observation.observer.mailbox.next() }
  }
}

extension CoordinationDomain {
  /// Observes an item, or a directory with everything in it.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - label: The name of the observer, in reports.
  ///   - observingUncoordinatedChanges: Whether to watch the file system as well, for changes by programs that don't
  ///     coordinate; see ``FilePresenter/observesUncoordinatedChanges``.
  /// - Returns: The events from now on.
  /// - Throws: ``FileCoordinationError`` when the URL can't name a file.
  public func events(
    at url: URL, label: String = "events", observingUncoordinatedChanges: Bool = false
  ) throws(FileCoordinationError) -> FilePresenterEvents {
    try FilePresenterEvents(
      at: url, in: self, label: label, observesUncoordinatedChanges: observingUncoordinatedChanges)
  }
}

/// Keeps the presenter behind a sequence registered, as long as the sequence or an iterator exists.
private final class EventObservation: Sendable {
  let observer: EventObserver
  private let registration: FilePresenterRegistration

  init(_ observer: EventObserver, _ registration: FilePresenterRegistration) {
    self.observer = observer
    self.registration = registration
  }

  deinit { observer.mailbox.close() }

  var uncoordinatedChangesProblem: FileCoordinationError? { registration.uncoordinatedChangesProblem }
}

/// The presenter behind a sequence of events.
///
/// A full buffer holds its callback back, and thereby its mailbox.
private final class EventObserver: FilePresenter {
  let presentedItemURL: URL?
  let presenterLabel: String
  let observesUncoordinatedChanges: Bool
  let mailbox = EventMailbox(capacity: FilePresenterEvents.bufferedEventCountMax)
  var presentedItemCallbacks: FilePresenterCallbacks { .observing }

  init(_ url: URL, _ label: String, observesUncoordinatedChanges: Bool) {
    self.observesUncoordinatedChanges = observesUncoordinatedChanges
    presentedItemURL = url
    presenterLabel = label
  }

  private func note(_ kind: FilePresenterEvent.Kind, _ origin: AccessOrigin) async {
    await mailbox.send(FilePresenterEvent(kind: kind, origin: origin))
  }

  func presentedItemDidChange(origin: AccessOrigin) async { await note(.itemDidChange, origin) }
  func presentedItemDidMove(to url: URL, origin: AccessOrigin) async { await note(.itemDidMove(to: url), origin) }
  func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<String>, origin: AccessOrigin) async {
    await note(.itemDidChangeUbiquityAttributes(attributes), origin)
  }
  func presentedItemDidChangeVersion(_ change: FileVersionChange, version: String, origin: AccessOrigin) async {
    await note(.itemDidChangeVersion(change, version: version), origin)
  }
  func presentedSubitemDidAppear(at url: URL, origin: AccessOrigin) async { await note(.subitemDidAppear(url), origin) }
  func presentedSubitemDidChange(at url: URL, origin: AccessOrigin) async { await note(.subitemDidChange(url), origin) }
  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL, origin: AccessOrigin) async {
    await note(.subitemDidMove(from: oldURL, to: newURL), origin)
  }
  func presentedSubitemDidChangeVersion(
    at url: URL, _ change: FileVersionChange, version: String, origin: AccessOrigin
  ) async {
    await note(.subitemDidChangeVersion(url, change, version: version), origin)
  }
}

/// A bounded queue between one sender and usually one receiver.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the presenter's callback sends, the consumers' tasks receive |
private final class EventMailbox: Sendable {
  private struct State {
    var events: [FilePresenterEvent] = []
    /// Tasks that wait for an event, the longest first; only while there's none.
    var receivers: [CheckedContinuation<FilePresenterEvent?, Never>] = []
    var sender: CheckedContinuation<Void, Never>?
    var isClosed = false
  }

  private let capacity: Int
  private let state = Guarded(State())

  init(capacity: Int) { self.capacity = capacity }

  /// Suspends while the queue is full.
  ///
  /// After the receiver was cancelled events are dropped.
  func send(_ event: FilePresenterEvent) async {
    await withCheckedContinuation { continuation in
      let (receiver, isFull) = state.withLock { state -> (CheckedContinuation<FilePresenterEvent?, Never>?, Bool) in
        if !state.receivers.isEmpty { return (state.receivers.removeFirst(), false) }
        if state.isClosed { return (nil, false) }
        state.events.append(event)
        if state.events.count < capacity { return (nil, false) }
        state.sender = continuation
        return (nil, true)
      }
      receiver?.resume(returning: event)
      if !isFull { continuation.resume() }
    }
  }

  func next() async -> FilePresenterEvent? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (event, sender, isClosed) = state.withLock {
          state -> (FilePresenterEvent?, CheckedContinuation<Void, Never>?, Bool) in
          if !state.events.isEmpty { return (state.events.removeFirst(), state.sender.take(), false) }
          if state.isClosed { return (nil, nil, true) }
          state.receivers.append(continuation)
          return (nil, nil, false)
        }
        sender?.resume()
        if event != nil || isClosed { continuation.resume(returning: event) }
      }
    } onCancel: {
      close()
    }
  }

  /// Lets everybody go, now and from now on.
  func close() {
    let (receivers, sender) = state.withLock { state in
      state.isClosed = true
      return (exchange(&state.receivers, with: []), state.sender.take())
    }
    for receiver in receivers { receiver.resume(returning: nil) }
    sender?.resume()
  }
}
