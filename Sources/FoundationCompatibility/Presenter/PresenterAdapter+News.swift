#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation
  internal import SystemInterface

  // Messages for which no access waits.

  extension PresenterAdapter {
    func presentedItemDidMove(to url: URL, origin: AccessOrigin) async {
      // Its later answers are for the new place.
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
      let version = await NSFileVersion.announced(version, at: url)
      switch change {
      case .gained: await tell(.itemGain) { $0.presentedItemDidGain(version) }
      case .lost: await tell(.itemLoss) { $0.presentedItemDidLose(version) }
      case .resolved: await tell(.itemResolution) { $0.presentedItemDidResolveConflict(version) }
      }
    }

    func presentedSubitemDidAppear(at url: URL, origin: AccessOrigin) async {
      await tell(.subitemDidAppear) { $0.presentedSubitemDidAppear(at: url) }
      if unwritten.contains(.subitemDidAppear) { await tellOfChange(at: [url], comesOrGoes: true) }
    }

    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL, origin: AccessOrigin) async {
      await tell(.subitemDidMove) { $0.presentedSubitem(at: oldURL, didMoveTo: newURL) }
      if unwritten.contains(.subitemDidMove) { await tellOfChange(at: [oldURL, newURL], comesOrGoes: true) }
    }

    func presentedSubitemDidChange(at url: URL, origin: AccessOrigin) async {
      await tellOfChange(at: [url], comesOrGoes: !url.leadsSomewhere)
    }

    func presentedSubitemDidChangeVersion(
      at url: URL, _ change: FileVersionChange, version: String, origin: AccessOrigin
    ) async {
      let version = await NSFileVersion.announced(version, at: url)
      switch change {
      case .gained: await tell(.subitemGain) { $0.presentedSubitem(at: url, didGain: version) }
      case .lost: await tell(.subitemLoss) { $0.presentedSubitem(at: url, didLose: version) }
      case .resolved: await tell(.subitemResolution) { $0.presentedSubitem(at: url, didResolve: version) }
      }
    }

    private func tell(_ callback: WrittenCallbacks, _ body: @escaping @Sendable (any NSFilePresenter) -> Void) async {
      if unwritten.contains(callback) { return }
      await tell {
        body($0)
        UnwrittenCallbacks.shared.noteCall(of: callback, $0)
      }
    }

    /// Reports that something inside has changed, or that the whole has, if the class hasn't written that method.
    ///
    /// Rules C-056, C-058, C-060 and C-093.
    ///
    /// Only while it's unknown whether the class has written it: the native coordinator uses the known callbacks of a
    /// class.
    private func tellOfChange(at urls: [URL], comesOrGoes: Bool) async {
      let inside = urls.filter(isInside)
      for url in inside { await tell(.subitemDidChange) { $0.presentedSubitemDidChange(at: url) } }
      if !unwritten.contains(.subitemDidChange) { return }
      let isWhole = presentsPackage || comesOrGoes && inside.contains(where: isEntry)
      if isWhole { await tell(.itemDidChange) { $0.presentedItemDidChange() } }
    }

    private func isInside(_ url: URL) -> Bool {
      guard let directory = presentedItemURL?.systemPath else { return false }
      return url.systemPath.isInside(directory)
    }

    /// Whether it's right in the presented directory.
    private func isEntry(_ url: URL) -> Bool { url.systemPath.parent == presentedItemURL?.systemPath }
  }
#endif
