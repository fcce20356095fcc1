package import SystemInterface

/// Passes everything on to another watcher, and can lose events, tear renames apart and be short of watches: for tests of
/// what follows.
package final class ManualFileWatcher: FileWatcher {
  fileprivate struct Faults: Sendable {
    var isOverflown = false
    var remainingWatchCount = Int.max
    var isTearingRenames = false
    /// Events whose turn comes later.
    var heldBack: [WatchEvent] = []
    var isBetweenHalves = false
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

  /// Lets every rename be read half by half, as happens to who reads while the kernel is between the two: the first half
  /// ends what is read, nothing follows at once, and the second half is there later.
  package func tearRenames() { faults.withLock { $0.isTearingRenames = true } }

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
      if faults.isOverflown {
        faults.isOverflown = false
        faults.heldBack = []
        return [.overflow]
      }
      return faults.isTearingRenames ? faults.tear(events) : events
    }
  }

  package func waitForEvents() throws(SystemError) { try base.waitForEvents() }
  package func wake() { base.wake() }
}

extension ManualFileWatcher.Faults {
  fileprivate mutating func tear(_ events: [WatchEvent]) -> [WatchEvent] {
    let waiting = heldBack + events
    heldBack = []
    if isBetweenHalves {
      // Once: who reads behind the first half finds nothing yet.
      isBetweenHalves = false
      heldBack = waiting
      return []
    }
    for index in waiting.indices.dropLast() {
      guard case .name(_, _, .departed(let cookie), _) = waiting[index] else { continue }
      guard case .name(_, _, .arrived(cookie), _) = waiting[index + 1] else { continue }
      heldBack = Array(waiting[(index + 1)...])
      isBetweenHalves = true
      return Array(waiting[...index])
    }
    return waiting
  }
}
