internal import FileAccessArbiter
internal import FileWatching
internal import Synchronization
internal import SystemInterface

/// Carries out the orders of a ``PlaceCore``, and decides nothing.
///
/// Each order is at most two calls of the system.
///
/// `@unchecked Sendable` for the pointer to atomics, which live as long as the cache that has these hands.
@safe
struct PlaceHands: WatchingHands, @unchecked Sendable {
  let files: any FileSystem
  let changes: any NameChangeQueue
  let registry: ValidityRegistry
  let clocks: UnsafeMutablePointer<ResolutionCache.Clocks>
  /// How old a check for mounts may be, in nanoseconds of the coarse clock.
  let mountCheckAgeMax: Int64
  /// The records of the places that are kept.
  var records: [PlaceID: ResolutionValidity] = [:]
  /// The moves by the library when the present attempt began.
  var moveCount: UInt64 = 0
  /// When changes were last begun to be taken.
  var takingBegan: Int64 = 0

  mutating func carryOut(_ order: PlaceOrder) -> PlaceOutcome {
    switch order {
    case .noteMoves: moveCount = registry.moveCount
    case .watch(let directory):
      return .watched(Result { () throws(SystemError) in try changes.watch(directory) })
    case .unwatch(let watch): changes.unwatch(watch)
    case .look(let path): return .looked(kind(of: path))
    case .checkSearchable(let directory): return .searchable(isSearchable(directory))
    case .register(let id, let canonical, let spelled):
      records[id] = ResolutionValidity(
        of: ItemPath(canonical: canonical.bytes), spelled: ItemPath(canonical: spelled.bytes), in: registry,
        since: moveCount)
    case .mark(let id, let mark): records.removeValue(forKey: id)?.set(mark.bits)
    case .check(let id): return .checked(isKept: records[id]?.isKept == true)
    case .takeUse(let id): return .used(records[id]?.takeUsed() == true)
    case .takeChanges: return .changes(takeChanges())
    case .endChanges: endChanges()
    }
    return .done
  }

  private func kind(of path: SystemPath) -> NameNode.Kind? {
    do {
      switch try files.status(of: path, at: .workingDirectory, links: .noFollow).kind {
      case .directory: return .directory
      case .symbolicLink: return .link(try files.readLink(path, at: .workingDirectory))
      default: return .other
      }
    } catch {
      return error.number == .noSuchFileOrDirectory ? .missing : nil
    }
  }

  private func isSearchable(_ directory: SystemPath) -> Bool {
    (try? files.status(of: directory.appending("."), at: .workingDirectory, links: .noFollow)) != nil
  }

  private mutating func takeChanges() -> [NameChange] {
    takingBegan = CoarseClock.now
    unsafe clocks.pointee.absorbing.store(1, ordering: .sequentiallyConsistent)
    var mountChanges: [NameChange] = []
    let mountsCheckedAt = unsafe clocks.pointee.mountsCheckedAt.load(ordering: .relaxed)
    if takingBegan - mountsCheckedAt > mountCheckAgeMax, changes.takeMountChange() { mountChanges = [.everything] }
    let taken = changes.takeChanges()
    return mountChanges.isEmpty ? taken : mountChanges + taken
  }

  private func endChanges() {
    let mountsCheckedAt = unsafe clocks.pointee.mountsCheckedAt.load(ordering: .relaxed)
    if takingBegan - mountsCheckedAt > mountCheckAgeMax {
      unsafe clocks.pointee.mountsCheckedAt.store(takingBegan, ordering: .releasing)
    }
    unsafe clocks.pointee.checkedAt.store(takingBegan, ordering: .releasing)
    unsafe clocks.pointee.absorbing.store(0, ordering: .sequentiallyConsistent)
  }
}

extension PlaceMark {
  fileprivate var bits: UInt32 {
    switch self {
    case .stale: ResolutionValidity.stale
    case .unwatched: ResolutionValidity.unwatched
    }
  }
}
