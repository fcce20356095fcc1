public import SystemInterface

/// Watches through inotify(7).
///
/// Doesn't hear of stores through mmap(2) before the file is closed, of changes through another hard link unless the file
/// itself is watched, or of what other machines do on network file systems.
///
/// fanotify(7) offers a process without privileges marks of single directories. They miss what happens in a new directory before it's
/// marked as inotify's watches do, cost 1.3 times as much each with the handle that their events name the directory by, and watched
/// programs no less (`benchmarks --filter query/watches`), for renames that come as one event. So there's no such backend.
public final class InotifyWatcher: FileWatcher {
  private let queue: InotifyQueue
  private let poller: ReadinessPoller
  /// If changes of it are told.
  private let mounts: MountTable?
  /// A change of the mounts has ended a wait, and hasn't been told.
  private let hasMountsChanged = Guarded(false)
  private static let mountsToken: UInt64 = 1

  /// Opens a queue of its own.
  ///
  /// - Parameter tellsMounts: Whether to tell what is mounted and unmounted too, where proc(5) is there to say it.
  /// - Throws: EMFILE when the user has too many queues or the process too many descriptors.
  public init(tellsMounts: Bool = true) throws(SystemError) {
    queue = try InotifyQueue()
    poller = try ReadinessPoller()
    try poller.add(queue, token: 0, interest: .readable)
    mounts = tellsMounts ? try? MountTable() : nil
    if let mounts { try poller.add(mounts, token: Self.mountsToken, interest: .exceptional) }
  }

  /// Watches an item, through inotify_add_watch(2).
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
    WatchID(try queue.watch(path, InotifyQueue.Interest(interest), isDirectory: isDirectory))
  }

  /// Ends a watch.
  ///
  /// - Parameter watch: The number of the watch.
  public func unwatch(_ watch: WatchID) { queue.unwatch(watch.rawValue) }

  /// Takes out all events of what was done before the call.
  ///
  /// - Returns: The events, in order.
  public func takeEvents() -> [WatchEvent] {
    let events = queue.takeRecords().compactMap(WatchEvent.init)
    guard let mounts else { return events }
    let isTold = hasMountsChanged.withLock { flag in
      defer { flag = false }
      return flag
    }
    return mounts.takeChange() || isTold ? events + [.mountsChanged] : events
  }

  /// Blocks until there may be events, or somebody calls ``wake()``.
  ///
  /// - Throws: An error of epoll_wait(2).
  public func waitForEvents() throws(SystemError) {
    var events: [ReadinessPoller.Event] = []
    _ = try poller.wait(into: &events)
    if events.contains(where: { $0.token == Self.mountsToken }) { hasMountsChanged.withLock { $0 = true } }
  }

  /// Ends the wait that goes on, or else the next one.
  public func wake() { poller.wake() }
}

extension WatchEvent {
  fileprivate init?(_ record: InotifyRecord) {
    let watch = WatchID(record.watch)
    if record.isOverflow {
      self = .overflow
    } else if record.isEnd {
      self = .ended(watch)
    } else if record.name.isEmpty {
      // Nothing is told when the watched item is gone: the end of the watch follows.
      guard record.isChange || record.isOwnMove else { return nil }
      self = record.isOwnMove ? .itemMoved(watch) : .itemChanged(watch)
    } else {
      self = .name(watch, SystemPath(bytes: record.name), Action(record), isDirectory: record.isDirectory)
    }
  }
}

extension WatchEvent.Action {
  fileprivate init(_ record: InotifyRecord) {
    let cookie = RenameCookie(record.cookie)
    if record.isCreation {
      self = .created
    } else if record.isRemoval {
      self = .removed
    } else if record.isDeparture {
      self = .departed(cookie)
    } else if record.isArrival {
      self = .arrived(cookie)
    } else {
      self = .changed
    }
  }
}

extension InotifyQueue.Interest {
  fileprivate init(_ interest: WatchInterest) {
    self = []
    if interest.contains(.names) { insert(.names) }
    if interest.contains(.contents) { insert(.contents) }
    if interest.contains(.attributes) { insert(.attributes) }
    if interest.contains(.itself) { insert(.itself) }
  }
}
