public import SystemInterface

/// Reports the events of a test, and those of another watcher if it has one; can lose events, tear renames apart and be
/// short of watches: for tests of the consequences.
///
/// Any thread may call anything; one waits.
public final class ManualFileWatcher: FileWatcher {
  fileprivate struct Faults: Sendable {
    var isOverflown = false
    /// How many calls are under way whose events are lost.
    var losingCallCount = 0
    /// How many have ended.
    var lostCallCount = 0
    var remainingWatchCount = Int.max
    var isTearingRenames = false
    /// Events whose turn comes later.
    var heldBack: [WatchEvent] = []
    var isBetweenHalves = false
    /// The events of a test.
    var told: [WatchEvent] = []
  }

  private let base: any FileWatcher
  private let faults = Guarded(Faults())

  /// Creates a watcher that reports only the events of ``tell(_:)``.
  public convenience init() { self.init(SilentWatcher()) }

  /// Creates a watcher without faults.
  ///
  /// - Parameter base: The watcher that watches.
  public init(_ base: any FileWatcher) { self.base = base }

  /// Reports an event.
  ///
  /// - Parameter event: The event; see ``watch(_:_:isDirectory:)`` for the number of a watched item.
  public func tell(_ event: WatchEvent) {
    faults.withLock { $0.told.append(event) }
    wake()
  }

  /// Loses all events in the queue when it's read the next time, and reports that, as the kernel does when it's full.
  public func loseEvents() {
    faults.withLock { $0.isOverflown = true }
    wake()
  }

  /// Loses all events of what a closure does, and reports that afterwards.
  ///
  /// Unlike with ``loseEvents()``, no reader receives any of these events, however soon it reads. Events that were in the
  /// queue before may be lost too.
  ///
  /// - Parameter body: The closure; called on this thread.
  /// - Returns: Its result.
  /// - Throws: Its error.
  public func loseEvents<Result, Failure: Error>(
    during body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    faults.withLock { $0.losingCallCount += 1 }
    defer {
      faults.withLock { faults in
        faults.losingCallCount -= 1
        faults.lostCallCount += 1
        faults.isOverflown = true
      }
      wake()
    }
    return try body()
  }

  /// Lets only so many further calls succeed, and answers the others as the kernel does at its limit.
  ///
  /// - Parameter count: How many.
  public func allowWatches(_ count: Int) { faults.withLock { $0.remainingWatchCount = count } }

  /// Makes every rename be read half by half, as a reader may see it while the kernel is between the two: the first
  /// half ends the read, nothing follows at once, and the second half is there later.
  public func tearRenames() { faults.withLock { $0.isTearingRenames = true } }

  /// Watches an item, through the other watcher.
  ///
  /// - Parameters:
  ///   - path: The item; a symbolic link is watched itself.
  ///   - interest: The events to receive.
  ///   - isDirectory: Whether to refuse anything but a directory.
  /// - Returns: The number in its events.
  /// - Throws: ENOSPC when too much is watched; the other errors of ``FileWatcher/watch(_:_:isDirectory:)``.
  public func watch(
    _ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool
  ) throws(SystemError) -> WatchID {
    let isAllowed = faults.withLock { faults in
      if faults.remainingWatchCount == 0 { return false }
      faults.remainingWatchCount -= 1
      return true
    }
    if !isAllowed { throw .tooManyWatches(path) }
    return try base.watch(path, interest, isDirectory: isDirectory)
  }

  /// Ends a watch.
  ///
  /// - Parameter watch: The number of the watch.
  public func unwatch(_ watch: WatchID) { base.unwatch(watch) }

  /// Takes out all events of changes before the call.
  ///
  /// - Returns: The events, in order.
  public func takeEvents() -> [WatchEvent] {
    let lostCallCount = faults.withLock { $0.lostCallCount }
    let others = base.takeEvents()
    return faults.withLock { faults in
      let events = others + faults.told
      faults.told = []
      if faults.losingCallCount > 0 || faults.isOverflown {
        faults.heldBack = []
        faults.isBetweenHalves = false
      }
      if faults.losingCallCount > 0 { return [] }
      if faults.isOverflown {
        // If a call has ended meanwhile, its events are still in the queue.
        faults.isOverflown = faults.lostCallCount != lostCallCount
        return [.overflow]
      }
      return faults.isTearingRenames ? faults.tear(events) : events
    }
  }

  /// Blocks until there may be events, or ``wake()`` is called.
  ///
  /// - Throws: An error of epoll_wait(2).
  public func waitForEvents() throws(SystemError) { try base.waitForEvents() }
  /// Ends the wait that goes on, or else the next one.
  public func wake() { base.wake() }
}

extension ManualFileWatcher.Faults {
  fileprivate mutating func tear(_ events: [WatchEvent]) -> [WatchEvent] {
    let waiting = heldBack + events
    heldBack = []
    if isBetweenHalves {
      // Once: a reader behind the first half finds nothing yet.
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
