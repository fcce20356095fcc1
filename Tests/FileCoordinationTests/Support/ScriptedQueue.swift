import SystemInterface
import Synchronization

/// A queue of changes in front of the kernel's, whose watches fail and whose changes come by script.
final class ScriptedQueue: NameChangeQueue {
  private let base = HostNameChangeQueue()
  private let failure = Atomic<Int32>(0)
  private let hasLostChanges = Atomic(false)
  private let hasMounts = Atomic(false)
  private let watches = Atomic<Int>(0)

  /// The error of each watch from now on; 0 for none.
  func failWatches(with errno: Int32) { failure.store(errno, ordering: .sequentiallyConsistent) }

  /// Takes away the contents of the queue, and reports the loss.
  func overflow() {
    _ = base.takeChanges()
    hasLostChanges.store(true, ordering: .sequentiallyConsistent)
  }

  /// Pretends that a file system was mounted.
  func mount() { hasMounts.store(true, ordering: .sequentiallyConsistent) }

  /// The number of attempts to watch a directory.
  var watchCount: Int { watches.load(ordering: .sequentiallyConsistent) }

  var isEmpty: Bool { !hasLostChanges.load(ordering: .sequentiallyConsistent) && base.isEmpty }

  func watch(_ directory: SystemPath) throws(SystemError) -> NameWatch {
    watches.add(1, ordering: .sequentiallyConsistent)
    let code = failure.load(ordering: .sequentiallyConsistent)
    if code != 0 { throw SystemError(call: "inotify_add_watch(2)", paths: [directory], errno: code) }
    return try base.watch(directory)
  }

  func unwatch(_ watch: NameWatch) { base.unwatch(watch) }

  func takeChanges() -> [NameChange] {
    let lost: [NameChange] = hasLostChanges.exchange(false, ordering: .sequentiallyConsistent) ? [.everything] : []
    return lost + base.takeChanges()
  }

  func takeMountChange() -> Bool { hasMounts.exchange(false, ordering: .sequentiallyConsistent) }
}
