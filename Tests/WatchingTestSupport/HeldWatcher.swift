package import FileWatching
package import SystemInterface

/// Passes everything on to another watcher, but returns no events while it's held, as if the process were stopped.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `gate` | its lock | the test holds and releases, the thread that follows waits |
package final class HeldWatcher: FileWatcher {
  private let base: any FileWatcher
  private let gate = Guarded<ThreadEvent?>(nil)

  package init(_ base: any FileWatcher) { self.base = base }

  package func hold() { gate.withLock { $0 = ThreadEvent() } }

  package func release() {
    let event = gate.withLock { gate -> ThreadEvent? in
      defer { gate = nil }
      return gate
    }
    event?.signal()
  }

  package func watch(
    _ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool
  ) throws(SystemError) -> WatchID {
    try base.watch(path, interest, isDirectory: isDirectory)
  }

  package func unwatch(_ watch: WatchID) { base.unwatch(watch) }

  package func takeEvents() -> [WatchEvent] {
    gate.withLock { $0 }?.wait()
    return base.takeEvents()
  }

  package func waitForEvents() throws(SystemError) { try base.waitForEvents() }
  package func wake() { base.wake() }
}
