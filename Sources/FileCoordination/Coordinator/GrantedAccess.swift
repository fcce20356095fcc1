internal import CompactContainers
internal import CoordinationService
internal import FileAccessArbiter
internal import FoundationEssentials
internal import Synchronization
internal import SystemInterface
internal import UploadArchives

/// A granted access from its grant to its release.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `isReleased`, `isEnded` | themselves: set once | an access that was taken out of a set may be used meanwhile |
/// | `notes` | its lock | the accessor may announce moves from several tasks |
final class GrantedAccess: Sendable {
  /// A move that was declared before it was made.
  private struct DeclaredMove {
    let destination: ItemPath
    let identity: FileIdentity
  }

  /// The data that few accesses have.
  private struct Notes {
    var declaredMoves: [Int: DeclaredMove] = [:]
    var snapshots: [UploadSnapshot] = []
  }

  let coordinator: FileCoordinator
  let waiter: AccessWaiter
  let grant: Grant
  /// The state of the file at each item's place when the access was granted; empty when no use needs it.
  private let before: [FileStatus?]
  /// The modification time that a file would have got right before that.
  private let lookTime: Int64
  /// The arbiter's access has ended; that of a snapshot does so before the accessor.
  private let hasBeenReleased = Atomic(false)
  /// The accessor has returned.
  private let isEnded = Atomic(false)
  /// Made with the first note.
  private let notes = LazyReference<Guarded<Notes>>()

  var host: ArbiterHost { coordinator.host }
  var items: ShortList<AccessPlan.Item> { waiter.items }
  private var fileSystem: any FileSystem { coordinator.fileSystem }

  /// Turns the answer to a request into access or an error.
  init(
    _ coordinator: FileCoordinator, _ waiter: AccessWaiter, _ plan: AccessPlan
  ) throws(FileCoordinationError) {
    switch waiter.answer {
    case nil: preconditionFailure("\(waiter.id) has no answer yet")
    case .failed(.outerAccessEnded, _):
      coordinator.forget(waiter.id)
      let what = "couldn't \(plan.verb) \(FileCoordinationError.list(plan.subjects))"
      throw .outerAccessEnded(what, plan.subjects, coordinator.host.outerAccess)
    case .failed(let failure, let presenterError):
      coordinator.forget(waiter.id)
      throw .failed(
        failure, verb: plan.verb, subjects: plan.subjects, presenterError: presenterError, at: coordinator.host.now)
    case .unreachable(let error):
      coordinator.forget(waiter.id)
      throw error
    case .granted(let grant):
      self.coordinator = coordinator
      self.waiter = waiter
      self.grant = grant
      let looks = grant.wantsOutcome || plan.mayMove
      lookTime = looks ? CoarseClock.fileTime : 0
      before = looks ? Self.look(at: waiter, coordinator.fileSystem) : []
    }
  }

  /// A claim that was granted without the arbiter and adopted later.
  ///
  /// The item's state wasn't read when the claim was granted, so its changes can't be determined.
  init(adoptedBy coordinator: FileCoordinator, _ waiter: AccessWaiter) {
    self.coordinator = coordinator
    self.waiter = waiter
    grant = Grant()
    lookTime = 0
    before = []
  }

  /// Ends the access: records the changes, notifies the arbiter, deletes snapshots.
  ///
  /// Doing it twice does nothing.
  ///
  /// - Parameter hasFailed: Whether the accessor threw.
  func end(afterFailure hasFailed: Bool = false) {
    release(afterFailure: hasFailed)
    isEnded.store(true, ordering: .releasing)
    guard let notes = notes.load() else { return }
    let snapshots = notes.withLock { exchange(&$0.snapshots, with: []) }
    for snapshot in snapshots {
      try? fileSystem.removeItem(at: snapshot.container)
    }
  }

  /// An access that was taken out of a set can outlive its accessor: then every use of it fails.
  func checkOngoing(_ index: Int) throws(FileCoordinationError) {
    if isEnded.load(ordering: .acquiring) { throw .accessEnded(waiter.path(of: index).description) }
  }

  /// - Throws: An error with code `.accessLost` when others have been granted access since.
  func validate(_ index: Int) throws(FileCoordinationError) {
    if host.decidesAlone { return }
    if waiter.isLost { throw .accessLost(waiter.path(of: index).description) }
    let isHeld = try host.isSo(.validation(waiter.id))
    // It's held again by a process that was expelled meanwhile.
    if !isHeld || waiter.isLost { throw .accessLost(waiter.path(of: index).description) }
  }

  /// The notes, which are made if there are none.
  private var noted: Guarded<Notes> { notes.load() ?? notes.storeIfNil(Guarded(Notes())) }

  private func release(afterFailure hasFailed: Bool) {
    if hasBeenReleased.exchange(true, ordering: .acquiringAndReleasing) { return }
    announceForgottenMoves()
    host.tellChanges(beforeEndOf: items)
    let outcomes = before.isEmpty ? [] : outcomes(afterFailure: hasFailed) + waiter.aliases.map { _ in .untouched }
    coordinator.forget(waiter.id)
    let id = waiter.id
    host.stepWithState { state, now in
      state.waiters[id] = nil
      return ((), state.decider.step(.accessReleased(id, outcomes), at: now))
    }
    coordinator.locateOwnPresenter()
  }
}

extension AccessPlan {
  /// Whether an item may change places, so that a move may be forgotten to be announced.
  ///
  /// By index: a loop over the items would copy each of them, with all that it refers to.
  var mayMove: Bool { items.indices.contains { items[$0].access == .write(.moving) } }
}

// MARK: - Changes of the items

extension GrantedAccess {
  private static func look(at waiter: AccessWaiter, _ fileSystem: any FileSystem) -> [FileStatus?] {
    waiter.items.indices.map { index in
      (try? fileSystem.statusIfPresent(of: SystemPath(bytes: waiter.path(of: index).bytes))) ?? nil
    }
  }

  /// How much later than ``CoarseClock/fileTime`` a file system may say that a file was changed: with a margin, in nanoseconds.
  ///
  /// A file from the future isn't changed now, or it would have another time.
  private static let clockTickMax: Int64 = 1_000_000_000

  private func outcomes(afterFailure hasFailed: Bool) -> [ItemOutcome] {
    let untouched = hasFailed ? ItemOutcome.abandoned : .untouched
    return zip(before, Self.look(at: waiter, fileSystem)).map { before, after in
      switch (before, after) {
      case (nil, nil): return untouched
      case (nil, .some): return .appeared
      case (.some, nil): return .vanished
      case (.some(let before), .some(let after)):
        let isSame =
          before.identity == after.identity && before.size == after.size
          && before.modificationTime == after.modificationTime
        if !isSame { return .changed }
        // A file that was changed in the clock tick of the inspection might change once more and keep its time.
        let ticks = lookTime...(lookTime + Self.clockTickMax)
        return ticks.contains(before.modificationTime) ? .unknown : untouched
      }
    }
  }

  /// Announces moves that the accessor hasn't announced (C-425).
  ///
  /// An item that is gone from its place, and stands at another one of this access or at one that it declared, was moved.
  private func announceForgottenMoves() {
    let declared = notes.load()?.withLock { $0.declaredMoves } ?? [:]
    if before.isEmpty, declared.isEmpty { return }
    for index in items.indices where items[index].access.isWrite {
      let here = waiter.path(of: index)
      guard let identity = declared[index]?.identity ?? (before.isEmpty ? nil : before[index]?.identity),
        identity != identityOfItem(at: here)
      else { continue }
      let others = items.indices.filter { $0 != index && items[$0].access.isWrite }.map { waiter.path(of: $0) }
      let places = (declared[index].map { [$0.destination] } ?? []) + others
      if let place = places.first(where: { identityOfItem(at: $0) == identity }) {
        _ = try? announce(from: here, to: place)
      }
    }
  }

  private func identityOfItem(at path: ItemPath) -> FileIdentity? {
    ((try? fileSystem.statusIfPresent(of: SystemPath(bytes: path.bytes))) ?? nil)?.identity
  }
}

// MARK: - Moves

extension GrantedAccess {
  func declareMove(of index: Int, to url: URL) throws(FileCoordinationError) {
    let destination = try FileLocation(url, in: fileSystem).path
    guard let identity = identityOfItem(at: waiter.path(of: index)) else { return }
    noted.withLock { $0.declaredMoves[index] = DeclaredMove(destination: destination, identity: identity) }
  }

  func announceMove(of index: Int, to url: URL) throws(FileCoordinationError) {
    try announceMove(from: waiter.path(of: index), to: FileLocation(url, in: fileSystem).path)
  }

  func announceMove(of index: Int, to destination: Int) throws(FileCoordinationError) {
    try announceMove(from: waiter.path(of: index), to: waiter.path(of: destination))
  }

  func announceMove(from old: URL, to new: URL) throws(FileCoordinationError) {
    try announceMove(from: FileLocation(old, in: fileSystem).path, to: FileLocation(new, in: fileSystem).path)
  }

  func announceMove(from old: ItemPath, to new: ItemPath) throws(FileCoordinationError) {
    if try !announce(from: old, to: new) { throw .moveNotCovered(old.description, new.description) }
  }

  /// - Returns: Whether this access covers the move.
  private func announce(from old: ItemPath, to new: ItemPath) throws(FileCoordinationError) -> Bool {
    if old == new { return true }
    let replaced = before.indices.contains { before[$0] != nil && waiter.path(of: $0) == new }
    // Before anybody else gets in: where the moved item and its neighbours are has to be found out anew.
    defer { host.identities.noteMove(from: old, to: new) }
    return try host.isSo(.move(by: waiter.id, from: old, to: new, replaced: replaced))
  }

  func announceVersion(
    of index: Int, _ change: FileVersionChange, _ version: String
  ) {
    coordinator.announceVersion(change, version, at: waiter.path(of: index))
  }
}

extension FileVersionChange {
  var message: Message.VersionChange {
    switch self {
    case .gained: .gained
    case .lost: .lost
    case .resolved: .resolved
    }
  }
}

// MARK: - Uploading

extension GrantedAccess {
  /// Makes snapshots of the items that are read for uploading, and ends the access if that's all it was for (C-047).
  func takeSnapshots() throws(FileCoordinationError) {
    let directory = try FileLocation(host.configuration.snapshotDirectory, in: fileSystem).path
    for (index, item) in items.enumerated() where item.isUpload {
      let path = SystemPath(bytes: waiter.path(of: index).bytes)
      let snapshot = try FileCoordinationError.wrapping { () throws(SystemError) in
        try fileSystem.makeUploadSnapshot(of: path, in: SystemPath(bytes: directory.bytes))
      }
      noted.withLock { $0.snapshots.append(snapshot) }
      waiter.replaceItem(index, bySnapshotAt: ItemPath(canonical: snapshot.item.bytes))
    }
    if items.allSatisfy(\.isUpload) { release(afterFailure: false) }
  }

  /// The paths that the archive of an item lacks.
  func pathsLeftOut(of index: Int) -> [SystemPath] {
    let item = SystemPath(bytes: waiter.path(of: index).bytes)
    return notes.load()?.withLock { notes in notes.snapshots.first { $0.item == item }?.leftOut } ?? []
  }

  /// Whether the arbiter's access has ended.
  var isReleased: Bool { hasBeenReleased.load(ordering: .acquiring) }

  var hasUploads: Bool { items.contains(where: \.isUpload) }

  /// The lineage of code inside the accessor; `nil` once the access has ended.
  var lineage: Lineage? {
    if isReleased { return nil }
    return Lineage(.known(.access(waiter.id)), of: host)
  }
}
