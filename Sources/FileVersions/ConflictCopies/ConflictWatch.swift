internal import FileCoordination
internal import FileWatching
internal import FoundationEssentials
internal import SystemInterface

/// The sources of news about a directory: a watcher of the tree, and a presenter for conflicts in the store.
final class ConflictWatch: Sendable {
  /// The changes since the last request for them.
  struct News: Sendable {
    var changes: [TreeChange] = []
    /// Files whose versions have changed.
    var paths: Set<SystemPath> = []
    /// Whether there are more such files.
    var isIncomplete = false
  }

  let watcher: TreeWatcher
  private let presenter: ConflictPresenter
  private let registration: FilePresenterRegistration

  init(_ watcher: TreeWatcher, _ presenter: ConflictPresenter, _ registration: FilePresenterRegistration) {
    self.watcher = watcher
    self.presenter = presenter
    self.registration = registration
  }

  deinit {
    watcher.stop()
    registration.end()
  }

  /// Waits until there's news.
  ///
  /// - Returns: `nil` when the task is cancelled, or the watcher has ended.
  func next() async -> News? {
    let (watcher, presenter) = (watcher, presenter)
    return await withTaskGroup(of: News?.self) { group in
      group.addTask {
        var updates = watcher.updates.makeAsyncIterator()
        return await updates.next().map { News(changes: $0.expandedChanges) }
      }
      group.addTask { await presenter.next() }
      var news: News?
      // The first one ends the wait of the other, which may have something all the same.
      for await more in group {
        group.cancelAll()
        guard let more else { continue }
        news = news ?? News()
        news?.changes += more.changes
        news?.paths.formUnion(more.paths)
        if more.isIncomplete { news?.isIncomplete = true }
      }
      return news
    }
  }
}

extension FileConflicts {
  func makeWatch() async throws(FileVersionError) -> ConflictWatch {
    let (names, directory) = (unenteredNames + Self.alwaysUnentered, directory)
    return try await versions.perform { keeper in
      let coordinator = keeper.coordinator
      // Registered first: conflicts that come into the store from now on are noted.
      let presenter = ConflictPresenter(directory) { try? coordinator.canonicalPath(of: $0) }
      let registration = try coordinator.domain.register(presenter)
      let top = try keeper.path(ofDirectory: directory)
      let watcher = try TreeWatcher([top], options: ScopeOptions(unenteredNames: names), tellsExisting: true)
      return ConflictWatch(watcher, presenter, registration)
    }
  }
}

extension VersionKeeper {
  /// The path by which a directory's files are reported, also if the URL is that of a link to it.
  func path(ofDirectory url: URL) throws -> SystemPath {
    try HostFileSystem().canonicalPath(of: coordinator.canonicalPath(of: url), resolvingLastComponent: true)
  }
}

/// Notes files inside a directory whose versions have changed.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | the news, and the waits for them | its own lock | messages come from threads of the domain |
final class ConflictPresenter: FilePresenter {
  private struct State: Sendable {
    var news = ConflictWatch.News()
    var isEmpty = true
    var waiter: CheckedContinuation<ConflictWatch.News?, Never>?

    mutating func takeNews() -> ConflictWatch.News {
      defer { (news, isEmpty) = (ConflictWatch.News(), true) }
      return news
    }
  }

  /// More files are all files.
  static let pathCountMax = 4096

  private let directory: URL
  private let path: @Sendable (URL) -> SystemPath?
  private let state = Guarded(State())

  init(_ directory: URL, path: @escaping @Sendable (URL) -> SystemPath?) {
    self.directory = directory
    self.path = path
  }

  var presentedItemURL: URL? { directory }
  var presentedItemCallbacks: FilePresenterCallbacks { [.subitemVersions, .itemVersions] }
  var presenterLabel: String { "file conflicts" }

  func presentedSubitemDidChangeVersion(
    at url: URL, _ change: FileVersionChange, version: String, origin: AccessOrigin
  ) async { note(url, origin) }

  func presentedItemDidChangeVersion(_ change: FileVersionChange, version: String, origin: AccessOrigin) async {
    note(directory, origin)
  }

  private func note(_ url: URL, _ origin: AccessOrigin) {
    let path = path(url)
    let waiting = state.withLock { state -> (CheckedContinuation<ConflictWatch.News?, Never>, ConflictWatch.News)? in
      if let path, state.news.paths.count < Self.pathCountMax {
        state.news.paths.insert(path)
      } else {
        state.news.isIncomplete = true
      }
      if origin.omittedMessageCount > 0 { state.news.isIncomplete = true }
      state.isEmpty = false
      guard let waiter = state.waiter else { return nil }
      state.waiter = nil
      return (waiter, state.takeNews())
    }
    if let (waiter, news) = waiting { waiter.resume(returning: news) }
  }

  /// Waits for news; for one task at a time.
  ///
  /// - Returns: `nil` when the task is cancelled and there are none.
  func next() async -> ConflictWatch.News? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isSettled = state.withLock { state -> ConflictWatch.News?? in
          if !state.isEmpty { return .some(state.takeNews()) }
          if Task.isCancelled { return .some(nil) }
          state.waiter = waiter
          return nil
        }
        if let news = isSettled { waiter.resume(returning: news) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: nil)
    }
  }
}
