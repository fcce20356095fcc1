public import FileCoordination
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// Keeps versions of files and packages, lists and restores them, and resolves conflicts.
///
/// ```swift
/// let versions = FileVersions()
/// try await versions.addVersion(of: file)              // before something risky
/// for version in try await versions.versions(of: file) ?? [] { print(version.name, version.modificationDate) }
/// try await versions.restore(version, to: file)        // what it overwrites becomes a version first
/// ```
///
/// Versions are kept outside of the file's directory, see ``VersionStorage``, each contents once. A history follows its file through
/// moves and through saves by any program, and isn't shared by copies. Any number of processes may use it; a crash at any moment
/// loses nothing and leaves nothing behind.
///
/// All methods suspend; the work is done on threads of the library. Each wait has a deadline. When the task is cancelled, a wait ends with
/// an error of code `.coordination`; work on the disk that has begun is completed. Presenters of the file, and of what is around it, are notified of
/// each version that's gained, lost or resolved.
public struct FileVersions: Sendable {
  let keeper: VersionKeeper

  /// Uses a storage of versions.
  ///
  /// - Parameters:
  ///   - domain: The processes that see each other's accesses.
  ///   - storage: Where versions are kept.
  ///   - deviceName: The name of this machine, for people; its host name unless stated.
  ///   - author: The user who saves.
  ///   - conflictCopies: The sync engines whose conflict copies beside a file are versions of it.
  ///   - removalWindow: How long a version that was removed can be brought back. Until then it takes space. Without a window it's gone
  ///     at once.
  ///   - deadlines: How long a call may wait for accesses and presenters; those of the domain unless stated.
  public init(
    domain: CoordinationDomain = .standard, storage: VersionStorage = .standard, deviceName: String? = nil,
    author: String? = nil, conflictCopies: Set<ConflictCopyEngine> = [],
    removalWindow: Duration = FileVersions.standardRemovalWindow, deadlines: AccessDeadlines? = nil
  ) {
    let host = ProcessInfo.processInfo.hostName
    let attributes = VersionAttributes(
      deviceName: deviceName ?? host, deviceID: DeviceIdentity.identifier(hostName: host), author: author)
    keeper = VersionKeeper(
      domain, storage, attributes, conflictCopies: conflictCopies, deadlines: deadlines, removalWindow: removalWindow
    ) {
      Int64(clamping: UInt64(max(Date.now.timeIntervalSince1970, 0) * 1e9))
    }
  }

  /// How long a version that was removed can be brought back unless a program says otherwise: seven days.
  ///
  /// Programs with a shorter window don't end that of others before.
  public static let standardRemovalWindow = Duration.seconds(7 * 24 * 60 * 60)

  // MARK: - Listing

  /// The present contents of a file, as a version.
  ///
  /// A look begins no history. The identifier names the file, not its history: it's another one when a save has put a new file there.
  ///
  /// - Parameter url: The file.
  /// - Returns: The version; `nil` when nothing is there.
  /// - Throws: ``FileVersionError``.
  /// - Note: Rule CV-01.
  public func currentVersion(of url: URL) async throws(FileVersionError) -> FileVersion? {
    try await offload { versions throws(FileVersionError) in try versions.currentVersion(of: url) }
  }

  /// The versions that are kept of a file, newest first, without the current one.
  ///
  /// - Parameter url: The file.
  /// - Returns: The versions; `nil` when nothing is there.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(versions); with engines also O(names in the directory), and O(bytes of conflict copies).
  /// - Note: Rules CV-02, CV-03, CV-32.
  public func versions(of url: URL) async throws(FileVersionError) -> [FileVersion]? {
    try await offload { versions throws(FileVersionError) in try versions.versions(of: url) }
  }

  /// The newest versions that are kept of a file, newest first, without the current one: the beginning of ``versions(of:)``.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - countMax: How many at most.
  /// - Returns: The versions; `nil` when nothing is there.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(versions) for their names; the records of `countMax` of them are read. With engines that of ``versions(of:)``.
  /// - Note: Rule CV-02.
  public func newestVersions(of url: URL, countMax: Int) async throws(FileVersionError) -> [FileVersion]? {
    try await perform { keeper in
      let path = try keeper.path(of: url)
      if keeper.conflictCopies.isEmpty { return try keeper.newestVersions(at: path, countMax: countMax) }
      return try keeper.versions(at: path).map { Array($0.prefix(max(countMax, 0))) }
    }
  }

  /// The records of a file's versions, and of those that were removed, in which a byte has changed, or that are missing.
  ///
  /// These versions aren't listed; their contents may be intact.
  ///
  /// - Parameter url: The file.
  /// - Returns: The records, which are files of the store.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(versions).
  public func damagedRecords(of url: URL) async throws(FileVersionError) -> [URL] {
    try await perform { keeper in try keeper.damagedRecords(at: keeper.path(of: url)) }
  }

  /// The conflicts of a file that aren't resolved, newest first.
  ///
  /// - Parameter url: The file.
  /// - Returns: The versions; `nil` when nothing is there.
  /// - Throws: ``FileVersionError``.
  /// - Note: Rule CV-04.
  public func unresolvedConflicts(of url: URL) async throws(FileVersionError) -> [FileVersion]? {
    try await versions(of: url)?.filter { !$0.isResolved }
  }

  /// Finds a version of a file again.
  ///
  /// - Parameters:
  ///   - id: The identifier of the version.
  ///   - url: The file.
  /// - Returns: The version; `nil` when it was removed, or is another file's.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(1); with engines that of ``versions(of:)``.
  /// - Note: Rule CV-06.
  public func version(_ id: FileVersion.ID, of url: URL) async throws(FileVersionError) -> FileVersion? {
    if id.version == nil, id.copy == nil { return try await currentVersion(of: url).flatMap { $0.id == id ? $0 : nil } }
    if let stored = id.version, keeper.conflictCopies.isEmpty {
      return try await perform { keeper in try keeper.version(stored, of: id.item, at: keeper.path(of: url)) }
    }
    return try await versions(of: url)?.first { $0.id == id || $0.wasTaken(as: id) }
  }

  /// The contents of a version of a file.
  ///
  /// - Parameter version: A version, not of a package.
  /// - Returns: All of its bytes.
  /// - Throws: ``FileVersionError`` with code `.versionIsGone`, or `.damagedVersion` if a byte has changed.
  /// - Complexity: O(bytes).
  public func contents(of version: FileVersion) async throws(FileVersionError) -> Data {
    try await offload { versions throws(FileVersionError) in try versions.contents(of: version) }
  }

  /// Compares a version with the hash that was made when it was kept, every member of a package as well.
  ///
  /// Afterwards ``FileVersion/url`` may be passed to another program. That of a conflict copy is a file to which any program may write: it's compared
  /// with the contents for which the version was listed.
  ///
  /// - Parameter version: A version that's kept, or a conflict copy.
  /// - Throws: ``FileVersionError`` with code `.damagedVersion` and the first file that has changed, `.versionIsGone`, or `.isCurrent` for
  ///   the current version, which has no other contents to compare with.
  /// - Complexity: O(bytes).
  public func verify(_ version: FileVersion) async throws(FileVersionError) {
    try await offload { versions throws(FileVersionError) in try versions.verify(version) }
  }

  // MARK: - Keeping

  /// Keeps the contents of a file as a version: presenters save them first.
  ///
  /// - Parameters:
  ///   - url: The file or package.
  ///   - isConflict: Whether it stems from two writers that collided.
  ///   - parents: The versions that it was made from.
  ///   - isPackage: Whether a directory is a package although its name has no extension and it has no versions yet.
  /// - Returns: The version.
  /// - Throws: ``FileVersionError``, with code `.notAFile` for a directory that isn't a package: whole folders are kept by
  ///   ``keepVersions(below:_:)``, file by file.
  /// - Complexity: O(bytes) to copy them where the file system can't share blocks. Up to 256 KiB and packages are hashed before; larger files
  ///   later, see ``waitForHashes()``.
  /// - Note: Rules CV-07, CV-10.
  @discardableResult
  public func addVersion(
    of url: URL, isConflict: Bool = false, parents: [FileVersion.ID] = [], isPackage: Bool = false
  ) async throws(FileVersionError) -> FileVersion {
    try await offload { versions throws(FileVersionError) in
      try versions.addVersion(of: url, isConflict: isConflict, parents: parents, isPackage: isPackage)
    }
  }

  /// Keeps the contents of another file as a version of a file.
  ///
  /// - Parameters:
  ///   - url: The file or package that the version is of.
  ///   - source: The contents.
  ///   - byMoving: Whether nothing remains at `source`: on the same volume it becomes the version without being copied.
  ///   - isConflict: Whether it stems from two writers that collided.
  ///   - parents: The versions that it was made from.
  ///   - isPackage: Whether a directory at `url` is a package although its name has no extension and it has no versions yet.
  /// - Returns: The version.
  /// - Throws: ``FileVersionError``; nothing was changed then.
  /// - Note: Rule CV-08.
  @discardableResult
  public func addVersion(
    of url: URL, contentsOf source: URL, byMoving: Bool = false, isConflict: Bool = false,
    parents: [FileVersion.ID] = [], isPackage: Bool = false
  ) async throws(FileVersionError) -> FileVersion {
    try await offload { versions throws(FileVersionError) in
      try versions.addVersion(
        of: url, contentsOf: source, byMoving: byMoving, isConflict: isConflict, parents: parents, isPackage: isPackage)
    }
  }

  // MARK: - Restoring and removing

  /// Puts the contents of a version in the place of a file; the contents that they overwrite become a version first.
  ///
  /// The file keeps its name, unless the version has another extension: that wins.
  ///
  /// - Parameters:
  ///   - version: A version that's kept.
  ///   - url: The file; it doesn't have to exist.
  /// - Returns: Where the contents are.
  /// - Throws: ``FileVersionError``; the file is as it was then.
  /// - Note: Rules CV-17, CV-18, CV-20.
  @discardableResult
  public func restore(_ version: FileVersion, to url: URL) async throws(FileVersionError) -> URL {
    try await offload { versions throws(FileVersionError) in try versions.restore(version, to: url) }
  }

  /// Removes a version; ``recover(_:of:)`` brings it back as long as the window for that lasts.
  ///
  /// It takes space until then. That works on a full volume, too; ``prune(_:by:isDryRun:)`` removes versions for good, which makes room.
  ///
  /// - Parameters:
  ///   - version: A version that's kept.
  ///   - url: The file that it's of.
  /// - Throws: ``FileVersionError`` with code `.isCurrent` for the current version, or `.versionIsGone`.
  /// - Note: Rule CV-15.
  public func remove(_ version: FileVersion, of url: URL) async throws(FileVersionError) {
    try await offload { versions throws(FileVersionError) in try versions.remove(version, of: url) }
  }

  /// Removes versions of a file, all that are kept unless stated; ``recover(_:of:)`` brings them back as long as the window lasts.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - isSelected: Which of them.
  /// - Returns: The versions that were removed.
  /// - Throws: ``FileVersionError``.
  /// - Note: Rule CV-16.
  @discardableResult
  public func removeOtherVersions(
    of url: URL, where isSelected: @escaping @Sendable (FileVersion) -> Bool = { _ in true }
  ) async throws(FileVersionError) -> [FileVersion] {
    try await offload { versions throws(FileVersionError) in
      try versions.removeOtherVersions(of: url, where: isSelected)
    }
  }

  /// The versions of a file that were removed and can be brought back, the one that was removed last first.
  ///
  /// Their contents can be read, and ``recover(_:of:)`` brings them back. If the file is gone, they are those of the one that was there last;
  /// when one is back, ``deletedFiles(below:)`` lists the file again.
  ///
  /// - Parameter url: The file.
  /// - Returns: The versions; `nil` when nothing is there.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(removed versions).
  public func removedVersions(of url: URL) async throws(FileVersionError) -> [FileVersion]? {
    try await perform { keeper in try keeper.removedVersions(at: keeper.path(of: url)) }
  }

  /// Brings a version back that was removed.
  ///
  /// - Parameters:
  ///   - version: A version that was removed.
  ///   - url: The file that it's of.
  /// - Returns: The version, which has the same identifier.
  /// - Throws: ``FileVersionError`` with code `.versionIsGone` if the window for bringing it back has ended.
  @discardableResult
  public func recover(_ version: FileVersion, of url: URL) async throws(FileVersionError) -> FileVersion {
    try await perform { keeper in
      try keeper.changeVersions(of: url) { access, _ in try keeper.recover(version, access) }
    }
  }

  /// Takes a conflict off the list of those that aren't resolved; its contents stay.
  ///
  /// - Parameters:
  ///   - version: A conflict. Others are resolved already.
  ///   - url: The file that it's of.
  /// - Returns: The version as it is now.
  /// - Throws: ``FileVersionError`` with code `.versionIsGone`.
  /// - Note: Rules CV-11, CV-12.
  @discardableResult
  public func markResolved(_ version: FileVersion, of url: URL) async throws(FileVersionError) -> FileVersion {
    try await offload { versions throws(FileVersionError) in try versions.markResolved(version, of: url) }
  }

  /// Allows a version to be removed at any time to get space.
  ///
  /// - Parameters:
  ///   - version: A version that's kept.
  ///   - url: The file that it's of.
  /// - Returns: The version as it is now.
  /// - Throws: ``FileVersionError`` with code `.isCurrent` for the current version, or `.versionIsGone`.
  /// - Note: Rule CV-14.
  @discardableResult
  public func markDiscardable(_ version: FileVersion, of url: URL) async throws(FileVersionError) -> FileVersion {
    try await offload { versions throws(FileVersionError) in try versions.markDiscardable(version, of: url) }
  }

  /// Lends an empty directory from which files become versions by a rename, and removes it at last.
  ///
  /// The directory is the process's alone, and goes with it. So a file right inside of it isn't claimed when it becomes a version, has no
  /// second name meanwhile, and is there again after an error.
  ///
  /// - Parameters:
  ///   - url: The file of which they become versions.
  ///   - body: Makes a file in the directory, and passes it to ``addVersion(of:contentsOf:byMoving:isConflict:parents:isPackage:)``.
  /// - Returns: The result of `body`.
  /// - Throws: ``FileVersionError``, or the error thrown by `body`.
  /// - Note: Rule CV-09.
  public func withTemporaryDirectory<Result>(for url: URL, _ body: (URL) async throws -> Result) async throws -> Result
  {
    let directory = try await offload { versions throws(FileVersionError) in
      try versions.makeTemporaryDirectory(for: url)
    }
    do {
      let result = try await body(directory)
      try await perform { keeper in try keeper.removeTemporaryDirectory(directory) }
      return result
    } catch {
      try? await perform { keeper in try keeper.removeTemporaryDirectory(directory) }
      throw error
    }
  }

  // MARK: - Threads

  /// The same calls for threads that may block.
  public var blocking: BlockingFileVersions { BlockingFileVersions(keeper: keeper) }

  private func offload<Result: Sendable>(
    _ call: @escaping @Sendable (BlockingFileVersions) throws(FileVersionError) -> Result
  ) async throws(FileVersionError) -> Result {
    try await perform { keeper in try call(BlockingFileVersions(keeper: keeper)) }
  }

  func perform<Result: Sendable>(
    _ body: @escaping @Sendable (VersionKeeper) throws -> Result
  ) async throws(FileVersionError) -> Result {
    let cancellation = CallCancellation()
    let keeper = keeper.cancellable(by: cancellation)
    let outcome = await withTaskCancellationHandler {
      await Offload.run { Swift.Result { try body(keeper) } }
    } onCancel: {
      cancellation.cancel()
    }
    do { return try outcome.get() } catch { throw FileVersionError(error) }
  }
}

/// How contents become a version.
struct Addition: Sendable {
  var isConflict = false
  var parents: [FileVersion.ID] = []
  var byMoving = false
  var isBase = false
  /// Whether a directory is a package whatever its name is.
  var isPackage = true
}
