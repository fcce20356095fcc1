internal import FileCoordination
internal import FileWatching
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// How versions of everything below a directory are kept.
public struct FileVersionKeeping: Hashable, Sendable {
  /// Directories of these names aren't entered; patterns such as `*.build` as well.
  public var excludedNames: [String]
  /// Which versions go after one was added; none unless stated.
  public var retention: FileVersionRetention?
  /// How long changes are gathered, from the first one on, before the file is kept.
  public var settlingTime: Duration
  /// How long a file isn't tried again after the first failure.
  var retryInterval: Duration = .seconds(1)

  /// States how versions are kept.
  ///
  /// - Parameters:
  ///   - excludedNames: Directories of these names, or matching these patterns, aren't entered.
  ///   - retention: Which versions go after one was added.
  ///   - settlingTime: How long changes are gathered before a file is kept.
  public init(
    excludedNames: [String] = [], retention: FileVersionRetention? = nil, settlingTime: Duration = .seconds(1)
  ) {
    self.excludedNames = excludedNames
    self.retention = retention
    self.settlingTime = settlingTime
  }

  /// A completed step of the keeping.
  public enum Event: Sendable {
    /// Every file has a version of its present contents, except those that failed; the changes from now on follow. Occurs again when the
    /// directory was gone and a directory is at its path.
    case ready
    /// The present contents of a file were kept.
    case kept(URL, FileVersion)
    /// The contents of a file couldn't be kept. That's tried again when the file changes, and after a second, then two, up to a minute, and
    /// ends with ``kept(_:_:)``; it's reported again only if the reason is another one. For the directory itself: it isn't there any more,
    /// so nothing is kept until a directory is at its path; nothing is kept of some files below it, because directories around them can't
    /// be read; or changes of some are noticed late, because the kernel doesn't watch directories around them, for example beyond the
    /// limit of inotify(7).
    case failed(URL, FileVersionError)
  }
}

extension FileVersions {
  /// Keeps the contents of every file below a directory, and again after each change, by any program.
  ///
  /// So there's always a version from before the last change, also if the program that makes it doesn't coordinate: `sed -i`, `git
  /// checkout`, a script. Presenters aren't asked to save. A file whose newest version has the same contents isn't kept again. Files
  /// that have changed while nobody kept versions are kept at the beginning.
  ///
  /// ```swift
  /// for try await event in try versions.keepVersions(below: directory) {
  ///   if case .kept(let file, _) = event { print("kept", file.path) }
  /// }
  /// ```
  ///
  /// A file that couldn't be kept, because the disk was full for example, is tried again until it's kept. The path counts, and not the
  /// directory: if that's moved or removed, this is reported, and a directory that comes to the path is kept.
  ///
  /// The work is done while the sequence is iterated, and ends with the iteration.
  ///
  /// - Parameters:
  ///   - directory: The directory. Links inside of it aren't followed; stores of versions aren't entered.
  ///   - options: How versions are kept.
  /// - Returns: The completed steps, as a sequence.
  /// - Throws: ``FileVersionError`` when the directory can't be watched.
  /// - Complexity: A thread and a watch for each directory. At the beginning O(files), and O(bytes) of those that have changed.
  public func keepVersions(
    below directory: URL, _ options: FileVersionKeeping = FileVersionKeeping()
  ) throws(FileVersionError) -> FileVersionKeeper {
    try keeper.throwing { keeper in
      let root = try keeper.path(of: directory)
      guard let status = try HostFileSystem().statusIfPresent(of: root) else {
        throw VersionStoreError.nothingThere(root)
      }
      if status.kind != .directory {
        throw SystemError(
          call: "keepVersions", paths: [root], errno: SystemError.Number.notADirectory.rawValue,
          advice: "Versions are kept of the files below a directory. Keep those of one file by 'addVersion(of:)'.")
      }
      // One that can't be read has no files to keep, as far as anybody can see.
      try HostFileSystem().withDescriptor(root, flags: .directory) { (_) throws(SystemError) in }
      let store = try keeper.storage.directory(for: root)
      let inside = store.isInside(root) ? [store.lastComponent.description] : []
      let names = options.excludedNames + [".file-versions-*"] + inside
      let watcher = try TreeWatcher(
        [root], options: ScopeOptions(unenteredNames: names), batchingInterval: options.settlingTime,
        tellsExisting: true)
      return FileVersionKeeper(watcher: watcher, versions: self, options: options, root: root, store: store)
    }
  }
}
