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
    /// Every file has a version of its present contents, except those that failed; the changes from now on follow.
    case ready
    /// The present contents of a file were kept.
    case kept(URL, FileVersion)
    /// The contents of a file couldn't be kept; that's tried again when the file changes. For the directory itself: nothing is kept of
    /// some files below it, because directories around them can't be read; or changes of some are noticed late, because the kernel doesn't
    /// watch directories around them, for example beyond the limit of inotify(7).
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

/// Keeps versions of everything below a directory while it's iterated.
///
/// See ``FileVersions/keepVersions(below:_:)``.
public struct FileVersionKeeper: AsyncSequence, Sendable {
  let watcher: TreeWatcher
  let versions: FileVersions
  let options: FileVersionKeeping
  let root: SystemPath
  let store: SystemPath

  /// Begins to keep versions.
  ///
  /// - Returns: An iterator; a second one would share the changes with it.
  public func makeAsyncIterator() -> Iterator { Iterator(keeper: self) }

  /// Keeps one file after the other.
  public struct Iterator: AsyncIteratorProtocol {
    private let keeper: FileVersionKeeper
    /// Files to look at, the next one last.
    private var paths: [SystemPath] = []
    /// The steps that were completed and aren't reported yet, the next one last.
    private var events: [FileVersionKeeping.Event] = []
    private var kept = KeptFiles()
    private var hasBegun = false
    private var isReady = false
    /// How many directories can't be read, as was reported last.
    private var unreadableCount = 0
    /// Whether it was reported that some aren't watched: which ones changes all the time.
    private var hasReportedUnwatched = false

    init(keeper: FileVersionKeeper) { self.keeper = keeper }

    /// Keeps files until there's an event to report.
    ///
    /// - Returns: The next completed step; `nil` when the task was cancelled.
    /// - Throws: ``FileVersionError`` when the directory can't be watched any more.
    public mutating func next() async throws(FileVersionError) -> FileVersionKeeping.Event? {
      while !Task.isCancelled {
        if let event = events.popLast() { return event }
        if !paths.isEmpty {
          let batch = Array(paths.suffix(FileVersionKeeper.concurrencyMax).reversed())
          let outcomes = await keeper.keep(batch)
          for case (let path, .kept(_, let version)?) in zip(batch, outcomes) {
            if let stored = version.stored { kept.note(path, stored) }
          }
          events = outcomes.compactMap(\.self).reversed()
          paths.removeLast(batch.count)
        } else if hasBegun, let failure = newlyUnreadable() ?? newlyUnwatched() {
          return failure
        } else if hasBegun, !isReady {
          isReady = true
          return .ready
        } else {
          var updates = keeper.watcher.updates.makeAsyncIterator()
          guard let update = hasBegun ? await updates.next() : await keeper.watcher.catchUp() else { break }
          hasBegun = true
          let changed = update.expandedChanges.reversed().compactMap(keeper.concerned)
          paths = await keeper.changed(among: changed.map { ($0, kept.take($0)) })
        }
      }
      if let error = keeper.watcher.error { throw FileVersionError(error) }
      return nil
    }

    /// The event to report when there are more directories that can't be read than before.
    private mutating func newlyUnreadable() -> FileVersionKeeping.Event? {
      let count = keeper.watcher.health.unreadableDirectoryCount
      defer { unreadableCount = count }
      guard count > unreadableCount, let url = keeper.root.url else { return nil }
      return .failed(url, .unreadable(count))
    }

    /// The event to report when directories aren't watched for the first time.
    private mutating func newlyUnwatched() -> FileVersionKeeping.Event? {
      let health = keeper.watcher.health
      if health.polledDirectoryCount == 0 { hasReportedUnwatched = false }
      guard health.polledDirectoryCount > 0, !hasReportedUnwatched, let url = keeper.root.url else { return nil }
      hasReportedUnwatched = true
      return .failed(url, .unwatched(health.polledDirectoryCount, because: health.pollingReason))
    }
  }

  /// The file that has to be looked at after a change.
  private func concerned(_ change: TreeChange) -> SystemPath? {
    guard change.kind == .regular, !change.path.isInside(store) else { return nil }
    return change.path
  }

  /// How many files are kept at once: each waits for the disk most of its time, and the disk serves them together.
  private static let concurrencyMax = 16

  /// Keeps several files at once.
  ///
  /// - Returns: The event of each, if there's one.
  private func keep(_ paths: [SystemPath]) async -> [FileVersionKeeping.Event?] {
    await withTaskGroup(of: (Int, FileVersionKeeping.Event?).self) { group in
      for (index, path) in paths.enumerated() { group.addTask { (index, await keep(path)) } }
      var events = [FileVersionKeeping.Event?](repeating: nil, count: paths.count)
      for await (index, event) in group { events[index] = event }
      return events
    }
  }

  /// The files that have to be looked at: not those that surely have the contents of the version that was made of them a moment ago.
  private func changed(among files: [(path: SystemPath, version: StoredVersion?)]) async -> [SystemPath] {
    if files.allSatisfy({ $0.version == nil }) { return files.map(\.path) }
    return await Offload.run {
      files.filter { path, version in
        guard let version, let status = try? HostFileSystem().statusIfPresent(of: path) else { return true }
        return !version.surelyIs(status)
      }.map(\.path)
    }
  }

  private func keep(_ path: SystemPath) async -> FileVersionKeeping.Event? {
    guard let url = path.url else { return nil }
    do {
      let version = try await versions.perform { keeper in try keeper.keepIfChanged(path, url) }
      guard let version else { return nil }
      if let retention = options.retention { try await versions.prune(url, by: retention) }
      return .kept(url, version)
    } catch { return Task.isCancelled ? nil : .failed(url, FileVersionError(error)) }
  }
}

extension VersionKeeper {
  /// Keeps the contents of a file, unless its newest version has the same; notes that it's gone if it is.
  func keepIfChanged(_ path: SystemPath, _ url: URL) throws -> FileVersion? {
    try coordinator.blocking.read(url, options: .withoutChanges) { access in
      let isOld = try withStore(at: [path]) { store in
        guard let status = try HostFileSystem().statusIfPresent(of: path), status.kind == .regular else {
          // The history waits for its file, or for a recovery.
          _ = try store.item(at: path, creating: false)
          return true
        }
        guard let item = try store.item(at: path, creating: false), let newest = try store.newestVersion(of: item)
        else {
          return false
        }
        return try store.has(newest, path, status)
      }
      return isOld ? nil : try add(access, from: path, Addition())
    }
  }
}
