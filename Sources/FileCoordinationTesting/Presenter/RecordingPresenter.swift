public import FileCoordination
public import FoundationEssentials

/// A presenter that records every message and answers as a test has set.
///
/// ```swift
/// let presenter = RecordingPresenter(url, label: "editor")
/// let registration = try await domain.register(presenter)
/// let gate = presenter.hold(.saveChanges)
/// // … a reader comes …
/// try await presenter.wait(for: .saveChanges)
/// gate.open()
/// ```
///
/// By default it answers everything at once, and hands over a reacquirer that is recorded when it runs.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `messages` | its own lock | recorded where callbacks run, read by tests |
/// | `settings` | its own lock | changed by tests, read where callbacks run and by the library on any thread |
public final class RecordingPresenter: FilePresenter {
  typealias Answer = @Sendable (RecordedMessage) async throws -> Void

  private struct Settings: Sendable {
    var url: URL?
    var reacquires: Bool
    var answers: [RecordedMessage.Callback: Answer] = [:]
  }

  /// The name in reports, and before each callback in the ``timeline``.
  public let presenterLabel: String
  /// The callbacks that it declares; it implements all of them.
  public let presentedItemCallbacks: FilePresenterCallbacks
  /// Where its callbacks run.
  public let presentedItemExecutor: (any TaskExecutor)?
  /// Whether it may be asked while one of its callbacks waits inside an access.
  public let servesWhileWaiting: Bool
  /// The ubiquity attributes that it observes; `nil` for all.
  public let observedPresentedItemUbiquityAttributes: Set<String>?
  /// Whether it's notified of changes by programs that don't coordinate.
  public let observesUncoordinatedChanges: Bool
  /// Whether it's notified of entries of a plain directory although it declares no callback about subitems.
  public let observesDirectoryEntries: Bool
  /// Where its messages are noted too, as `label.callback`.
  public let timeline: EventTimeline

  private let recorded = Watched<[RecordedMessage]>([])
  private let settings: Watched<Settings>

  /// Creates a presenter.
  ///
  /// It isn't registered anywhere yet.
  ///
  /// - Parameters:
  ///   - url: The presented item; `nil` while it has no location.
  ///   - label: The name in reports.
  ///   - callbacks: The callbacks to declare.
  ///   - executor: Where callbacks run; `nil` for threads of the library.
  ///   - servesWhileWaiting: Whether it may be asked while one of its callbacks waits inside an access.
  ///   - observedUbiquityAttributes: The ubiquity attributes to observe; `nil` for all.
  ///   - observesUncoordinatedChanges: Whether it's notified of changes by programs that don't coordinate.
  ///   - observesDirectoryEntries: Whether it's notified of entries of a plain directory although it declares no
  ///     callback about subitems.
  ///   - timeline: Where to note messages among other events.
  public init(
    _ url: URL?, label: String = "presenter", callbacks: FilePresenterCallbacks = .all,
    executor: (any TaskExecutor)? = nil, servesWhileWaiting: Bool = true,
    observedUbiquityAttributes: Set<String>? = nil, observesUncoordinatedChanges: Bool = false,
    observesDirectoryEntries: Bool = false, timeline: EventTimeline = EventTimeline()
  ) {
    settings = Watched(Settings(url: url, reacquires: true))
    presenterLabel = label
    presentedItemCallbacks = callbacks
    presentedItemExecutor = executor
    self.servesWhileWaiting = servesWhileWaiting
    observedPresentedItemUbiquityAttributes = observedUbiquityAttributes
    self.observesUncoordinatedChanges = observesUncoordinatedChanges
    self.observesDirectoryEntries = observesDirectoryEntries
    self.timeline = timeline
  }

  /// Where the presented item is.
  ///
  /// Follows moves of which the presenter is notified.
  public var presentedItemURL: URL? {
    get { settings.value.url }
    set { settings.update { $0.url = newValue } }
  }

  /// Whether answers to relinquish callbacks hand over a reacquirer.
  ///
  /// `true` unless set.
  public var handsOverReacquirer: Bool {
    get { settings.value.reacquires }
    set { settings.update { $0.reacquires = newValue } }
  }
}

// MARK: - Received messages

extension RecordingPresenter {
  /// Every message so far, in the order of arrival.
  public var messages: [RecordedMessage] { recorded.value }

  /// The callbacks of ``messages``.
  public var callbacks: [RecordedMessage.Callback] { messages.map(\.callback) }

  /// The names of the callbacks of ``messages``, such as `saveChanges`.
  public var callbackNames: [String] { messages.map(\.callback.rawValue) }

  /// Suspends until a callback has been called a number of times.
  ///
  /// - Parameters:
  ///   - callback: The callback.
  ///   - count: How often.
  /// - Returns: The message of that call.
  /// - Throws: `CancellationError` when the task is cancelled first.
  @discardableResult
  public func wait(for callback: RecordedMessage.Callback, count: Int = 1) async throws -> RecordedMessage {
    let messages = try await recorded.waitUntil { messages in messages.count { $0.callback == callback } >= count }
    return messages.filter { $0.callback == callback }[count - 1]
  }

  /// Suspends until the messages satisfy a condition, which is checked after each message.
  ///
  /// - Parameter isSatisfied: The condition.
  /// - Throws: `CancellationError` when the task is cancelled first.
  public func waitUntil(_ isSatisfied: ([RecordedMessage]) -> Bool) async throws {
    try await recorded.waitUntil(isSatisfied)
  }
}

// MARK: - How it answers

extension RecordingPresenter {
  /// Runs a closure as the callback, after the message has been recorded.
  ///
  /// - Parameters:
  ///   - callback: Which callback; for ``RecordedMessage/Callback/reacquire``, the reacquirer.
  ///   - body: The work. An error that it throws is the answer, where the callback can throw.
  public func answer(
    _ callback: RecordedMessage.Callback, _ body: @escaping @Sendable (RecordedMessage) async throws -> Void
  ) {
    settings.update { $0.answers[callback] = body }
  }

  /// Answers a callback with an error.
  ///
  /// - Parameters:
  ///   - callback: Which callback.
  ///   - error: The error.
  public func refuse(_ callback: RecordedMessage.Callback, with error: any Error) {
    answer(callback) { _ in throw error }
  }

  /// Holds each answer of a callback until the gate is open.
  ///
  /// - Parameter callback: Which callback.
  /// - Returns: The gate.
  @discardableResult
  public func hold(_ callback: RecordedMessage.Callback) -> TestGate {
    let gate = TestGate()
    answer(callback) { _ in try await gate.pass() }
    return gate
  }

  /// Answers a callback at once again.
  ///
  /// - Parameter callback: Which callback.
  public func answerAtOnce(_ callback: RecordedMessage.Callback) {
    settings.update { $0.answers[callback] = nil }
  }

  func receive(
    _ callback: RecordedMessage.Callback, _ origin: AccessOrigin, urls: [URL] = [], attributes: Set<String> = [],
    version: RecordedMessage.VersionChange? = nil
  ) async throws {
    let message = recorded.update { messages in
      let message = RecordedMessage(
        messages.count, callback, origin, urls: urls, attributes: attributes, version: version)
      messages.append(message)
      // A test that has waited for the message finds it in the timeline, and the other way round.
      timeline.note("\(presenterLabel).\(callback)")
      return message
    }
    if let answer = settings.value.answers[callback] { try await answer(message) }
  }
}
