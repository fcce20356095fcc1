internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

/// The receiver of messages about a document's file.
protocol DocumentMessageReceiver: Actor, EndingDocument {
  /// Whether what's in the item are parts of the document.
  nonisolated var isPackage: Bool { get }
  /// - Returns: Whether the document waits for the end of that program.
  func writerArrived(for presenter: DocumentPresenter) -> Bool
  func writerLeft(for presenter: DocumentPresenter)
  func saveAsked(of presenter: DocumentPresenter) async throws
  func deletionAsked(of presenter: DocumentPresenter)
  func itemChanged(for presenter: DocumentPresenter)
  func itemMoved(for presenter: DocumentPresenter)
  func versionsChanged(for presenter: DocumentPresenter)
}

/// A document as others see it: one for each time that it's opened.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `location` | its lock | moves are noted here, accesses read it on any thread |
/// | `messages` | its lock | operations wait for messages that come on another thread |
/// | `missed` | its lock | as above |
/// | `document` | constant | weak: a document that nobody uses any more isn't presented |
final class DocumentPresenter: FilePresenter {
  private struct Messages: Sendable {
    var count = 0
    var waiting: [FileAnswer<Void>] = []
  }

  private struct Location: Sendable {
    var url: URL
    var moveCount = 0
    /// Made when it's first asked for after a move: taking a URL apart takes long.
    var label: String?
  }

  private let location: Guarded<Location>
  private let messages = Guarded(Messages())
  /// A message came before the presenter was the document's: it's registered inside the access that reads, and others go on as soon as
  /// that ends.
  private let missed = Guarded(false)
  private let document: WeakActor
  let observesUncoordinatedChanges: Bool
  let presentedItemExecutor: (any TaskExecutor)?
  private let isPackage: Bool

  init(
    _ url: URL, atCanonicalPath path: String, of document: any DocumentMessageReceiver,
    observesUncoordinatedChanges: Bool, _ executor: (any TaskExecutor)?
  ) {
    presentedItemExecutor = executor
    let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
    location = Guarded(Location(url: url, label: Self.label(name)))
    self.document = WeakActor(document)
    self.observesUncoordinatedChanges = observesUncoordinatedChanges
    isPackage = document.isPackage
  }

  var hasMissedMessages: Bool { missed.withLock { $0 } }
  func noteMissedMessage() { missed.withLock { $0 = true } }

  private var receiver: (any DocumentMessageReceiver)? { document.actor as? any DocumentMessageReceiver }

  var url: URL {
    get { location.withLock { $0.url } }
    set { location.withLock { $0 = Location(url: newValue, moveCount: $0.moveCount + 1) } }
  }

  /// The URL, and which one it is.
  var place: (url: URL, moveCount: Int) { location.withLock { ($0.url, $0.moveCount) } }

  /// How often the URL was set: a comparison of URLs takes long.
  var moveCount: Int { location.withLock { $0.moveCount } }

  /// Whether the news of a move came between the choice of a place and the request of an access: then the access is of whatever is at the
  /// former place by now.
  ///
  /// A request that's there before the document has the news is led to the new place (C-317), so an access is at one of the two.
  func isOutrun(_ asked: URL, at url: URL) -> Bool {
    let present = self.url
    return present != asked && present.standardizedFileURL != url.standardizedFileURL
  }

  /// How many messages have come that say something about the place or the contents of the file.
  var messageCount: Int { messages.withLock { $0.count } }

  /// Waits until such a message has come, or a time has passed.
  ///
  /// - Returns: Whether one has come.
  func waitForMessage(after count: Int, atMost duration: Duration, _ clock: any CoordinationClock) async -> Bool {
    try? await FileAnswer<Void>.wait { answer in
      let hasCome = messages.withLock { messages in
        if messages.count == count { messages.waiting.append(answer) }
        return messages.count != count
      }
      _ = clock.schedule(at: clock.now.advanced(by: duration)) { answer.succeed() }
      if hasCome { answer.succeed() }
    }
    return messageCount != count
  }

  /// A message has come that says something about the place or the contents.
  func noteMessage() {
    let waiting = messages.withLock { messages in
      messages.count += 1
      defer { messages.waiting = [] }
      return messages.waiting
    }
    for answer in waiting { answer.succeed() }
  }

  var presentedItemURL: URL? { url }

  private static func label(_ name: some StringProtocol) -> String { "document '\(name)'" }

  /// Whether a party is a document.
  static func isLabel(_ label: String) -> Bool { label.hasPrefix("document '") }

  var presenterLabel: String {
    location.withLock { location in
      let label = location.label ?? Self.label(location.url.lastPathComponent)
      location.label = label
      return label
    }
  }

  var presentedItemCallbacks: FilePresenterCallbacks {
    let callbacks: FilePresenterCallbacks = [
      .relinquishToWriter, .saveChanges, .accommodateDeletion, .itemDidMove, .itemDidChange, .itemVersions,
    ]
    // That of a change stands for all others about members.
    return isPackage ? callbacks.union(.subitemDidChange) : callbacks
  }

  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
    guard let receiver, await receiver.writerArrived(for: self) else { return nil }
    return { [weak self] in
      guard let self else { return }
      await self.receiver?.writerLeft(for: self)
    }
  }

  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    try await receiver?.saveAsked(of: self)
  }

  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
    await receiver?.deletionAsked(of: self)
  }

  func presentedItemDidMove(to newURL: URL, origin: AccessOrigin) async {
    url = newURL
    noteMessage()
    await receiver?.itemMoved(for: self)
    // Such a move may stand for a change right before it.
    if !origin.isCoordinated { await receiver?.itemChanged(for: self) }
  }

  func presentedItemDidChange(origin: AccessOrigin) async {
    noteMessage()
    if origin.isVerified != false { await receiver?.itemChanged(for: self) }
  }

  func presentedSubitemDidChange(at url: URL, origin: AccessOrigin) async {
    noteMessage()
    await receiver?.itemChanged(for: self)
  }

  func presentedItemDidChangeVersion(_ change: FileVersionChange, version: String, origin: AccessOrigin) async {
    await receiver?.versionsChanged(for: self)
  }
}
