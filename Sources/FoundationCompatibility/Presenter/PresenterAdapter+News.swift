#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation

  // Messages that nobody waits for.

  extension PresenterAdapter {
    func presentedItemDidMove(to url: URL, origin: AccessOrigin) async {
      // What it's asked next, it answers for the new place.
      if !unwritten.contains(.itemDidMove) { await tell(isServed: true) { $0.presentedItemDidMove(to: url) } }
    }

    func presentedItemDidChange(origin: AccessOrigin) async {
      await tell(.itemDidChange) { $0.presentedItemDidChange() }
    }

    func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<String>, origin: AccessOrigin) async {
      let keys = Set(attributes.map(URLResourceKey.init(rawValue:)))
      await tell(.itemAttributes) { $0.presentedItemDidChangeUbiquityAttributes(keys) }
    }

    func presentedItemDidChangeVersion(_ change: FileVersionChange, version: String, origin: AccessOrigin) async {
      guard let url = presentedItemURL else { return }
      let version = NSFileVersion(url, name: version)
      switch change {
      case .gained: await tell(.itemGain) { $0.presentedItemDidGain(version) }
      case .lost: await tell(.itemLoss) { $0.presentedItemDidLose(version) }
      case .resolved: await tell(.itemResolution) { $0.presentedItemDidResolveConflict(version) }
      }
    }

    func presentedSubitemDidAppear(at url: URL, origin: AccessOrigin) async {
      await tellOfSubitem(.subitemDidAppear) { $0.presentedSubitemDidAppear(at: url) }
    }

    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL, origin: AccessOrigin) async {
      await tellOfSubitem(.subitemDidMove) { $0.presentedSubitem(at: oldURL, didMoveTo: newURL) }
    }

    func presentedSubitemDidChange(at url: URL, origin: AccessOrigin) async {
      await tellOfSubitem(.subitemDidChange) { $0.presentedSubitemDidChange(at: url) }
    }

    func presentedSubitemDidChangeVersion(
      at url: URL, _ change: FileVersionChange, version: String, origin: AccessOrigin
    ) async {
      let version = NSFileVersion(url, name: version)
      switch change {
      case .gained: await tell(.subitemGain) { $0.presentedSubitem(at: url, didGain: version) }
      case .lost: await tell(.subitemLoss) { $0.presentedSubitem(at: url, didLose: version) }
      case .resolved: await tell(.subitemResolution) { $0.presentedSubitem(at: url, didResolve: version) }
      }
    }

    private func tell(_ callback: WrittenCallbacks, _ body: @escaping @Sendable (any NSFilePresenter) -> Void) async {
      if !unwritten.contains(callback) { await tell(body) }
    }

    /// Tells of something inside; a package whose class hasn't written that method is told that it has changed (C-056, C-093).
    ///
    /// Classes of which that's known when they register are told so by the native coordinator.
    private func tellOfSubitem(
      _ callback: WrittenCallbacks, _ body: @escaping @Sendable (any NSFilePresenter) -> Void
    ) async {
      if !unwritten.contains(callback) { await tell(body) }
      if unwritten.contains(callback), presentsPackage { await tell(.itemDidChange) { $0.presentedItemDidChange() } }
    }
  }
#endif
