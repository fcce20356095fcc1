internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

/// Turns events in the file system into changes of presented items: carries out the orders of a ``ChangeCore``, and
/// reports their outcomes.
///
/// Blocks as long as the file system does.
///
/// `@unchecked Sendable`: for one thread at a time. The lock of the ``ChangeBridge`` that has made it guards all of it.
final class ChangeReader: @unchecked Sendable {
  private(set) var core = ChangeCore()
  private var hands: ChangeHands

  init(_ watcher: any FileWatcher, in files: any FileSystem) {
    hands = ChangeHands(files: files, watcher: watcher, budget: .shared)
  }

  deinit { hands.releaseAll() }

  var watcher: any FileWatcher { hands.watcher }

  /// Reports something to the core, and does what it orders until it has nothing more to do.
  func tell(_ news: (inout ChangeCore) -> Void) {
    news(&core)
    core.carryOutOrders(by: &hands)
  }

  func takeOutput() -> ChangeCore.Output { core.takeOutput() }
}
