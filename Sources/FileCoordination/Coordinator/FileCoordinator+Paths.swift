internal import SystemInterface

// The primitives on paths that are taken at their word.

extension FileCoordinator {
  /// Reads the item at a path that is taken at its word: no file system is asked where it leads.
  ///
  /// For programs that deal in canonical paths, such as those that they got from a directory listing below a resolved root.
  /// Symbolic links on the way are *not* resolved: an access of the same file by another spelling doesn't wait for this one.
  /// `.`, `..` and spare slashes are removed lexically.
  ///
  /// - Parameters:
  ///   - path: An absolute path. The item doesn't have to exist.
  ///   - options: How it's read; not `.resolvesSymbolicLink`.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  public func read<Result>(
    path: String, options: ReadingOptions = [], deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    try options.refuseLinks(path)
    return try await read(
      host.identities.item(atLexicalPath: path), options: options, deadlines: deadlines, accessor: accessor)
  }

  /// Writes the item at a path that is taken at its word: no file system is asked where it leads.
  ///
  /// See ``read(path:options:deadlines:accessor:)`` for the consequences.
  ///
  /// - Parameters:
  ///   - path: An absolute path. The item doesn't have to exist.
  ///   - options: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  public func write<Result>(
    path: String, options: WritingOptions = .forUpdating, deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    try await write(
      host.identities.item(atLexicalPath: path), options: options, deadlines: deadlines, accessor: accessor)
  }
}

extension BlockingFileCoordinator {
  /// Reads the item at a path that is taken at its word.
  ///
  /// Blocks until access is granted. See ``FileCoordinator/read(path:options:deadlines:accessor:)``.
  ///
  /// - Parameters:
  ///   - path: An absolute path. The item doesn't have to exist.
  ///   - options: How it's read; not `.resolvesSymbolicLink`.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.read'")
  public func read<Result>(
    path: String, options: FileCoordinator.ReadingOptions = [], deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    try options.refuseLinks(path)
    return try coordinator.withIdentities { identities in
      try identities.withItem(atLexicalPath: path) { item in try readResolved(item, options, deadlines, accessor) }
    }
  }

  /// Writes the item at a path that is taken at its word.
  ///
  /// Blocks until access is granted. See ``FileCoordinator/read(path:options:deadlines:accessor:)``.
  ///
  /// - Parameters:
  ///   - path: An absolute path. The item doesn't have to exist.
  ///   - options: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts, on the calling thread.
  /// - Returns: The result of `accessor`.
  /// - Throws: ``FileCoordinationError`` when there's no access, or the error thrown by `accessor`.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.write'")
  public func write<Result>(
    path: String, options: FileCoordinator.WritingOptions = .forUpdating, deadlines: AccessDeadlines? = nil,
    accessor: (borrowing FileAccess) throws -> Result
  ) throws -> Result {
    try coordinator.withIdentities { identities in
      try identities.withItem(atLexicalPath: path) { item in try writeResolved(item, options, deadlines, accessor) }
    }
  }
}

extension FileCoordinator.ReadingOptions {
  @inline(__always)
  fileprivate func refuseLinks(_ path: String) throws(FileCoordinationError) {
    if contains(.resolvesSymbolicLink) {
      throw .optionNotAllowed(".resolvesSymbolicLink", in: "read(path:)", url: path)
    }
  }
}
