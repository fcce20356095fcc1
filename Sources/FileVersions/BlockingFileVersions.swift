internal import FileCoordination
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// The calls of ``FileVersions`` that block the calling thread.
///
/// For threads of one's own. Never on a thread of the cooperative pool: from `async` code use ``FileVersions`` itself. Each call waits,
/// asks presenters and fails exactly like its suspending twin.
public struct BlockingFileVersions: Sendable {
  let keeper: VersionKeeper

  // MARK: - Listing

  /// The present contents of a file, as a version; `nil` when nothing is there.
  ///
  /// See ``FileVersions/currentVersion(of:)``.
  ///
  /// - Parameter url: The file.
  /// - Returns: The version.
  /// - Throws: ``FileVersionError``.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  public func currentVersion(of url: URL) throws(FileVersionError) -> FileVersion? {
    try keeper.throwing { keeper in try keeper.currentVersion(at: keeper.path(of: url)) }
  }

  /// The versions that are kept of a file, newest first; `nil` when nothing is there.
  ///
  /// See ``FileVersions/versions(of:)``.
  ///
  /// - Parameter url: The file.
  /// - Returns: The versions.
  /// - Throws: ``FileVersionError``.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  public func versions(of url: URL) throws(FileVersionError) -> [FileVersion]? {
    try keeper.throwing { keeper in try keeper.versions(at: keeper.path(of: url)) }
  }

  /// The contents of a version of a file.
  ///
  /// See ``FileVersions/contents(of:)``.
  ///
  /// - Parameter version: A version, not of a package.
  /// - Returns: All of its bytes.
  /// - Throws: ``FileVersionError``.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  public func contents(of version: FileVersion) throws(FileVersionError) -> Data {
    try keeper.throwing { keeper in
      if version.isCurrent { return try keeper.coordinator.blocking.contents(of: version.url) }
      return try keeper.contents(of: version)
    }
  }

  /// Compares a version with the hash that was made when it was kept.
  ///
  /// See ``FileVersions/verify(_:)``.
  ///
  /// - Parameter version: A version that's kept.
  /// - Throws: ``FileVersionError``.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  public func verify(_ version: FileVersion) throws(FileVersionError) {
    try keeper.throwing { keeper in try keeper.verify(version) }
  }

  // MARK: - Keeping

  /// Keeps the contents of a file as a version: presenters save them first.
  ///
  /// See ``FileVersions/addVersion(of:isConflict:parents:isPackage:)``.
  ///
  /// - Parameters:
  ///   - url: The file or package.
  ///   - isConflict: Whether it stems from two writers that collided.
  ///   - parents: The versions that it was made from.
  ///   - isPackage: Whether a directory at `url` is a package although its name has no extension and it has no versions yet.
  /// - Returns: The version.
  /// - Throws: ``FileVersionError``.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  @discardableResult
  public func addVersion(
    of url: URL, isConflict: Bool = false, parents: [FileVersion.ID] = [], isPackage: Bool = false
  ) throws(FileVersionError) -> FileVersion {
    try keeper.throwing { keeper in
      try keeper.coordinator.blocking.read(url) { access in
        let addition = Addition(isConflict: isConflict, parents: parents, isPackage: isPackage)
        return try keeper.add(access, from: access.canonicalPath, addition)
      }
    }
  }

  /// Keeps the contents of another file as a version of a file.
  ///
  /// See ``FileVersions/addVersion(of:contentsOf:byMoving:isConflict:parents:isPackage:)``.
  ///
  /// - Parameters:
  ///   - url: The file or package that the version is of.
  ///   - source: The contents.
  ///   - byMoving: Whether nothing remains at `source`.
  ///   - isConflict: Whether it stems from two writers that collided.
  ///   - parents: The versions that it was made from.
  ///   - isPackage: Whether a directory at `url` is a package although its name has no extension and it has no versions yet.
  /// - Returns: The version.
  /// - Throws: ``FileVersionError``; nothing was changed then.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  @discardableResult
  public func addVersion(
    of url: URL, contentsOf source: URL, byMoving: Bool = false, isConflict: Bool = false,
    parents: [FileVersion.ID] = [], isPackage: Bool = false
  ) throws(FileVersionError) -> FileVersion {
    try keeper.throwing { keeper in
      let addition = Addition(isConflict: isConflict, parents: parents, byMoving: byMoving, isPackage: isPackage)
      if byMoving, let lent = keeper.pathInTemporaryDirectory(source) {
        // Nobody else knows of it.
        return try keeper.coordinator.readOnce(url) { item in try keeper.add(item, from: lent, addition) }
      }
      let intents = [
        FileAccessIntent.reading(url, options: .withoutChanges),
        byMoving ? FileAccessIntent.writing(source, options: .forDeleting) : .reading(source),
      ]
      return try keeper.coordinator.blocking.coordinate(intents) { items in
        try keeper.add(items[0], from: items[1].canonicalPath, addition)
      }
    }
  }

  // MARK: - Restoring and removing

  /// Puts the contents of a version in the place of a file; the contents that they overwrite become a version first.
  ///
  /// See ``FileVersions/restore(_:to:)``.
  ///
  /// - Parameters:
  ///   - version: A version that's kept.
  ///   - url: The file; it doesn't have to exist.
  /// - Returns: Where the contents are.
  /// - Throws: ``FileVersionError``; the file is as it was then.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  @discardableResult
  public func restore(_ version: FileVersion, to url: URL) throws(FileVersionError) -> URL {
    try keeper.throwing { keeper in try keeper.restore(version, to: url) }
  }

  /// Removes a version.
  ///
  /// See ``FileVersions/remove(_:of:)``.
  ///
  /// - Parameters:
  ///   - version: A version that's kept.
  ///   - url: The file that it's of.
  /// - Throws: ``FileVersionError``.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  public func remove(_ version: FileVersion, of url: URL) throws(FileVersionError) {
    try keeper.throwing { keeper in
      try keeper.changeVersions(of: url) { access, claimed in try keeper.remove([version], access, claimed) }
    }
  }

  /// Removes versions of a file, all that are kept unless stated.
  ///
  /// See ``FileVersions/removeOtherVersions(of:where:)``.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - isSelected: Which of them.
  /// - Returns: The versions that were removed.
  /// - Throws: ``FileVersionError``.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  @discardableResult
  public func removeOtherVersions(
    of url: URL, where isSelected: (FileVersion) -> Bool = { _ in true }
  ) throws(FileVersionError) -> [FileVersion] {
    try keeper.throwing { keeper in
      try keeper.changeVersions(of: url) { access, claimed in
        let versions = try keeper.versions(at: access.canonicalPath, claimed)?.filter(isSelected) ?? []
        try keeper.remove(versions, access, claimed)
        return versions
      }
    }
  }

  /// Takes a conflict off the list of those that aren't resolved; its contents stay.
  ///
  /// See ``FileVersions/markResolved(_:of:)``.
  ///
  /// - Parameters:
  ///   - version: A conflict. Others are resolved already.
  ///   - url: The file that it's of.
  /// - Returns: The version as it is now.
  /// - Throws: ``FileVersionError``.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  @discardableResult
  public func markResolved(_ version: FileVersion, of url: URL) throws(FileVersionError) -> FileVersion {
    try keeper.throwing { keeper in
      try keeper.changeVersions(of: url) { access, claimed in try keeper.markResolved(version, access, claimed) }
    }
  }

  /// Allows a version to be removed at any time to get space.
  ///
  /// See ``FileVersions/markDiscardable(_:of:)``.
  ///
  /// - Parameters:
  ///   - version: A version that's kept.
  ///   - url: The file that it's of.
  /// - Returns: The version as it is now.
  /// - Throws: ``FileVersionError``.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  @discardableResult
  public func markDiscardable(_ version: FileVersion, of url: URL) throws(FileVersionError) -> FileVersion {
    try keeper.throwing { keeper in try keeper.markDiscardable(version, at: keeper.path(of: url)) }
  }

  /// Makes an empty directory from which files become versions by a rename.
  ///
  /// See ``FileVersions/withTemporaryDirectory(for:_:)``, which removes it as well.
  ///
  /// - Parameter url: The file of which they become versions.
  /// - Returns: The directory; the caller removes it.
  /// - Throws: ``FileVersionError``.
  @available(*, noasync, message: "blocks the thread; call it on 'FileVersions' itself")
  public func makeTemporaryDirectory(for url: URL) throws(FileVersionError) -> URL {
    try keeper.throwing { keeper in try keeper.makeTemporaryDirectory(for: keeper.path(of: url)) }
  }
}

extension VersionKeeper {
  func path(of url: URL) throws -> SystemPath { try coordinator.canonicalPath(of: url) }

  /// Turns any error into ours.
  func throwing<Result>(_ body: (VersionKeeper) throws -> Result) throws(FileVersionError) -> Result {
    do { return try body(self) } catch { throw FileVersionError(error) }
  }
}
