internal import FileAccessArbiter
internal import FoundationEssentials
internal import Synchronization
internal import SystemInterface

// What happens when the thread's table doesn't know the answer.

extension IdentityCache {
  /// How many directories that can't be watched are remembered.
  private static let refusalCountMax = 256
  /// How often a full resolution is repeated because the library moved something meanwhile.
  private static let attemptCountMax = 3

  @inline(never)
  func missed(
    _ url: URL, _ text: String, _ hash: UInt64, _ kind: IdentityKind
  ) throws(FileCoordinationError) -> ResolvedItem {
    let spelled = try FileURLCoding.path(of: url)
    guard let state else { return try resolvedInFull(url, spelled, kind) }
    if let item = remembered(text, hash), isCurrent(item) {
      ThreadIdentityTable.remember(item, hash, cache: number)
      return item
    }
    let found = state.withLockIfFree { state -> ResolvedItem? in
      absorbChanges(&state.tree)
      if let item = remembered(text, hash), item.validity.isKept { return item }
      return lookUp(url, text, hash, kind, spelled, &state)
    }
    guard let item = found ?? nil else { return try resolvedInFull(url, spelled, kind) }
    ThreadIdentityTable.remember(item, hash, cache: number)
    return item
  }

  @inline(never)
  func missedLexical(_ path: String, _ hash: UInt64) throws(FileCoordinationError) -> ResolvedItem {
    if let item = remembered(path, hash) {
      ThreadIdentityTable.remember(item, hash, cache: number)
      return item
    }
    return remember(try ResolvedItem(lexicalPath: path, packages: packages, key: Array(path.utf8)), hash)
  }

  private func isCurrent(_ item: ResolvedItem) -> Bool { unsafe isCurrent(item.validityWord) }

  private func remembered(_ text: String, _ hash: UInt64) -> ResolvedItem? {
    let key = Array(text.utf8)
    return table.withLock { $0.item(hash, key) }
  }

  private func remember(_ item: ResolvedItem, _ hash: UInt64) -> ResolvedItem {
    // The item that has to go is released here, outside of the lock.
    _ = table.withLock { $0.insert(item, hash) }
    ThreadIdentityTable.remember(item, hash, cache: number)
    return item
  }
}

// MARK: - Under the lock of the tree

extension IdentityCache {
  /// Takes in all changes so far; afterwards everything that they concern is marked.
  private func absorbChanges(_ tree: inout PlaceTree) {
    let now = CoarseClock.now
    unsafe clocks.pointee.absorbing.store(1, ordering: .sequentiallyConsistent)
    defer { unsafe clocks.pointee.absorbing.store(0, ordering: .sequentiallyConsistent) }
    let mountsCheckedAt = unsafe clocks.pointee.mountsCheckedAt.load(ordering: .relaxed)
    if now - mountsCheckedAt > Self.mountCheckInterval {
      if tree.changes.takeMountChange() { tree.apply([.everything]) }
      unsafe clocks.pointee.mountsCheckedAt.store(now, ordering: .releasing)
    }
    tree.apply(tree.changes.takeChanges())
    unsafe clocks.pointee.checkedAt.store(now, ordering: .releasing)
  }

  /// The item as found by way of the tree; `nil` when the system has to be asked.
  private func lookUp(
    _ url: URL, _ text: String, _ hash: UInt64, _ kind: IdentityKind, _ spelled: [UInt8], _ state: inout State
  ) -> ResolvedItem? {
    let followsLast = kind == .followedURL
    guard let (place, name) = way(spelled, followsLast) else { return nil }
    let now = CoarseClock.now
    if state.pausedUntil > now || state.refusals[place].map({ $0 > now }) == true { return nil }
    let found: Place
    do { found = try state.tree.place(at: place, absorb: absorbChanges) } catch {
      note(error, at: place, now, &state)
      return nil
    }
    guard let canonical = canonicalPath(found, name) else { return nil }
    let location = FileLocation(url, spelled: spelled, canonical: canonical, followsLastLink: followsLast)
    let item = ResolvedItem(
      url, at: location, followsLastLink: followsLast, packages: packages, validity: found.validity,
      key: Array(text.utf8))
    return remember(item, hash)
  }

  /// The directory that has to be resolved, and the name in it that is taken as it is; no name when all is resolved.
  private func way(_ spelled: [UInt8], _ followsLast: Bool) -> (SystemPath, ArraySlice<UInt8>?)? {
    guard let components = try? SystemPath(bytes: spelled).checkedComponents() else { return nil }
    guard let last = components.last, last != SystemPath.parentName[...], !followsLast else {
      return (SystemPath(joining: components), nil)
    }
    return (SystemPath(joining: components.dropLast()), last)
  }

  private func canonicalPath(_ place: Place, _ name: ArraySlice<UInt8>?) -> [UInt8]? {
    guard let name else { return place.canonical.bytes }
    // Nothing is inside of a file: the system says how it calls that.
    if place.kind == .other { return nil }
    let path = place.canonical.appending(SystemPath(bytes: name))
    return path.bytes.count > SystemPath.pathLengthMax ? nil : path.bytes
  }

  private func note(_ refusal: PlaceRefusal, at place: SystemPath, _ now: Int64, _ state: inout State) {
    switch refusal {
    case .irregular: break
    case .exhausted: state.pausedUntil = now + Self.retryInterval
    case .unwatchable:
      if state.refusals.count >= Self.refusalCountMax { state.refusals = [:] }
      state.refusals[place] = now + Self.retryInterval
    }
  }
}

// MARK: - Without the tree

extension IdentityCache {
  /// Resolves a URL by asking the system, and remembers nothing but that the item is in somebody's hands.
  private func resolvedInFull(
    _ url: URL, _ spelled: [UInt8], _ kind: IdentityKind
  ) throws(FileCoordinationError) -> ResolvedItem {
    let followsLast = kind == .followedURL
    var item = try resolvedOnce(url, spelled, followsLast)
    var attemptCount = 1
    while item.isStale, attemptCount < Self.attemptCountMax {
      item = try resolvedOnce(url, spelled, followsLast)
      attemptCount += 1
    }
    return item
  }

  private func resolvedOnce(
    _ url: URL, _ spelled: [UInt8], _ followsLast: Bool
  ) throws(FileCoordinationError) -> ResolvedItem {
    let moveCount = registry.moveCount
    let canonical = try FileCoordinationError.wrapping { () throws(SystemError) in
      try files.canonicalPath(of: SystemPath(bytes: spelled), resolvingLastComponent: followsLast)
    }
    // A name that isn't followed may change what it stands for.
    let place = followsLast ? canonical : canonical.parent
    let spelledPlace = followsLast ? SystemPath(bytes: spelled) : SystemPath(bytes: spelled).parent
    let validity = IdentityValidity(
      of: ItemPath(canonical: place.bytes),
      spelled: ItemPath(canonical: (try? spelledPlace.lexicallyCanonical())?.bytes ?? place.bytes), in: registry,
      since: moveCount)
    let location = FileLocation(url, spelled: spelled, canonical: canonical.bytes, followsLastLink: followsLast)
    return ResolvedItem(url, at: location, followsLastLink: followsLast, packages: packages, validity: validity)
  }

  /// Tells that the library moved an item: whoever holds or asks for something there finds out at once.
  ///
  /// Call it after the move and before the claims on both places end.
  ///
  /// - Parameters:
  ///   - old: Where the item was.
  ///   - new: Where it is now.
  /// - Complexity: O(places that are in somebody's hands).
  func noteMove(from old: ItemPath, to new: ItemPath) {
    registry.noteMove(from: old, to: new)
    // Also for links that were moved, and for what leads through them.
    state?.withLock { absorbChanges(&$0.tree) }
  }
}
