internal import FileAccessArbiter
internal import FoundationEssentials
internal import Synchronization
internal import SystemInterface

/// A participant in coordination: this process, for people.
struct OwnProcess: Hashable, Sendable {
  let processIdentifier: Int32
  let processName: String

  static let current = OwnProcess(
    processIdentifier: HostProcess.processIdentifier, processName: HostProcess.name)

  var description: String { "pid \(processIdentifier) '\(processName)'" }
}

/// The purpose that all coordinators of one presenter share (C-113), as long as one of them lives.
///
/// The presenter's registration has the same purpose.
final class SharedPurpose: Sendable {
  let purpose: PurposeID
  weak let presenter: (any FilePresenter)?

  init(_ purpose: PurposeID, _ presenter: any FilePresenter) {
    self.purpose = purpose
    self.presenter = presenter
  }
}

/// One registered presenter in the host.
///
/// There may be a million of them, so properties that few have lie elsewhere, and properties that change are kept in
/// atomics instead of behind locks of their own.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `extras`, and the spelling in it | itself: stored once | a presenter may get its location after it registered |
/// | `holderCount` | itself: counted until it's gone | registrations end on any thread |
final class PresenterRecord: Sendable {
  /// The properties that few presenters have.
  private final class Extras: Sendable {
    let executor: (any TaskExecutor)?
    /// Whether the executor gets each callback as a job of its own.
    let isStepped: Bool
    /// Absent while it has no location, and if it spells paths as they are.
    let spelling = LazyReference<Spelling>()

    init(executor: (any TaskExecutor)?) {
      self.executor = executor
      isStepped = executor is any SteppedPresenterExecutor
    }
  }

  /// How a presenter spells paths.
  private final class Spelling: Sendable {
    let value: PathSpelling

    init(_ value: PathSpelling) { self.value = value }
  }

  let id: PresenterID
  let key: ObjectIdentifier
  let purpose: PurposeID
  weak let presenter: (any FilePresenter)?
  private let extras = LazyReference<Extras>()
  /// Registrations that hold this one; ``isGone`` once the last of them is gone, from when on it can't be held again.
  private let holderCount = Atomic<Int>(0)
  private static let isGone = -1

  /// Where its callbacks run, if it chose an executor.
  var executor: (any TaskExecutor)? { extras.load()?.executor }

  /// Whether that gets each callback as a job of its own.
  var isStepped: Bool { extras.load()?.isStepped ?? false }

  init(_ id: PresenterID, _ presenter: any FilePresenter, _ purpose: PurposeID, executor: (any TaskExecutor)?) {
    self.id = id
    self.key = ObjectIdentifier(presenter)
    self.presenter = presenter
    self.purpose = purpose
    if let executor { _ = extras.storeIfNil(Extras(executor: executor)) }
  }

  /// - Returns: Whether it could be held; if not, its registration is ending.
  func hold() -> Bool {
    var count = holderCount.load(ordering: .relaxed)
    while count != Self.isGone {
      let (exchanged, original) = holderCount.compareExchange(
        expected: count, desired: count + 1, ordering: .acquiringAndReleasing)
      if exchanged { return true }
      count = original
    }
    return false
  }

  /// - Returns: Whether that was the last holder.
  func drop() -> Bool {
    var count = holderCount.load(ordering: .relaxed)
    while count != Self.isGone {
      let (exchanged, original) = holderCount.compareExchange(
        expected: count, desired: count == 1 ? Self.isGone : count - 1, ordering: .acquiringAndReleasing)
      if exchanged { return count == 1 }
      count = original
    }
    return false
  }

  func noteLocation(_ location: FileLocation) {
    if location.spelling.isCanonical { return }
    let extras = extras.load() ?? extras.storeIfNil(Extras(executor: nil))
    _ = extras.spelling.storeIfNil(Spelling(location.spelling))
  }

  func url(of path: ItemPath) -> URL {
    extras.load()?.spelling.load()?.value.url(of: path) ?? FileURLCoding.url(of: path.bytes)
  }

  /// Runs the callback that a message asks for.
  ///
  /// - Returns: The reacquirer, if the answer to a relinquish message is one.
  func receive(
    _ kind: Message.Kind, _ origin: AccessOrigin, _ presenter: any FilePresenter
  ) async throws -> Reacquirer? {
    switch kind {
    case .relinquishToReader: return Reacquirer(try await presenter.relinquishPresentedItem(toReader: origin))
    case .relinquishToWriter: return Reacquirer(try await presenter.relinquishPresentedItem(toWriter: origin))
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
