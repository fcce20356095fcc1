internal import FileAccessArbiter
internal import SystemInterface

/// The names on the way to places, each directory watched for changes of the names that matter.
///
/// Three rules make the answer right. A directory is watched *before* a name in it is looked up. A place is registered with
/// every name on its way *before* the changes are taken in that came meanwhile. A change makes every place stale whose way
/// leads through the name. So a place that isn't stale is where the system would lead to now, or was when the queue of changes
/// was last found empty.
///
/// Not shared: an ``ResolutionCache`` guards it. Everything is bounded: places, watches, steps and attempts.
struct PlaceTree {
  /// How many places are kept; the one not asked for the longest is forgotten for the next.
  static let placeCountMax = 1024
  /// How many directories are watched.
  static let watchCountMax = 2048
  /// How many names are looked up for one place, those of links included.
  static let stepCountMax = 256
  /// How often a place is looked up again because something changed meanwhile.
  static let attemptCountMax = 3

  private let files: any FileSystem
  let changes: any NameChangeQueue
  private let registry: ValidityRegistry
  private let limits: ResolutionCache.Limits
  private let root = NameNode(root: ())
  private var nodesByWatch: [NameWatch: [NameNode]] = [:]
  private var places: [PlaceID: Place] = [:]
  private var placeIDs: [SystemPath: PlaceID] = [:]
  private var ring: [PlaceID] = []
  private var hand = 0
  private var lastPlace: UInt64 = 0

  init(
    _ files: any FileSystem, _ changes: any NameChangeQueue, _ registry: ValidityRegistry,
    _ limits: ResolutionCache.Limits
  ) {
    self.files = files
    self.changes = changes
    self.registry = registry
    self.limits = limits
  }

  var placeCount: Int { places.count }
  var watchCount: Int { nodesByWatch.count }

  /// The place that a spelled path leads to, if that's recorded and still holds.
  func knownPlace(at spelled: SystemPath) -> Place? {
    placeIDs[spelled].flatMap { places[$0] }.flatMap { $0.validity.isKept ? $0 : nil }
  }
}

// MARK: - Looking up

extension PlaceTree {
  /// The place that a spelled path leads to, from the records or by looking names up.
  ///
  /// - Parameters:
  ///   - spelled: An absolute path without `.` and spare slashes.
  ///   - absorb: Takes in all changes, see ``apply(_:)``.
  /// - Returns: A place that wasn't stale after the changes were taken in.
  /// - Throws: ``PlaceRefusal`` when the system has to be asked instead.
  mutating func place(
    at spelled: SystemPath, absorb: (inout PlaceTree) -> Void
  ) throws(PlaceRefusal) -> Place {
    if let known = knownPlace(at: spelled) {
      known.validity.set(ResolutionValidity.used)
      return known
    }
    if let outdated = placeIDs[spelled] { forget(outdated, ResolutionValidity.stale) }
    for _ in 0..<Self.attemptCountMax {
      let place = try lookUp(spelled)
      absorb(&self)
      if place.validity.isKept { return place }
      if places[place.id] != nil { forget(place.id, ResolutionValidity.stale) }
    }
    throw .irregular
  }

  private mutating func lookUp(_ spelled: SystemPath) throws(PlaceRefusal) -> Place {
    while places.count >= limits.placeCountMax { evictOne() }
    lastPlace += 1
    let id = PlaceID(rawValue: lastPlace)
    var nodes: [NameNode] = []
    do {
      let moveCount = registry.moveCount
      let (canonical, kind) = try walk(spelled, id, &nodes)
      let validity = ResolutionValidity(
        of: ItemPath(canonical: canonical.bytes), spelled: ItemPath(canonical: spelled.bytes), in: registry,
        since: moveCount)
      let place = Place(
        id: id, spelled: spelled, canonical: canonical, kind: kind, validity: validity, nodes: nodes)
      places[id] = place
      placeIDs[spelled] = id
      // The stale ones leave their numbers behind.
      if ring.count >= 2 * limits.placeCountMax { ring.removeAll { places[$0] == nil } }
      ring.append(id)
      return place
    } catch {
      withdraw(id, from: nodes)
      throw error
    }
  }

  /// Follows a path name by name, noting each.
  private mutating func walk(
    _ spelled: SystemPath, _ id: PlaceID, _ nodes: inout [NameNode]
  ) throws(PlaceRefusal) -> (SystemPath, Place.Kind) {
    var current = root
    var missing: [UInt8] = []
    var pending = try components(of: spelled)
    var expansionCount = 0
    while let name = pending.popLast() {
      let isParent = name == SystemPath.parentName[...]
      if case .missing = current.kind {
        // The meaning of `..` in a directory that isn't there is left to the system.
        if isParent { throw .irregular }
        missing += SystemPath.root.bytes + name
        continue
      }
      guard case .directory = current.kind, nodes.count < Self.stepCountMax else { throw .irregular }
      if isParent {
        current = current.parent ?? root
        continue
      }
      let next = try child(of: current, named: name)
      next.dependents.insert(id)
      nodes.append(next)
      guard case .link(let target) = next.kind else {
        current = next
        continue
      }
      expansionCount += 1
      if expansionCount > 40 { throw .irregular }
      if target.isAbsolute { current = root }
      pending += try components(of: target)
    }
    return try destination(current, missing)
  }

  private func destination(
    _ node: NameNode, _ missing: [UInt8]
  ) throws(PlaceRefusal) -> (SystemPath, Place.Kind) {
    let path = node.path + missing
    if path.count > SystemPath.pathLengthMax { throw .irregular }
    let canonical = path.isEmpty ? SystemPath.root : SystemPath(bytes: path)
    switch node.kind {
    case .missing: return (canonical, .missing)
    case .other: return (canonical, .other)
    case .link: preconditionFailure("\(canonical) is a link that wasn't followed")
    case .directory:
      // The system would refuse to look up anything in a directory that may not be searched.
      do { _ = try files.status(of: canonical.appending("."), at: .workingDirectory, links: .noFollow) } catch {
        throw .irregular
      }
      return (canonical, .directory)
    }
  }

  /// The names of a path other than `.`, the first at the end.
  private func components(of path: SystemPath) throws(PlaceRefusal) -> [ArraySlice<UInt8>] {
    let components = path.bytes.split(separator: SystemPath.root.bytes[0]).filter { $0 != [UInt8(ascii: ".")] }
    if components.contains(where: { $0.count > SystemPath.nameLengthMax }) { throw .irregular }
    return components.reversed()
  }

  private mutating func child(
    of parent: NameNode, named name: ArraySlice<UInt8>
  ) throws(PlaceRefusal) -> NameNode {
    if let known = parent.child(named: name) { return known }
    try watch(parent)
    let path = SystemPath(bytes: parent.path + SystemPath.root.bytes + name)
    do {
      let child = NameNode(Array(name), in: parent, try kind(of: path))
      parent.add(child)
      return child
    } catch {
      unwatchIfIdle(parent)
      throw error
    }
  }

  private func kind(of path: SystemPath) throws(PlaceRefusal) -> NameNode.Kind {
    do {
      switch try files.status(of: path, at: .workingDirectory, links: .noFollow).kind {
      case .directory: return .directory
      case .symbolicLink: return .link(try files.readLink(path, at: .workingDirectory))
      default: return .other
      }
    } catch {
      if error.number == .noSuchFileOrDirectory { return .missing }
      throw .irregular
    }
  }
}

// MARK: - Watching

extension PlaceTree {
  private mutating func watch(_ node: NameNode) throws(PlaceRefusal) {
    if node.watch != nil { return }
    while nodesByWatch.count >= limits.watchCountMax {
      if places.isEmpty { throw .exhausted }
      evictOne()
    }
    do {
      let watch = try changes.watch(node.isRoot ? .root : SystemPath(bytes: node.path))
      node.watch = watch
      nodesByWatch[watch, default: []].append(node)
    } catch {
      switch error.number {
      case .notSupported, .permissionDenied, .notPermitted: throw .unwatchable
      case .noSpace, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .noFunction: throw .exhausted
      default: throw .irregular
      }
    }
  }

  private mutating func unwatchIfIdle(_ node: NameNode) {
    guard node.childCount == 0, let watch = node.watch else { return }
    node.watch = nil
    nodesByWatch[watch]?.removeAll { $0 === node }
    if nodesByWatch[watch]?.isEmpty == true {
      nodesByWatch[watch] = nil
      changes.unwatch(watch)
    }
  }

  /// Takes in changes: a place is stale if its way leads through a name that changed.
  mutating func apply(_ changes: [NameChange]) {
    for change in changes {
      switch change {
      case .name(let watch, let name):
        for node in nodesByWatch[watch] ?? [] { invalidate(node.children(concernedBy: name)) }
      case .directory(let watch):
        for node in nodesByWatch[watch] ?? [] { invalidate(node.allChildren) }
      case .ended(let watch):
        for node in nodesByWatch.removeValue(forKey: watch) ?? [] {
          node.watch = nil
          invalidate(node.allChildren)
        }
      case .everything: invalidate(root.allChildren)
      }
    }
  }

  private mutating func invalidate(_ nodes: [NameNode]) {
    for node in nodes { for place in node.dependents { forget(place, ResolutionValidity.stale) } }
  }
}

// MARK: - Forgetting

extension PlaceTree {
  private mutating func forget(_ id: PlaceID, _ reason: UInt32) {
    guard let place = places.removeValue(forKey: id) else { return }
    placeIDs[place.spelled] = nil
    place.validity.set(reason)
    withdraw(id, from: place.nodes)
  }

  private mutating func withdraw(_ id: PlaceID, from nodes: [NameNode]) {
    for node in nodes.reversed() {
      node.dependents.remove(id)
      prune(node)
    }
  }

  /// Removes an unneeded node, and those above that only it needed.
  private mutating func prune(_ node: NameNode) {
    var node = node
    while node.dependents.isEmpty, node.childCount == 0, let parent = node.parent {
      if parent.child(named: node.name[...]) !== node { return }
      parent.remove(node)
      unwatchIfIdle(parent)
      node = parent
    }
  }

  /// Forgets a place that wasn't asked for since the hand of the clock last came by.
  private mutating func evictOne() {
    while !ring.isEmpty {
      if hand >= ring.count { hand = 0 }
      let id = ring[hand]
      if let place = places[id], place.validity.takeUsed() {
        hand += 1
        continue
      }
      ring.swapAt(hand, ring.count - 1)
      ring.removeLast()
      if places[id] != nil { return forget(id, ResolutionValidity.unwatched) }
    }
  }
}
