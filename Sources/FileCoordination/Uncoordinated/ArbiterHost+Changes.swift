internal import CoordinationService
internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

// Where the host meets the bridge. Who has no presenter that observes programs which don't coordinate pays for a look at
// one word.

extension ArbiterHost {
  /// Watches the item of a presenter that has just registered, if it wants that.
  func observeChanges(for record: PresenterRecord, _ registration: PresenterRegistration) {
    guard registration.callbacks.contains(.uncoordinatedChanges) else { return }
    let bridge = changeBridge.load() ?? changeBridge.storeIfNil(ChangeBridge(self))
    bridge.add(record.id, at: registration.path, observesInside: observesInside(registration))
  }

  private func observesInside(_ registration: PresenterRegistration) -> Bool {
    let inside: PresenterCallbacks = [.subitemNews, .directoryEntries]
    if !registration.callbacks.isDisjoint(with: inside) { return true }
    // A package that doesn't declare them is told that it changed as a whole (C-056).
    guard let path = registration.path else { return !configuration.packageExtensions.isEmpty }
    return PackageNames(configuration.packageExtensions).cover(path)
  }

  /// Before a write ends: what it did is told while it still accounts for it.
  func tellChanges(beforeEndOf items: [AccessPlan.Item]) {
    guard let bridge = changeBridge.load(), items.contains(where: \.access.isWrite) else { return }
    bridge.readEverything()
  }

  /// Before anybody is told of the end of other processes' writes.
  func readChanges(before frames: ArraySlice<ServerFrame>) {
    let mustSettle = frames.contains { frame in
      if case .settle = frame { true } else { false }
    }
    if mustSettle { changeBridge.load()?.readEverything() }
  }
}
