internal import FileAccessArbiter
internal import FoundationEssentials
internal import SystemInterface

/// Who takes part in coordination: this process, for people.
struct HostIdentity: Hashable, Sendable {
  let processIdentifier: Int32
  let processName: String

  static let current = HostIdentity(
    processIdentifier: HostProcess.processIdentifier, processName: HostProcess.name)

  var description: String { "pid \(processIdentifier) '\(processName)'" }
}

/// The purpose that all coordinators of one presenter share (C-113).
///
/// Lives while one of them or the registration does.
final class PresenterIdentity: Sendable {
  let purpose: PurposeID
  weak let presenter: (any FilePresenter)?

  init(_ purpose: PurposeID, _ presenter: any FilePresenter) {
    self.purpose = purpose
    self.presenter = presenter
  }
}

/// One registered presenter as the host knows it.
///
/// Immutable but for where it is.
final class PresenterRecord: Sendable {
  let id: PresenterID
  let key: ObjectIdentifier
  let label: String
  let identity: PresenterIdentity
  let executor: any TaskExecutor
  /// How the presenter spells paths; set once it has a location.
  private let spelling: Guarded<PathSpelling?>
  weak let presenter: (any FilePresenter)?
  /// Registrations that hold this one; `nil` once the last of them is gone, from when on it can't be held again.
  private let holderCount = Guarded<Int?>(0)

  init(
    _ id: PresenterID, _ presenter: any FilePresenter, _ identity: PresenterIdentity, _ location: FileLocation?,
    defaultExecutor: any TaskExecutor
  ) {
    self.id = id
    self.key = ObjectIdentifier(presenter)
    self.identity = identity
    self.presenter = presenter
    label = presenter.presenterLabel
    executor = presenter.presentedItemExecutor ?? defaultExecutor
    spelling = Guarded(location?.spelling)
  }

  /// - Returns: Whether it could be held; if not, its registration is ending.
  func hold() -> Bool {
    holderCount.withLock { count in
      guard let holders = count else { return false }
      count = holders + 1
      return true
    }
  }

  /// - Returns: Whether that was the last holder.
  func drop() -> Bool {
    holderCount.withLock { count in
      guard let holders = count else { return false }
      count = holders == 1 ? nil : holders - 1
      return count == nil
    }
  }

  func noteLocation(_ location: FileLocation) { spelling.withLock { $0 = location.spelling } }

  func url(of path: ItemPath) -> URL { spelling.withLock { $0 }?.url(of: path) ?? FileURLCoding.url(of: path.bytes) }

  /// Runs the callback that a message asks for.
  ///
  /// - Returns: The reacquirer, if the answer to a relinquish message is one.
  func receive(
    _ kind: Message.Kind, _ origin: AccessOrigin, _ presenter: any FilePresenter
  ) async throws -> FileReacquirer? {
    switch kind {
    case .relinquishToReader: return try await presenter.relinquishPresentedItem(toReader: origin)
    case .relinquishToWriter: return try await presenter.relinquishPresentedItem(toWriter: origin)
    case .saveChanges: try await presenter.savePresentedItemChanges(origin: origin)
    case .accommodateDeletion: try await presenter.accommodatePresentedItemDeletion(origin: origin)
    case .accommodateEviction: try await presenter.accommodatePresentedItemEviction(origin: origin)
    case .accommodateSubitemDeletion(let path):
      try await presenter.accommodatePresentedSubitemDeletion(at: url(of: path), origin: origin)
    case .reacquire: preconditionFailure("a reacquirer is no callback of the presenter")
    case .itemDidChange: await presenter.presentedItemDidChange(origin: origin)
    case .itemDidMove(let path): await presenter.presentedItemDidMove(to: url(of: path), origin: origin)
    case .itemDidChangeUbiquityAttributes(let attributes):
      await presenter.presentedItemDidChangeUbiquityAttributes(Set(attributes), origin: origin)
    case .itemVersion(let change, let version):
      await presenter.presentedItemDidChangeVersion(change.publicChange, version: version, origin: origin)
    case .subitemDidAppear(let path): await presenter.presentedSubitemDidAppear(at: url(of: path), origin: origin)
    case .subitemDidChange(let path): await presenter.presentedSubitemDidChange(at: url(of: path), origin: origin)
    case .subitemDidMove(let old, let new):
      await presenter.presentedSubitem(at: url(of: old), didMoveTo: url(of: new), origin: origin)
    case .subitemVersion(let path, let change, let version):
      await presenter.presentedSubitemDidChangeVersion(
        at: url(of: path), change.publicChange, version: version, origin: origin)
    }
    return nil
  }
}

extension Message.VersionChange {
  var publicChange: FileVersionChange {
    switch self {
    case .gained: .gained
    case .lost: .lost
    case .resolved: .resolved
    }
  }
}
