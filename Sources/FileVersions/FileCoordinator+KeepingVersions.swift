public import FileCoordination
public import FoundationEssentials
internal import SystemInterface

// The verbs that overwrite a file, with what they overwrite kept. The access is the coordinator's, the versions are the storage's.

extension FileCoordinator {
  /// Gives a file new contents, like ``FileCoordination/FileCoordinator/replaceContents(of:with:options:deadlines:)``, and keeps the old
  /// ones as a version.
  ///
  /// The old file itself becomes the version: nothing is copied. A crash at any moment leaves the old contents in the file, in a
  /// version, or in both.
  ///
  /// Each save adds a version, also one whose bytes are the present ones; ``FileCoordination/FileCoordinator/update(_:keepingVersion:options:deadlines:change:)``
  /// adds none then.
  ///
  /// - Parameters:
  ///   - url: The file; it's made if there's none.
  ///   - contents: The new contents.
  ///   - versions: Keeps the old contents; of the same domain as the coordinator.
  ///   - options: Whether a file that can't be written is replaced.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Throws: `FileCoordinationError` or ``FileVersionError``; the file is as it was, and no version was added.
  /// - Complexity: O(bytes) of the new ones. Old ones of up to 256 KiB are hashed, larger ones later, see
  ///   ``FileVersions/waitForHashes()``.
  public func replaceContents(
    of url: URL, with contents: Data, keepingVersion versions: FileVersions, options: SavingOptions = [],
    deadlines: AccessDeadlines? = nil
  ) async throws {
    let coordinator = self
    try await Offload.run { () throws(any Error) in
      try coordinator.blocking.replaceContents(
        of: url, with: contents, keepingVersion: versions, options: options, deadlines: deadlines)
    }
  }

  /// Changes the contents of a file depending on the present ones, like
  /// ``FileCoordination/FileCoordinator/update(_:options:deadlines:change:)``, and keeps the old ones as a version.
  ///
  /// If `change` leaves them as they are, nothing is written and no version is added.
  ///
  /// - Parameters:
  ///   - url: The file. If there's none, `change` gets no bytes, and a file is made when it leaves some.
  ///   - versions: Keeps the old contents; of the same domain as the coordinator.
  ///   - options: Whether a file that can't be written is replaced.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - change: Changes the bytes in place, on a thread of the library that may block.
  /// - Returns: The result of `change`.
  /// - Throws: `FileCoordinationError`, ``FileVersionError``, or the error thrown by `change`; then the file is as it was, and no
  ///   version was added.
  public func update<Result: Sendable>(
    _ url: URL, keepingVersion versions: FileVersions, options: SavingOptions = [], deadlines: AccessDeadlines? = nil,
    change: @escaping @Sendable (inout Data) throws -> Result
  ) async throws -> Result {
    let coordinator = self
    return try await Offload.run { () throws(any Error) in
      try coordinator.blocking.write(url, options: .forMerging, deadlines: deadlines) { access in
        let old = try FileVersionError.passing { try HostFileSystem().contentsIfPresent(of: access.canonicalPath) }
        var new = old.map { Data($0) } ?? Data()
        let result = try change(&new)
        let bytes = Array(new)
        if bytes != old ?? [] { try versions.keeper.replaceContents(access, bytes, options) }
        return result
      }
    }
  }

  /// Writes an item, like ``FileCoordination/FileCoordinator/write(_:options:deadlines:accessor:)-(URL,_,_,_)``, and first keeps its
  /// contents as a version.
  ///
  /// For accessors that write in place, or to packages: their contents are copied, or their blocks shared, before `accessor` runs.
  ///
  /// - Parameters:
  ///   - url: The item. If there's none, there's nothing to keep.
  ///   - versions: Keeps the old contents; of the same domain as the coordinator.
  ///   - options: Why it's written; at most one.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - accessor: The work to do while the access lasts.
  /// - Returns: The result of `accessor`.
  /// - Throws: `FileCoordinationError`, ``FileVersionError`` before `accessor` has run, or the error thrown by `accessor`; the version
  ///   stays then.
  public func write<Result>(
    _ url: URL, keepingVersion versions: FileVersions, options: WritingOptions = .forUpdating,
    deadlines: AccessDeadlines? = nil, accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    try await write(url, options: options, deadlines: deadlines) { access in
      let path = access.canonicalPath
      let kept = try await versions.perform { keeper in try keeper.keepIfPresent(at: path) }
      if let kept { access.didChangeVersion(.gained, version: kept.description) }
      return try await accessor(access)
    }
  }
}

extension BlockingFileCoordinator {
  /// Gives a file new contents, and keeps the old ones as a version; blocks until that's done.
  ///
  /// See ``FileCoordination/FileCoordinator/replaceContents(of:with:keepingVersion:options:deadlines:)``.
  ///
  /// - Parameters:
  ///   - url: The file; it's made if there's none.
  ///   - contents: The new contents.
  ///   - versions: Keeps the old contents; of the same domain as the coordinator.
  ///   - options: Whether a file that can't be written is replaced.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Throws: `FileCoordinationError` or ``FileVersionError``; the file is as it was, and no version was added.
  @available(*, noasync, message: "blocks the thread; use 'try await coordinator.replaceContents'")
  public func replaceContents(
    of url: URL, with contents: Data, keepingVersion versions: FileVersions,
    options: FileCoordinator.SavingOptions = [], deadlines: AccessDeadlines? = nil
  ) throws {
    let bytes = Array(contents)
    try write(url, deadlines: deadlines) { access in try versions.keeper.replaceContents(access, bytes, options) }
  }
}

extension VersionKeeper {
  func replaceContents(
    _ access: borrowing FileAccess, _ contents: [UInt8], _ options: FileCoordinator.SavingOptions
  ) throws {
    try FileVersionError.passing {
      try keep(access) { path, target, settle in
        try HostFileSystem().replaceContents(
          of: path, with: contents, permission: options.contains(.replacesReadOnly) ? .ignored : .required,
          over: target, settling: settle)
      }
    }
  }
}

extension HostFileSystem {
  /// All bytes of a file; `nil` if nothing is there.
  fileprivate func contentsIfPresent(of path: SystemPath) throws(SystemError) -> [UInt8]? {
    do throws(SystemError) { return try contents(of: path) } catch let error {
      if error.number == .noSuchFileOrDirectory { return nil }
      throw error
    }
  }
}
