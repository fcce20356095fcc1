internal import Glibc
public import SystemInterface

/// Watches items, not trees: watch a directory first, and read it then, to miss nothing that is made in it meanwhile.
///
/// Changes after ``watch(_:_:isDirectory:)`` has returned are reported. An event is in the queue before the system call
/// returns that caused it, so a caller of ``takeEvents()`` gets everything that was done before: no cookie file is
/// needed for that.
///
/// Any thread may call anything; one waits. A ``TreeWatcher`` makes one for itself; give it another one to poll
/// everything, to test the consequences of lost events, or to receive changes that no kernel reports.
public protocol FileWatcher: AnyObject, Sendable {
  /// Watches an item; once more to receive more kinds of events.
  ///
  /// - Parameters:
  ///   - path: The item; a symbolic link is watched itself. It may be a name in `/proc/self/fd` that leads to the item during the call
  ///     only, so that nothing else is watched that has come in its place: see readlink(2) for where it is.
  ///   - interest: The events to receive.
  ///   - isDirectory: Whether to refuse anything but a directory.
  /// - Returns: The number in its events; the same for each path that leads to the item.
  /// - Throws: ENOSPC when too much is watched, EOPNOTSUPP where not every change is reported, EACCES for an item that
  ///   can't be read, ENOENT.
  func watch(
    _ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool
  ) throws(SystemError) -> WatchID

  /// Ends a watch.
  ///
  /// Earlier changes are reported nevertheless, then ``WatchEvent/ended(_:)``.
  ///
  /// - Parameter watch: The number of the watch.
  func unwatch(_ watch: WatchID)

  /// Takes out all events of changes before the call, and perhaps some more.
  ///
  /// - Returns: The events, in order.
  func takeEvents() -> [WatchEvent]

  /// Blocks until there may be events, or ``wake()`` is called.
  ///
  /// - Throws: An error of the system. After a shortage, such as EMFILE, events are taken from time to time and it's called again; after
  ///   any other one waiting is of no use.
  func waitForEvents() throws(SystemError)

  /// Ends the wait that goes on, or else the next one.
  func wake()
}

extension SystemError {
  /// ENOSPC, which means a limit of inotify(7) here and not the disk.
  package static func tooManyWatches(_ path: SystemPath) -> SystemError {
    SystemError(call: "inotify_add_watch(2)", paths: [path], errno: ENOSPC)
  }
}
