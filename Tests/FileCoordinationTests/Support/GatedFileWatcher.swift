import FileWatching
import SystemInterface

/// Reports no event while its gate is closed, and then all of them at once, in order.
///
/// Any thread may call anything; one waits.
final class GatedFileWatcher: FileWatcher {
  private let base: any FileWatcher
  private let isClosed = Guarded(false)

  init(_ base: any FileWatcher) { self.base = base }

  func close() { isClosed.withLock { $0 = true } }

  func open() {
    isClosed.withLock { $0 = false }
    wake()
  }

  func watch(_ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool) throws(SystemError) -> WatchID {
    try base.watch(path, interest, isDirectory: isDirectory)
  }

  func unwatch(_ watch: WatchID) { base.unwatch(watch) }

  func takeEvents() -> [WatchEvent] { isClosed.withLock { $0 } ? [] : base.takeEvents() }

  func waitForEvents() throws(SystemError) { try base.waitForEvents() }

  func wake() { base.wake() }
}
