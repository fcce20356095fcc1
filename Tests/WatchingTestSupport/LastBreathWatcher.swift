import FileWatching
import SystemInterface

@testable import FileMetadata

/// Passes everything on to another watcher, and tells when nobody has it any more.
final class LastBreathWatcher: FileWatcher {
  private let base: any FileWatcher
  private let ended: Barrier

  init(_ base: any FileWatcher, _ ended: Barrier) {
    self.base = base
    self.ended = ended
  }

  deinit { ended.end() }

  func watch(
    _ path: SystemPath, _ interest: InotifyQueue.Interest, isDirectory: Bool
  ) throws(SystemError) -> WatchID {
    try base.watch(path, interest, isDirectory: isDirectory)
  }

  func unwatch(_ watch: WatchID) { base.unwatch(watch) }
  func takeEvents() -> [WatchEvent] { base.takeEvents() }
  func waitForEvents() throws(SystemError) { try base.waitForEvents() }
  func wake() { base.wake() }
}
