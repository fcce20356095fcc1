package import SystemInterface

/// Watches through inotify(7).
///
/// Doesn't hear of stores through mmap(2) before the file is closed, of changes through another hard link unless the file
/// itself is watched, or of what other machines do on network file systems.
package final class InotifyWatcher: FileWatcher {
  private let queue: InotifyQueue
  private let poller: ReadinessPoller

  /// Opens a queue of its own.
  ///
  /// - Throws: EMFILE when the user has too many queues or the process too many descriptors.
  package init() throws(SystemError) {
    queue = try InotifyQueue()
    poller = try ReadinessPoller()
    try poller.add(queue, token: 0, interest: .readable)
  }

  package func watch(
    _ path: SystemPath, _ interest: InotifyQueue.Interest, isDirectory: Bool
  ) throws(SystemError) -> WatchID {
    WatchID(try queue.watch(path, interest, isDirectory: isDirectory))
  }

  package func unwatch(_ watch: WatchID) { queue.unwatch(watch.rawValue) }

  package func takeEvents() -> [WatchEvent] { queue.takeRecords().compactMap(WatchEvent.init) }

  package func waitForEvents() throws(SystemError) {
    var events: [ReadinessPoller.Event] = []
    _ = try poller.wait(into: &events)
  }

  package func wake() { poller.wake() }
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
      self = .name(watch, SystemPath(bytes: record.name), Happening(record), isDirectory: record.isDirectory)
    }
  }
}

extension WatchEvent.Happening {
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
