internal import CompactContainers
internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

// Where the host meets the bridge. A process without presenters that observe uncoordinated changes pays for reading one
// word.

extension ArbiterHost {
  /// Watches the item of a presenter that has just registered, if the presenter asks for that.
  func observeChanges(for record: PresenterRecord, _ registration: PresenterRegistration) {
    guard registration.callbacks.contains(.uncoordinatedChanges) else { return }
    let bridge = changeBridge.load() ?? changeBridge.storeIfNil(ChangeBridge(self))
    bridge.add(record.id, at: registration.path, observesInside: observesInside(registration))
  }

  private func observesInside(_ registration: PresenterRegistration) -> Bool {
    let inside: PresenterCallbacks = [.subitemNews, .directoryEntries]
    if !registration.callbacks.isDisjoint(with: inside) { return true }
    // A package that doesn't declare them is notified that it changed as a whole (C-056).
    guard let path = registration.path else { return !configuration.packageExtensions.isEmpty }
    return PackageNames(configuration.packageExtensions).cover(path)
  }

  /// Before a write ends: its changes are reported while it still accounts for them.
  func tellChanges(beforeEndOf items: ShortList<AccessPlan.Item>) {
    guard items.contains(where: \.access.isWrite), let bridge = changeBridge.load() else { return }
    bridge.readEverything()
  }

  /// Before any notification of the end of other processes' writes.
  func readChanges(before frames: ArraySlice<ServerFrame>) {
    let mustSettle = frames.contains { frame in
      if case .settle = frame { true } else { false }
    }
    if mustSettle { changeBridge.load()?.readEverything() }
  }
}
