public import FoundationEssentials

// The blocking twins of the verbs, with the same guarantees.

extension BlockingFileCoordinator {
  /// The contents of a file.
  ///
  /// Blocks. See ``FileCoordinator/contents(of:options:deadlines:)``.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - options: How it's read.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Returns: All of its bytes.
  /// - Throws: ``FileCoordinationError``, with code `.fileSystem` when there's no such file.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.contents'")
  public func contents(
    of url: URL, options: FileCoordinator.ReadingOptions = [], deadlines: AccessDeadlines? = nil
  ) throws -> Data {
    try read(url, options: options.union(.resolvesSymbolicLink), deadlines: deadlines) { access in
      try access.work.blocking.contents()
    }
  }

  /// Changes the contents of a file depending on the present ones.
  ///
  /// Blocks.
  ///
  /// See ``FileCoordinator/update(_:options:deadlines:change:)``.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - options: Whether a file that can't be written is replaced.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - change: Changes the bytes in place.
  /// - Returns: The result of `change`.
  /// - Throws: ``FileCoordinationError``, or the error thrown by `change`; then the file is as it was, unless the message
  ///   says that the change is in place.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.update'")
  public func update<Result>(
    _ url: URL, options: FileCoordinator.SavingOptions = [], deadlines: AccessDeadlines? = nil,
    change: (inout Data) throws -> Result
  ) throws -> Result {
    try write(url, options: .forMerging, deadlines: deadlines) { access in
      let work = access.work.blocking
      let old = try work.contentsIfPresent()
      var new = old ?? Data()
      let result = try change(&new)
      if new != old ?? Data() { try work.replaceContents(with: new, options) }
      return result
    }
  }

  /// Gives a file new contents safely.
  ///
  /// Blocks. See ``FileCoordinator/replaceContents(of:with:options:deadlines:)``.
  ///
  /// - Parameters:
  ///   - url: The file; it's made if there's none.
  ///   - contents: The new contents.
  ///   - options: Whether a file that can't be written is replaced.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Throws: ``FileCoordinationError``; then the file is as it was, unless the message says that the change is in
  ///   place and the directory couldn't be synced.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.replaceContents'")
  public func replaceContents(
    of url: URL, with contents: Data, options: FileCoordinator.SavingOptions = [], deadlines: AccessDeadlines? = nil
  ) throws {
    try write(url, deadlines: deadlines) { access in
      try access.work.blocking.replaceContents(with: contents, options)
    }
  }

  /// Deletes an item with everything in it.
  ///
  /// Blocks. See ``FileCoordinator/delete(_:deadlines:)``.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Throws: ``FileCoordinationError``, with code `.fileSystem` when there's no such item.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.delete'")
  public func delete(_ url: URL, deadlines: AccessDeadlines? = nil) throws {
    try write(url, options: .forDeleting, deadlines: deadlines) { try $0.work.blocking.delete() }
  }

  /// Moves or renames an item.
  ///
  /// Blocks. See ``FileCoordinator/move(_:to:replacing:deadlines:)``.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - destination: Its new place.
  ///   - replacing: Whether to take the place of an item that's there.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Throws: ``FileCoordinationError``, with code `.destinationExists` when something is there and not to be replaced.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.move'")
  public func move(
    _ source: URL, to destination: URL, replacing: Bool = false, deadlines: AccessDeadlines? = nil
  ) throws {
    try write(source, options: .forMoving, and: destination, secondOptions: .forReplacing, deadlines: deadlines) {
      from, to in
      let announcement = from.moveAnnouncement(to: to)
      let problem = try from.work.blocking.move(to: to.path, replacing: replacing, announcement)
      try announcement.make()
      if let problem { throw problem }
    }
  }

  /// Copies an item.
  ///
  /// Blocks. See ``FileCoordinator/copy(_:to:replacing:deadlines:)``.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - destination: The place of the copy.
  ///   - replacing: Whether to take the place of an item that's there.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Throws: ``FileCoordinationError``, with code `.destinationExists` when something is there and not to be replaced.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.copy'")
  public func copy(
    _ source: URL, to destination: URL, replacing: Bool = false, deadlines: AccessDeadlines? = nil
  ) throws {
    try read(source, writing: destination, writingOptions: .forReplacing, deadlines: deadlines) { from, to in
      try from.work.blocking.copy(to: to.path, replacing: replacing)
    }
  }
}
