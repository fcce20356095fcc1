internal import FileAccessArbiter
internal import FoundationEssentials
internal import Synchronization
internal import SystemInterface

// The slow path, when the thread's table lacks the answer.

extension ResolutionCache {
  /// How many directories that can't be watched are remembered.
  private static let refusalCountMax = 256
  /// How often a full resolution is repeated because the library moved something meanwhile.
  private static let attemptCountMax = 3

  @inline(never)
  func missed(_ url: URL, _ text: String, _ kind: ResolutionKind) throws(FileCoordinationError) -> ResolvedItem {
    guard let state else { return try resolvedInFull(url, FileURLCoding.path(of: url), kind) }
    let remembered = remembered(text, kind)
    // A relative URL has the same text as the absolute one, and is refused.
    if let remembered, url.baseURL == nil, unsafe isCurrent(remembered.validityWord) {
      return rememberInThread(remembered, text, kind)
    }
    let spelled = try FileURLCoding.path(of: url)
    let found = state.withLockIfFree { state -> ResolvedItem? in
      state.tree.absorbChanges()
      if let remembered, remembered.validity.isKept { return rememberInThread(remembered, text, kind) }
      return lookUp(url, text, kind, spelled, &state)
    }
    if let item = found ?? nil { return item }
    return try resolvedInFull(url, spelled, kind)
  }

  @inline(never)
  func missedLexical(_ path: String) throws(FileCoordinationError) -> ResolvedItem {
    if let item = remembered(path, .lexicalPath) { return rememberInThread(item, path, .lexicalPath) }
    let item = try ResolvedItem(lexicalPath: path, packages: packages, key: Array(path.utf8))
    return remember(item, path, .lexicalPath)
  }

  private func remembered(_ text: String, _ kind: ResolutionKind) -> ResolvedItem? {
    unsafe withKey(of: text, kind) { hash, key in table.withLock { unsafe $0.item(hash, key) } }
  }

  private func remember(_ item: ResolvedItem, _ text: String, _ kind: ResolutionKind) -> ResolvedItem {
    let hash = unsafe withKey(of: text, kind) { hash, _ in hash }
    // The item that has to go is released here, outside of the lock.
    _ = table.withLock { $0.insert(item, hash) }
    ThreadResolutionTable.remember(item, hash, cache: number)
    return item
  }

  private func rememberInThread(_ item: ResolvedItem, _ text: String, _ kind: ResolutionKind) -> ResolvedItem {
    ThreadResolutionTable.remember(item, unsafe withKey(of: text, kind) { hash, _ in hash }, cache: number)
    return item
  }
}

// MARK: - Under the lock of the tree

extension ResolutionCache {
  /// The item as found by way of the tree; `nil` when the system has to be asked.
  private func lookUp(
    _ url: URL, _ text: String, _ kind: ResolutionKind, _ spelled: [UInt8], _ state: inout State
  ) -> ResolvedItem? {
    let followsLast = kind == .followedURL
    guard let (place, name) = way(spelled, followsLast) else { return nil }
    let now = CoarseClock.now
    if state.pausedUntil > now || state.refusals[place].map({ $0 > now }) == true { return nil }
    let found: (place: Place, record: ResolutionValidity)
    do { found = try state.tree.place(at: place) } catch {
      note(error, at: place, now, &state)
      return nil
    }
    guard let canonical = canonicalPath(found.place, name) else { return nil }
    let location = FileLocation(url, spelled: spelled, canonical: canonical, followsLastLink: followsLast)
    let item = ResolvedItem(
      url, at: location, followsLastLink: followsLast, packages: packages, validity: found.record,
      key: Array(text.utf8))
    return remember(item, text, kind)
  }

  /// The directory that has to be resolved, and the name in it that is taken as it is; no name when all is resolved.
  private func way(_ spelled: [UInt8], _ followsLast: Bool) -> (SystemPath, ArraySlice<UInt8>?)? {
    let path = SystemPath(bytes: spelled)
    if path.isLexicallyCanonical {
      guard !followsLast, let slash = spelled.lastIndex(of: FileURLCoding.slash), spelled.count > 1 else {
        return (path, nil)
      }
      return (slash == 0 ? .root : SystemPath(bytes: spelled[..<slash]), spelled[(slash + 1)...])
    }
    guard let components = try? path.checkedComponents() else { return nil }
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
    case .exhausted: state.pausedUntil = now + retryInterval
    case .unwatchable:
      if state.refusals.count >= Self.refusalCountMax { state.refusals = [:] }
      state.refusals[place] = now + retryInterval
    }
  }
}

// MARK: - Without the tree

extension ResolutionCache {
  /// Resolves a URL by asking the system, and records only that the item is in use.
  private func resolvedInFull(
    _ url: URL, _ spelled: [UInt8], _ kind: ResolutionKind
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
    // A name that isn't followed may come to stand for another file.
    let place = followsLast ? canonical : canonical.parent
    let spelledPlace = followsLast ? SystemPath(bytes: spelled) : SystemPath(bytes: spelled).parent
    let validity = ResolutionValidity(
      of: ItemPath(canonical: place.bytes),
      spelled: ItemPath(canonical: (try? spelledPlace.lexicallyCanonical())?.bytes ?? place.bytes), in: registry,
      since: moveCount)
    let location = FileLocation(url, spelled: spelled, canonical: canonical.bytes, followsLastLink: followsLast)
    return ResolvedItem(url, at: location, followsLastLink: followsLast, packages: packages, validity: validity)
  }

  /// Records that the library moved an item: holders of items there, and later requests for them, notice at once.
  ///
  /// Call it after the move and before the claims on both places end.
  ///
  /// - Parameters:
  ///   - old: Where the item was.
  ///   - new: Where it is now.
  /// - Complexity: O(places that are in use).
  func noteMove(from old: ItemPath, to new: ItemPath) {
    registry.noteMove(from: old, to: new)
    // Also for links that were moved, and for paths that lead through them.
    state?.withLock { $0.tree.absorbChanges() }
  }
}

extension ResolutionCache {
  /// How much is kept, for tests of the bounds.
  struct Counts: Equatable, Sendable {
    var items = 0
    var places = 0
    var watches = 0
  }

  var counts: Counts {
    let (places, watches) = state?.withLock { ($0.tree.placeCount, $0.tree.watchCount) } ?? (0, 0)
    return Counts(items: table.withLock { $0.count }, places: places, watches: watches)
  }
}
