public import FileCoordination
public import FoundationEssentials

// Each callback is recorded, and answered as `answer(_:_:)` says. See `FilePresenter` for their meanings.

extension RecordingPresenter {
  /// Records the message, and hands over a reacquirer if ``handsOverReacquirer``.
  public func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
    try await receive(.relinquishToReader, origin)
    return reacquirer(origin)
  }

  /// Records the message, and hands over a reacquirer if ``handsOverReacquirer``.
  public func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
    try await receive(.relinquishToWriter, origin)
    return reacquirer(origin)
  }

  private func reacquirer(_ origin: AccessOrigin) -> FileReacquirer? {
    // It keeps the presenter alive until it has run, so that a test sees it run.
    if handsOverReacquirer { return { try? await self.receive(.reacquire, origin) } }
    return nil
  }

  /// Records the message.
  public func savePresentedItemChanges(origin: AccessOrigin) async throws {
    try await receive(.saveChanges, origin)
  }

  /// Records the message.
  public func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
    try await receive(.accommodateDeletion, origin)
  }

  /// Records the message.
  ///
  /// To agree to the eviction, let ``answer(_:_:)`` unregister this presenter.
  public func accommodatePresentedItemEviction(origin: AccessOrigin) async throws {
    try await receive(.accommodateEviction, origin)
  }

  /// Records the message.
  public func accommodatePresentedSubitemDeletion(at url: URL, origin: AccessOrigin) async throws {
    try await receive(.accommodateSubitemDeletion, origin, urls: [url])
  }

  /// Records the message, and follows the move.
  public func presentedItemDidMove(to url: URL, origin: AccessOrigin) async {
    presentedItemURL = url
    try? await receive(.itemDidMove, origin, urls: [url])
  }

  /// Records the message.
  public func presentedItemDidChange(origin: AccessOrigin) async {
    try? await receive(.itemDidChange, origin)
  }

  /// Records the message.
  public func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<String>, origin: AccessOrigin) async {
    try? await receive(.itemDidChangeUbiquityAttributes, origin, attributes: attributes)
  }

  /// Records the message.
  public func presentedItemDidChangeVersion(
    _ change: FileVersionChange, version: String, origin: AccessOrigin
  ) async {
    try? await receive(
      .itemDidChangeVersion, origin, version: RecordedMessage.VersionChange(change: change, version: version))
  }

  /// Records the message.
  public func presentedSubitemDidAppear(at url: URL, origin: AccessOrigin) async {
    try? await receive(.subitemDidAppear, origin, urls: [url])
  }

  /// Records the message.
  public func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL, origin: AccessOrigin) async {
    try? await receive(.subitemDidMove, origin, urls: [oldURL, newURL])
  }

  /// Records the message.
  public func presentedSubitemDidChange(at url: URL, origin: AccessOrigin) async {
    try? await receive(.subitemDidChange, origin, urls: [url])
  }

  /// Records the message.
  public func presentedSubitemDidChangeVersion(
    at url: URL, _ change: FileVersionChange, version: String, origin: AccessOrigin
  ) async {
    try? await receive(
      .subitemDidChangeVersion, origin, urls: [url],
      version: RecordedMessage.VersionChange(change: change, version: version))
  }
}
