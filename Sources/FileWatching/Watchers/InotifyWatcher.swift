public import SystemInterface

/// Watches through inotify(7).
///
/// It doesn't see stores through mmap(2) before the file is closed, changes through another hard link unless the file
/// itself is watched, or changes by other machines on network file systems.
///
/// fanotify(7) offers a process without privileges marks of single directories. Their gain is that a rename is one
/// event. Like inotify's watches, they miss changes in a new directory before it's marked. Each costs 1.3 times as
/// much, with the handle by which events name the directory, and watched programs aren't faster (`benchmarks --filter
/// query/watches`). So there's no such backend.
public final class InotifyWatcher: FileWatcher {
  private let subscription: InotifySubscription

  /// Subscribes to the queue that all watchers of the process share.
  ///
  /// A watcher whose events aren't taken loses its own at some time, see ``WatchEvent/overflow``, and no others.
  ///
  /// - Parameter tellsMounts: Whether to report mounts and unmounts too, where proc(5) is there to show them.
  /// - Throws: EMFILE when the user has too many queues or the process too many descriptors.
  public convenience init(tellsMounts: Bool = true) throws(SystemError) {
    try self.init(for: .trees, tellsMounts: tellsMounts)
  }

  /// Subscribes to the queue that the process has for a purpose.
  ///
  /// - Parameters:
  ///   - purpose: The purpose.
  ///   - tellsMounts: Whether to report mounts and unmounts too.
  /// - Throws: EMFILE when the user has too many queues or the process too many descriptors.
  package init(for purpose: SharedInotifyQueue.Purpose, tellsMounts: Bool = false) throws(SystemError) {
    subscription = try InotifySubscription(purpose, tellsMounts: tellsMounts)
  }

  /// Watches an item, through inotify_add_watch(2).
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
    WatchID(try subscription.watch(path, InotifyInterest(interest), isDirectory: isDirectory))
  }

  /// Ends a watch.
  ///
  /// - Parameter watch: The number of the watch.
  public func unwatch(_ watch: WatchID) { subscription.unwatch(watch.rawValue) }

  /// Takes out all events of changes before the call.
  ///
  /// - Returns: The events, in order.
  public func takeEvents() -> [WatchEvent] {
    let events = subscription.takeRecords().compactMap(WatchEvent.init)
    return subscription.takeMountChange() ? events + [.mountsChanged] : events
  }

  /// Blocks until there may be events, or ``wake()`` is called.
  ///
  /// - Throws: EMFILE when the process has too many descriptors; EAGAIN when it has too many threads.
  public func waitForEvents() throws(SystemError) { try subscription.wait() }

  /// Ends the wait that goes on, or else the next one.
  public func wake() { subscription.wake() }
}

extension WatchEvent {
  fileprivate init?(_ record: InotifyRecord) {
    let watch = WatchID(record.watch)
    if record.isOverflow {
      self = .overflow
    } else if record.isEnd {
      self = .ended(watch)
    } else if record.name.isEmpty {
      // Nothing is reported when the watched item is gone: the end of the watch follows.
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

extension InotifyInterest {
  fileprivate init(_ interest: WatchInterest) {
    self = []
    if interest.contains(.names) { insert(.names) }
    if interest.contains(.contents) { insert(.contents) }
    if interest.contains(.attributes) { insert(.attributes) }
    if interest.contains(.itself) { insert(.itself) }
  }
}
