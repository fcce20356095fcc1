package import FileWatching
package import SystemInterface

/// Passes everything on to another watcher, and reports the end of its last reference.
package final class LastBreathWatcher: FileWatcher {
  private let base: any FileWatcher
  private let onEnd: @Sendable () -> Void

  package init(_ base: any FileWatcher, onEnd: @escaping @Sendable () -> Void) {
    self.base = base
    self.onEnd = onEnd
  }

  deinit { onEnd() }

  package func watch(
    _ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool
  ) throws(SystemError) -> WatchID {
    try base.watch(path, interest, isDirectory: isDirectory)
  }

  package func unwatch(_ watch: WatchID) { base.unwatch(watch) }
  package func takeEvents() -> [WatchEvent] { base.takeEvents() }
  package func waitForEvents() throws(SystemError) { try base.waitForEvents() }
  package func wake() { base.wake() }
}
