package import FileWatching
package import SystemInterface

/// Passes everything on to another watcher, but can't wait while it has an error.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the test sets the error, the thread that follows receives it |
package final class UnwaitableWatcher: FileWatcher {
  private struct State: Sendable {
    var error: SystemError?
    var failureCount = 0
  }

  private let base: any FileWatcher
  private let state = Guarded(State())

  package init(_ base: any FileWatcher) { self.base = base }

  /// How often waiting has failed.
  package var failureCount: Int { state.withLock { $0.failureCount } }

  /// Lets every wait fail from now on, also the one that goes on; none, if there's no error.
  package func fail(_ error: SystemError?) {
    state.withLock { $0.error = error }
    // Nothing happens when it's over.
    if error != nil { base.wake() }
  }

  package func watch(
    _ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool
  ) throws(SystemError) -> WatchID {
    try base.watch(path, interest, isDirectory: isDirectory)
  }

  package func unwatch(_ watch: WatchID) { base.unwatch(watch) }
  package func takeEvents() -> [WatchEvent] { base.takeEvents() }

  package func waitForEvents() throws(SystemError) {
    try failIfNecessary()
    try base.waitForEvents()
    try failIfNecessary()
  }

  package func wake() { base.wake() }

  private func failIfNecessary() throws(SystemError) {
    let error = state.withLock { state in
      if state.error != nil { state.failureCount += 1 }
      return state.error
    }
    if let error { throw error }
  }
}
