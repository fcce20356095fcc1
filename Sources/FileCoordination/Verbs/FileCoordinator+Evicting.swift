internal import CompactContainers
internal import FileAccessArbiter
public import FoundationEssentials
internal import SystemInterface

extension FileCoordinator {
  /// Removes the contents of an item that is kept elsewhere too, if every presenter agrees by unregistering.
  ///
  /// For programs that provide files from elsewhere. Waits for everything inside the item, like deleting. A presenter
  /// that doesn't declare `.accommodateEviction`, answers with an error, or stays registered, is a veto.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: Removes the contents.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError``, with code `.evictionRefused` after a veto, or the error thrown by `accessor`.
  /// - Note: Rules C-208 and C-209.
  public func evict<Result>(
    _ url: URL, deadlines: AccessDeadlines? = nil, accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    try await withAccess(evictionPlan(url), deadlines) { access in
      try await accessor(FileAccess(access, 0))
    }
  }

  func evictionPlan(_ url: URL) throws(FileCoordinationError) -> AccessPlan {
    var plan = AccessPlan("evict")
    plan.items = [AccessPlan.Item(access: .write(.evicting), location: try FileLocation(url, in: fileSystem))]
    return plan
  }
}

extension BlockingFileCoordinator {
  /// Removes the contents of an item that is kept elsewhere too.
  ///
  /// Blocks.
  ///
  /// See ``FileCoordinator/evict(_:deadlines:accessor:)``.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: Removes the contents, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError``, with code `.evictionRefused` after a veto, or the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.evict'")
  public func evict<Result>(
    _ url: URL, deadlines: AccessDeadlines? = nil, accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    try withAccess(coordinator.evictionPlan(url), deadlines) { try accessor(FileAccess($0, 0)) }
  }
}
