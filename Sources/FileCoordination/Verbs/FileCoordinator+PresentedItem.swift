internal import FoundationEssentials

// A presenter's accesses to its own item, without naming it: a move that the presenter hasn't heard of yet is followed.

extension FileCoordinator {
  /// Reads the item of the presenter that this coordinator was made for.
  ///
  /// See ``read(_:options:deadlines:accessor:)-(URL,_,_,_)``.
  ///
  /// - Parameters:
  ///   - options: How it's read.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError``, with code `.presenterWithoutURL` when there's no presenter or it has no URL, or
  ///   the error thrown by `accessor`.
  public func readPresentedItem<Result>(
    options: ReadingOptions = [], deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    try await read(presentedItemURL(), options: options, deadlines: deadlines, accessor: accessor)
  }

  /// Writes the item of the presenter that this coordinator was made for.
  ///
  /// See ``write(_:options:deadlines:accessor:)-(URL,_,_,_)``.
  ///
  /// - Parameters:
  ///   - options: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError``, with code `.presenterWithoutURL` when there's no presenter or it has no URL, or
  ///   the error thrown by `accessor`.
  public func writePresentedItem<Result>(
    options: WritingOptions = .forUpdating, deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    try await write(presentedItemURL(), options: options, deadlines: deadlines, accessor: accessor)
  }

  func presentedItemURL() throws(FileCoordinationError) -> URL {
    guard let presenter else { throw .presenterWithoutURL(label, hasPresenter: false) }
    guard let url = presenter.presentedItemURL else {
      throw .presenterWithoutURL(presenter.presenterLabel, hasPresenter: true)
    }
    return url
  }
}

extension BlockingFileCoordinator {
  /// Reads the item of the presenter that this coordinator was made for.
  ///
  /// Blocks.
  ///
  /// See ``FileCoordinator/readPresentedItem(options:deadlines:accessor:)``.
  ///
  /// - Parameters:
  ///   - options: How it's read.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError``, with code `.presenterWithoutURL` when there's no presenter or it has no URL, or
  ///   the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.readPresentedItem'")
  public func readPresentedItem<Result>(
    options: FileCoordinator.ReadingOptions = [], deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    try read(coordinator.presentedItemURL(), options: options, deadlines: deadlines, accessor: accessor)
  }

  /// Writes the item of the presenter that this coordinator was made for.
  ///
  /// Blocks.
  ///
  /// See ``FileCoordinator/writePresentedItem(options:deadlines:accessor:)``.
  ///
  /// - Parameters:
  ///   - options: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError``, with code `.presenterWithoutURL` when there's no presenter or it has no URL, or
  ///   the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.writePresentedItem'")
  public func writePresentedItem<Result>(
    options: FileCoordinator.WritingOptions = .forUpdating, deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    try write(coordinator.presentedItemURL(), options: options, deadlines: deadlines, accessor: accessor)
  }
}
