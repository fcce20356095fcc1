internal import FileCoordination
internal import FileWatching
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

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
    private var core: KeepingCore
    /// The steps that were completed and aren't reported yet, the next one last.
    private var events: [FileVersionKeeping.Event] = []
    private var kept = KeptFiles()
    private var hasBegun = false

    init(keeper: FileVersionKeeper) {
      self.keeper = keeper
      core = KeepingCore(firstInterval: keeper.options.retryInterval)
    }

    /// Keeps files until there's an event to report.
    ///
    /// - Returns: The next completed step; `nil` when the task was cancelled.
    /// - Throws: ``FileVersionError`` when the directory can't be watched any more.
    public mutating func next() async throws(FileVersionError) -> FileVersionKeeping.Event? {
      while !Task.isCancelled {
        if let event = events.popLast() { return event }
        guard hasBegun else {
          guard let update = await keeper.watcher.catchUp() else { break }
          hasBegun = true
          await take(update)
          continue
        }
        switch core.next(at: FileVersionKeeper.now) {
        case .keep(let batch): await keep(batch)
        case .report(let report): if let event = keeper.event(of: report) { return event }
        case .wait(let time):
          switch await keeper.wait(until: time) {
          case .update(let update): await take(update)
          case .time: break
          case .end:
            if let error = keeper.watcher.error { throw FileVersionError(error) }
            return nil
          }
        }
      }
      if let error = keeper.watcher.error { throw FileVersionError(error) }
      return nil
    }

    private mutating func take(_ update: TreeUpdate) async {
      let changed = update.expandedChanges.reversed().compactMap(keeper.concerned)
      let paths = await keeper.changed(among: changed.map { ($0, kept.take($0)) })
      core.filesChanged(paths, KeepingCore.Health(keeper.watcher.health))
    }

    private mutating func keep(_ batch: [SystemPath]) async {
      let outcomes = Array(zip(batch, await keeper.keep(batch)))
      for case (let path, .kept(_, let version)?) in outcomes {
        if let stored = version.stored { kept.note(path, stored) }
      }
      let isNews = core.attempted(
        outcomes.map { ($0, KeepingCore.Outcome($1)) }, at: FileVersionKeeper.now)
      for case ((_, let event?), let isNews) in zip(outcomes, isNews).reversed() {
        if case .failed = event, !isNews { continue }
        events.append(event)
      }
    }
  }

  /// The file that has to be looked at after a change.
  private func concerned(_ change: TreeChange) -> SystemPath? {
    // A file at the path of the directory isn't below it.
    guard change.kind == .regular, change.path != root, !change.path.isInside(store) else { return nil }
    return change.path
  }

  /// The time since the start of the program, more or less.
  private static var now: Duration { start.duration(to: .now) }
  private static let start = ContinuousClock.now

  private enum Wake: Sendable {
    case update(TreeUpdate)
    case time
    /// The watcher has ended, or the task was cancelled.
    case end
  }

  /// Waits for changes, or for a time if there's one.
  private func wait(until time: Duration?) async -> Wake {
    let watcher = watcher
    guard let time else { return await Self.nextUpdate(of: watcher) }
    return await withTaskGroup(of: Wake.self) { group in
      group.addTask { await Self.nextUpdate(of: watcher) }
      group.addTask {
        try? await Task.sleep(until: Self.start + time)
        return .time
      }
      guard let first = await group.next() else { return .end }
      group.cancelAll()
      // The update may have come in the same moment, and would be lost.
      if case .time = first, case .update(let update)? = await group.next() { return .update(update) }
      return first
    }
  }

  private static func nextUpdate(of watcher: TreeWatcher) async -> Wake {
    var updates = watcher.updates.makeAsyncIterator()
    return await updates.next().map(Wake.update) ?? .end
  }

  private func event(of report: KeepingCore.Report) -> FileVersionKeeping.Event? {
    guard let url = root.url else { return nil }
    switch report {
    case .ready: return .ready
    case .gone: return .failed(url, .directoryIsGone(root))
    case .unreadable(let count, let reason): return .failed(url, .unreadable(count, because: reason))
    case .unwatched(let count, let reason): return .failed(url, .unwatched(count, because: reason))
    }
  }

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

extension KeepingCore.Health {
  fileprivate init(_ health: ScopeHealth) {
    self.init(
      isRootMissing: health.missingRootCount > 0, unreadableCount: health.unreadableDirectoryCount,
      unreadableReason: health.unreadableReason, unwatchedCount: health.polledDirectoryCount,
      unwatchedReason: health.pollingReason)
  }
}

extension KeepingCore.Outcome {
  fileprivate init(_ event: FileVersionKeeping.Event?) {
    switch event {
    case .kept?: self = .kept
    case .failed(_, let error)?: self = .failed(KeepingCore.Reason(error))
    case .ready?, nil: self = .unneeded
    }
  }
}

extension KeepingCore.Reason {
  fileprivate init(_ error: FileVersionError) {
    let system = error.underlyingError as? SystemError
    let errno = system?.errno ?? (error.underlyingError as? FileCoordinationError)?.systemError?.errno
    self.init(code: error.code.rawValue, errno: errno)
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
