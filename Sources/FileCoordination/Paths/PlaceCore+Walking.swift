internal import FileWatching
internal import SystemInterface

/// A path that is being followed name by name.
struct PlaceWalk: Hashable, Sendable {
  let attempt: PlaceCore.Attempt
  /// The file that the names so far lead to.
  var current: NameNode.ID
  /// The names on the way, each once.
  var nodes: [NameNode.ID] = []
  /// The rest of the path behind a name that's missing.
  var missing: [UInt8] = []
  /// The names that are still to be followed, the next one at the end.
  var rest: [ArraySlice<UInt8>] = []
  /// The name in `current` that is being looked up.
  var name: ArraySlice<UInt8> = []
  var stepCount = 0
  var linkCount = 0

  init(_ attempt: PlaceCore.Attempt, from root: NameNode.ID) {
    self.attempt = attempt
    current = root
  }
}

// MARK: - From the first name to the last

extension PlaceCore {
  mutating func begin(_ spelled: SystemPath, attempt number: Int) {
    lastPlace += 1
    walk = PlaceWalk(
      Attempt(id: PlaceID(rawValue: lastPlace), spelled: spelled, number: number), from: names.root)
    makeRoomForPlace()
  }

  mutating func makeRoomForPlace() {
    if places.count >= limits.placeCountMax { return evictOne(for: .place) }
    agenda.append(.noteMoves)
    goOn { core, walk throws(PlaceRefusal) in
      walk.rest = try Self.components(of: walk.attempt.spelled)
      try core.follow(&walk)
    }
  }

  /// Goes on with the path; if it has no place, it's refused.
  private mutating func goOn(_ body: (inout PlaceCore, inout PlaceWalk) throws(PlaceRefusal) -> Void) {
    // Taken out, so that its arrays aren't copied.
    guard var walk = walk.take() else { preconditionFailure("no path is being followed") }
    do {
      try body(&self, &walk)
      if question == nil { preconditionFailure("\(walk) goes nowhere") }
    } catch {
      withdraw(walk.attempt.id, from: walk.nodes)
      conclude(.failure(error))
    }
  }

  /// Follows a path, noting each name, until one has to be looked up.
  private mutating func follow(_ walk: inout PlaceWalk) throws(PlaceRefusal) {
    while let name = walk.rest.popLast() {
      let isParent = name == SystemPath.parentName[...]
      if case .missing = names[walk.current].kind {
        // The meaning of `..` in a directory that isn't there is left to the system.
        if isParent { throw .irregular }
        walk.missing += SystemPath.root.bytes + name
        continue
      }
      guard case .directory = names[walk.current].kind, walk.stepCount < Self.stepCountMax else { throw .irregular }
      if isParent {
        walk.current = names[walk.current].parent ?? names.root
      } else if let child = names.child(of: walk.current, named: name) {
        try enter(child, &walk)
      } else {
        walk.name = name
        return try watchCurrent(&walk)
      }
    }
    try arrive(&walk)
  }

  private mutating func enter(_ node: NameNode.ID, _ walk: inout PlaceWalk) throws(PlaceRefusal) {
    walk.stepCount += 1
    if names[node].dependents.insert(walk.attempt.id).inserted { walk.nodes.append(node) }
    guard case .link(let target) = names[node].kind else {
      walk.current = node
      return
    }
    walk.linkCount += 1
    if walk.linkCount > Self.linkCountMax { throw .irregular }
    if target.isAbsolute { walk.current = names.root }
    walk.rest += try Self.components(of: target)
  }

  private mutating func arrive(_ walk: inout PlaceWalk) throws(PlaceRefusal) {
    let path = names[walk.current].path + walk.missing
    if path.count > SystemPath.pathLengthMax { throw .irregular }
    let canonical = path.isEmpty ? SystemPath.root : SystemPath(bytes: path)
    switch names[walk.current].kind {
    case .missing: register(walk, canonical, .missing)
    case .other: register(walk, canonical, .other)
    case .link: preconditionFailure("\(canonical) is a link that wasn't followed")
    case .directory:
      // The system would refuse to look up anything in a directory that may not be searched.
      order(.checkSearchable(canonical), .searchable(canonical: canonical))
      self.walk = walk
    }
  }

  mutating func takeSearchable(_ isSearchable: Bool, _ canonical: SystemPath) {
    goOn { core, walk throws(PlaceRefusal) in
      if !isSearchable { throw .irregular }
      core.register(walk, canonical, .directory)
    }
  }

  /// Registers a place with every name on its way; then the changes are taken in that came meanwhile.
  private mutating func register(_ walk: PlaceWalk, _ canonical: SystemPath, _ kind: Place.Kind) {
    let (id, spelled) = (walk.attempt.id, walk.attempt.spelled)
    places[id] = Place(id: id, spelled: spelled, canonical: canonical, kind: kind, nodes: walk.nodes)
    placeIDs[spelled] = id
    // The stale ones leave their numbers behind.
    if ring.count >= 2 * limits.placeCountMax { ring.removeAll { places[$0] == nil } }
    ring.append(id)
    agenda.append(.register(id, canonical: canonical, spelled: spelled))
    order(.takeChanges, .changes(walk.attempt))
  }

  /// The names of a path other than `.`, the first at the end.
  private static func components(of path: SystemPath) throws(PlaceRefusal) -> [ArraySlice<UInt8>] {
    let components = path.bytes.split(separator: SystemPath.root.bytes[0]).filter { $0 != [UInt8(ascii: ".")] }
    if components.contains(where: { $0.count > SystemPath.nameLengthMax }) { throw .irregular }
    return components.reversed()
  }
}

// MARK: - A name that isn't known

extension PlaceCore {
  /// Watches the directory that the walk has reached, and then looks up the next name in it.
  private mutating func watchCurrent(_ walk: inout PlaceWalk) throws(PlaceRefusal) {
    if names[walk.current].watch != nil {
      look(walk)
    } else if watched.count < limits.watchCountMax {
      order(.watch(names[walk.current].directoryPath), .watch)
    } else if places.isEmpty {
      throw .exhausted
    } else {
      self.walk = walk
      return evictOne(for: .watch)
    }
    self.walk = walk
  }

  mutating func makeRoomForWatch() {
    goOn { core, walk throws(PlaceRefusal) in try core.watchCurrent(&walk) }
  }

  private mutating func look(_ walk: PlaceWalk) {
    order(.look(SystemPath(bytes: names[walk.current].path + SystemPath.root.bytes + walk.name)), .look)
  }

  mutating func takeWatch(_ result: Result<NameWatch, SystemError>) {
    goOn { core, walk throws(PlaceRefusal) in
      switch result {
      case .success(let watch):
        core.names[walk.current].watch = watch
        core.watched[watch, default: []].append(walk.current)
        core.look(walk)
        core.walk = walk
      case .failure(let error): throw Self.refusal(for: error)
      }
    }
  }

  mutating func takeLook(_ kind: NameNode.Kind?) {
    goOn { core, walk throws(PlaceRefusal) in
      guard let kind else {
        core.unwatchIfIdle(walk.current)
        throw .irregular
      }
      try core.enter(core.names.add(walk.name, to: walk.current, kind), &walk)
      try core.follow(&walk)
    }
  }

  private static func refusal(for error: SystemError) -> PlaceRefusal {
    switch error.number {
    case .notSupported, .permissionDenied, .notPermitted: .unwatchable
    case .noSpace, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .noFunction: .exhausted
    default: .irregular
    }
  }
}
