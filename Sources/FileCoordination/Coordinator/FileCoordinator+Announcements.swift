internal import CoordinationService
internal import FileAccessArbiter
public import FoundationEssentials
internal import SystemInterface

extension FileCoordinator {
  /// Announces that ubiquity attributes of an item have changed, to presenters that observe at least one of them.
  ///
  /// Moves are announced inside the write that made them: ``FileAccess/didMove(to:)-6iacr``. Suspends until the domain has a service.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - attributes: The names of the attributes that changed.
  /// - Throws: ``FileCoordinationError`` when the URL can't name a file, or with code `.messageTooLong` when the names don't fit
  ///   into a message to other processes.
  /// - Note: Rules C-205…C-207.
  public func item(
    at url: URL, didChangeUbiquityAttributes attributes: Set<String>
  ) async throws(FileCoordinationError) {
    try await host.withoutBlocking { () throws(FileCoordinationError) in try self.announce(attributes, at: url) }
  }

  /// Announces that ubiquity attributes of an item have changed, and blocks the thread until the domain has a service.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - attributes: The names of the attributes that changed.
  /// - Throws: ``FileCoordinationError`` when the URL can't name a file, or with code `.messageTooLong`.
  public func item(
    at url: URL, didChangeUbiquityAttributes attributes: Set<String>
  ) throws(FileCoordinationError) {
    try announce(attributes, at: url)
  }

  private func announce(_ attributes: Set<String>, at url: URL) throws(FileCoordinationError) {
    try host.checkLength(of: attributes)
    let announcement = announcement(at: try FileLocation(url, in: fileSystem).path)
    try host.transport.ensureConnected()
    host.step(.ubiquityAttributesChanged(announcement, attributes))
  }

  /// Announces a change of a version of an item to its presenters and to those of what is around it.
  ///
  /// Like ``FileAccess/didChangeVersion(_:version:)``, for code that's a step of somebody else's access. Blocks the thread until the
  /// domain has a service.
  package func announceVersion(
    _ change: FileVersionChange, named version: String, at url: URL
  ) throws(FileCoordinationError) {
    let path = try FileLocation(url, in: fileSystem).path
    try host.transport.ensureConnected()
    announceVersion(change, version, at: path)
  }

  func announceVersion(_ change: FileVersionChange, _ version: String, at path: ItemPath) {
    host.step(.versionChanged(announcement(at: path), change.message, version.fittingFrame))
  }

  /// The presenters, accesses and waits in this coordinator's domain right now.
  ///
  /// Suspends in a domain of many processes, see ``CoordinationDomain/snapshot()-3ccyd``.
  ///
  /// - Returns: The state between two events.
  /// - Throws: ``FileCoordinationError`` when the domain can't be asked.
  public func snapshot() async throws(FileCoordinationError) -> CoordinationSnapshot { try await domain.snapshot() }

  /// The presenters, accesses and waits in this coordinator's domain right now, for code that isn't asynchronous.
  ///
  /// Blocks the thread in a domain of many processes.
  ///
  /// - Returns: The state between two events.
  /// - Throws: ``FileCoordinationError`` when the domain can't be asked.
  public func snapshot() throws(FileCoordinationError) -> CoordinationSnapshot { try domain.snapshot() }

  func announcement(at path: ItemPath) -> Announcement {
    Announcement(
      client: ArbiterHost.client, purpose: purpose, ownPresenter: presenter.flatMap(host.record)?.id,
      label: label.fittingFrame, path: path)
  }
}
