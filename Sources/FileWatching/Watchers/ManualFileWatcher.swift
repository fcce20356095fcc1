public import SystemInterface

/// Tells what a test says, and what another watcher tells if it has one; can lose events, tear renames apart and be short of watches: for
/// tests of what follows.
///
/// Any thread may call anything; one waits.
public final class ManualFileWatcher: FileWatcher {
  fileprivate struct Faults: Sendable {
    var isOverflown = false
    var remainingWatchCount = Int.max
    var isTearingRenames = false
    /// Events whose turn comes later.
    var heldBack: [WatchEvent] = []
    var isBetweenHalves = false
    /// What a test has said.
    var told: [WatchEvent] = []
  }

  private let base: any FileWatcher
  private let faults = Guarded(Faults())

  /// Creates a watcher that tells nothing but what ``tell(_:)`` is given.
  public convenience init() { self.init(SilentWatcher()) }

  /// Creates a watcher without faults.
  ///
  /// - Parameter base: Who watches.
  public init(_ base: any FileWatcher) { self.base = base }

  /// Tells something.
  ///
  /// - Parameter event: What; see ``watch(_:_:isDirectory:)`` for the number of what is watched.
  public func tell(_ event: WatchEvent) {
    faults.withLock { $0.told.append(event) }
    wake()
  }

  /// Loses whatever is in the queue when it's read the next time, and says so, as the kernel does when it's full.
  public func loseEvents() {
    faults.withLock { $0.isOverflown = true }
    wake()
  }

  /// Lets only so many further calls succeed, and answers the others as the kernel does at its limit.
  ///
  /// - Parameter count: How many.
  public func allowWatches(_ count: Int) { faults.withLock { $0.remainingWatchCount = count } }

  /// Lets every rename be read half by half, as happens to who reads while the kernel is between the two: the first half
  /// ends what is read, nothing follows at once, and the second half is there later.
  public func tearRenames() { faults.withLock { $0.isTearingRenames = true } }

  /// Watches an item, through the other watcher.
  ///
  /// - Parameters:
  ///   - path: The item; a symbolic link is watched itself.
  ///   - interest: What to hear of.
  ///   - isDirectory: Whether to refuse anything but a directory.
  /// - Returns: The number that its events are told with.
  /// - Throws: ENOSPC when too much is watched; what ``FileWatcher/watch(_:_:isDirectory:)`` says.
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

  /// Takes out all events of what was done before the call.
  ///
  /// - Returns: The events, in order.
  public func takeEvents() -> [WatchEvent] {
    let others = base.takeEvents()
    return faults.withLock { faults in
      let events = others + faults.told
      faults.told = []
      if faults.isOverflown {
        faults.isOverflown = false
        faults.heldBack = []
        faults.isBetweenHalves = false
        return [.overflow]
      }
      return faults.isTearingRenames ? faults.tear(events) : events
    }
  }

  /// Blocks until there may be events, or somebody calls ``wake()``.
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
