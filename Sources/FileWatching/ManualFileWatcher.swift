package import SystemInterface

/// Passes everything on to another watcher, and can lose events and be short of watches: for tests of what follows.
package final class ManualFileWatcher: FileWatcher {
  private struct Faults: Sendable {
    var isOverflown = false
    var remainingWatchCount = Int.max
  }

  private let base: any FileWatcher
  private let faults = Guarded(Faults())

  /// Creates a watcher without faults.
  ///
  /// - Parameter base: Who watches.
  package init(_ base: any FileWatcher) { self.base = base }

  /// Loses whatever is in the queue when it's read the next time, and says so, as the kernel does when it's full.
  package func loseEvents() {
    faults.withLock { $0.isOverflown = true }
    wake()
  }

  /// Lets only so many further calls succeed, and answers the others as the kernel does at its limit.
  ///
  /// - Parameter count: How many.
  package func allowWatches(_ count: Int) { faults.withLock { $0.remainingWatchCount = count } }

  package func watch(
    _ path: SystemPath, _ interest: InotifyQueue.Interest, isDirectory: Bool
  ) throws(SystemError) -> WatchID {
    let isAllowed = faults.withLock { faults in
      if faults.remainingWatchCount == 0 { return false }
      faults.remainingWatchCount -= 1
      return true
    }
    if !isAllowed { throw .tooManyWatches(path) }
    return try base.watch(path, interest, isDirectory: isDirectory)
  }

  package func unwatch(_ watch: WatchID) { base.unwatch(watch) }

  package func takeEvents() -> [WatchEvent] {
    let events = base.takeEvents()
    return faults.withLock { faults in
      if !faults.isOverflown { return events }
      faults.isOverflown = false
      return [.overflow]
    }
  }

  package func waitForEvents() throws(SystemError) { try base.waitForEvents() }
  package func wake() { base.wake() }
}
