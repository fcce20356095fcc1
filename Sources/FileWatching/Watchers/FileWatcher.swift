internal import Glibc
public import SystemInterface

/// Watches items, not trees: watch a directory first, and read it then, to miss nothing that is made in it meanwhile.
///
/// What happens once ``watch(_:_:isDirectory:)`` has returned is told. It's in the queue before the system call returns that did it, so
/// whoever calls ``takeEvents()`` knows of everything that was done before: no cookie file is needed to find out.
///
/// Any thread may call anything; one waits. A ``TreeWatcher`` makes one for itself; give it another one to poll everything, to test what
/// follows from lost events, or to hear of changes that no kernel tells.
public protocol FileWatcher: AnyObject, Sendable {
  /// Watches an item; once more to hear of more.
  ///
  /// - Parameters:
  ///   - path: The item; a symbolic link is watched itself. It may be a name in `/proc/self/fd` that leads to the item during the call
  ///     only, so that nothing else is watched that has come in its place: see readlink(2) for where it is.
  ///   - interest: What to hear of.
  ///   - isDirectory: Whether to refuse anything but a directory.
  /// - Returns: The number that its events are told with; the same for each path that leads to the item.
  /// - Throws: ENOSPC when too much is watched, EOPNOTSUPP where not every change is told, EACCES for what can't be read,
  ///   ENOENT.
  func watch(
    _ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool
  ) throws(SystemError) -> WatchID

  /// Ends a watch.
  ///
  /// What happened before is told nevertheless, then ``WatchEvent/ended(_:)``.
  ///
  /// - Parameter watch: The number of the watch.
  func unwatch(_ watch: WatchID)

  /// Takes out all events of what was done before the call, and perhaps some more.
  ///
  /// - Returns: The events, in order.
  func takeEvents() -> [WatchEvent]

  /// Blocks until there may be events, or somebody calls ``wake()``.
  ///
  /// - Throws: An error of the system, after which waiting is of no use.
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
