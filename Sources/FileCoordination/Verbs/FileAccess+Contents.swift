public import FoundationEssentials
internal import SystemInterface

// The contents of the item inside an accessor, as an alternative to nested verbs and unsafe saving.

extension FileAccess {
  /// The contents of the file.
  ///
  /// Runs on a thread of this library that may block.
  ///
  /// - Returns: All of its bytes.
  /// - Throws: ``FileCoordinationError``, with code `.fileSystem` when there's no such file, or it's a FIFO, socket or
  ///   device.
  public func contents() async throws(FileCoordinationError) -> Data {
    try checkOngoing()
    return try await work.contents()
  }

  /// Gives the file new contents safely, see ``FileCoordinator/replaceContents(of:with:options:deadlines:)``.
  ///
  /// Runs on a thread of this library that may block.
  ///
  /// - Parameters:
  ///   - contents: The new contents.
  ///   - options: Whether a file that can't be written is replaced.
  /// - Throws: ``FileCoordinationError``, with code `.notWritable` inside an access that only reads. Then the file is
  ///   as it was, unless the message says that the change is in place.
  public func replaceContents(
    with contents: Data, options: FileCoordinator.SavingOptions = []
  ) async throws(FileCoordinationError) {
    try checkWritable()
    try await work.replaceContents(with: contents, options)
  }

  /// The contents of the file.
  ///
  /// Blocks.
  ///
  /// - Returns: All of its bytes.
  /// - Throws: ``FileCoordinationError``, with code `.fileSystem` when there's no such file.
  @available(*, noasync, message: "blocks the thread; use 'try await access.contents()'")
  public func contents() throws(FileCoordinationError) -> Data {
    try checkOngoing()
    return try work.blocking.contents()
  }

  /// Gives the file new contents safely.
  ///
  /// Blocks.
  ///
  /// See ``FileCoordinator/replaceContents(of:with:options:deadlines:)``.
  ///
  /// - Parameters:
  ///   - contents: The new contents.
  ///   - options: Whether a file that can't be written is replaced.
  /// - Throws: ``FileCoordinationError``, with code `.notWritable` inside an access that only reads. Then the file is
  ///   as it was, unless the message says that the change is in place.
  @available(*, noasync, message: "blocks the thread; use 'try await access.replaceContents'")
  public func replaceContents(
    with contents: Data, options: FileCoordinator.SavingOptions = []
  ) throws(FileCoordinationError) {
    try checkWritable()
    try work.blocking.replaceContents(with: contents, options)
  }
}
