internal import SystemInterface

/// Notices what others do with a store: through the kernel or, while its directories can't be watched, by looking at intervals.
///
/// The kernel doesn't watch a directory when the user has as many watches or queues as it allows, and on file systems whose changes it
/// doesn't hear of all. Neither keeps a store from being read and written.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock, in which nothing is told | any thread begins and ends to watch |
final class StoreWatch: Sendable {
  typealias Begin =
    @Sendable (
      SystemPath, @escaping @Sendable (DirectoryNews) -> Void
    ) throws(SystemError) -> DirectoryWatch.Registration

  /// How a store hears of changes; tests have other means.
  struct Means: Sendable {
    var begin: Begin = { (directory, take) throws(SystemError) in try DirectoryWatch.begin(directory, take) }
    /// How often a store is looked at that can't be watched.
    var unwatchedInterval = DirectoryWatch.unwatchedInterval
  }

  private struct State {
    /// None while the directories can't be watched.
    var registrations: [DirectoryWatch.Registration] = []
    /// Goes on until they can be.
    var polling: Task<Void, Never>?
    var hasEnded = false
  }

  private let means: Means
  private let clock: any CoordinationClock
  private let state = Guarded(State())

  init(_ means: Means, _ clock: any CoordinationClock) { (self.means, self.clock) = (means, clock) }

  deinit { end() }

  /// Watches the directory of a store and those of the account and of all stores, which somebody may remove.
  ///
  /// - Returns: The watches; none if the directories can't be watched.
  /// - Throws: ENOENT, EACCES and other errors of inotify_add_watch(2), but for those of limits and file systems.
  func begin(
    _ directory: SystemPath, _ take: @escaping @Sendable (DirectoryNews) -> Void
  ) throws(SystemError) -> [DirectoryWatch.Registration] {
    do throws(SystemError) {
      var registrations = [try means.begin(directory, take)]
      for around in [directory.parent, directory.parent.parent] {
        registrations.append(try means.begin(around) { _ in take(DirectoryNews(isUncertain: true)) })
      }
      return registrations
    } catch {
      if error.forbidsWatching { return [] }
      throw error
    }
  }

  /// Keeps watches in the place of the former ones.
  ///
  /// - Parameters:
  ///   - registrations: The result of ``begin(_:_:)``.
  ///   - look: Called at intervals if these are none, until it says that it needn't be called any more.
  func follow(_ registrations: [DirectoryWatch.Registration], orElse look: @escaping @Sendable () -> Bool) {
    state.withLock { state in
      state.registrations = registrations
      if !registrations.isEmpty || state.polling != nil || state.hasEnded { return }
      let (clock, interval) = (clock, means.unwatchedInterval)
      state.polling = Task(executorPreference: ElasticThreadPool.shared) {
        repeat { await clock.pause(interval) } while !Task.isCancelled && look()
      }
    }
  }

  /// Whether the directories are watched; then nobody looks any more.
  func endsPolling() -> Bool {
    state.withLock { state in
      if state.registrations.isEmpty { return false }
      state.polling = nil
      return true
    }
  }

  /// Nothing more is told.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      state.polling.take()?.cancel()
    }
  }
}

extension SystemError {
  /// Whether a directory can't be watched now or at all, and has to be looked at instead.
  var forbidsWatching: Bool {
    switch number {
    case .noSpace, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .notSupported, .noFunction, .noMemory: true
    default: false
    }
  }
}
