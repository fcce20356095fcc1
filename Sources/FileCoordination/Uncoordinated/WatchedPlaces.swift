internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

/// Which watch stands for which place.
struct WatchedPlaces: Hashable, Sendable {
  /// A watched item at one of its paths; a file with several names may have several.
  struct Place: Hashable, Sendable {
    var path: ItemPath
    /// Inside of a directory whose presenter observes everything inside: then the names in it are recorded.
    var isDeep = false
    /// The item was seen to leave, and its presenters haven't followed it; ends when they do, or when an item is watched at
    /// this path anew.
    var isLeft = false
    /// The names in the directory, by hash: eight bytes for each name.
    var names: Set<Int> = []
  }

  private var places: [WatchID: [Place]] = [:]
  private var watches = PathTree<WatchID>()

  #if DEBUG
    var visits: VisitCounter { watches.visits }
  #endif

  /// How many paths are watched.
  var count: Int { watches.count }

  var allWatches: [WatchID] { places.keys.sorted { $0.rawValue < $1.rawValue } }

  subscript(watch: WatchID) -> [Place] { places[watch] ?? [] }

  func watch(at path: ItemPath) -> WatchID? { watches[path] }

  func place(at path: ItemPath) -> Place? {
    watches[path].flatMap { places[$0]?.first { $0.path == path } }
  }

  /// Notes that a path leads to a watched item.
  ///
  /// - Returns: A watch that stood for this path before and for no other, and is to be ended.
  mutating func note(_ watch: WatchID, at path: ItemPath) -> WatchID? {
    if watches[path] == watch {
      change(at: path) { $0.isLeft = false }
      return nil
    }
    let former = remove(path)
    watches[path] = watch
    places[watch, default: []].append(Place(path: path))
    return former
  }

  /// - Returns: The watch, if it stands for no place any more.
  mutating func remove(_ path: ItemPath) -> WatchID? {
    guard let watch = watches[path] else { return nil }
    watches[path] = nil
    places[watch]?.removeAll { $0.path == path }
    if places[watch]?.isEmpty != true { return nil }
    places[watch] = nil
    return watch
  }

  /// The watch has ended.
  ///
  /// - Returns: The places it stood for.
  mutating func end(_ watch: WatchID) -> [Place] {
    let ended = places.removeValue(forKey: watch) ?? []
    for place in ended where watches[place.path] == watch { watches[place.path] = nil }
    return ended
  }

  mutating func change(at path: ItemPath, _ body: (inout Place) -> Void) {
    guard let watch = watches[path], let index = places[watch]?.firstIndex(where: { $0.path == path }) else { return }
    if var place = places[watch]?[index] {
      body(&place)
      places[watch]?[index] = place
    }
  }

  /// The watched paths at a place and inside, in order.
  ///
  /// - Complexity: O(*k* log *k*) for *k* paths.
  func pathsInside(_ path: ItemPath) -> [ItemPath] { watches.inside(path).map(\.path).sorted() }

  /// Forgets those places of a moved item under which nothing is watched that isn't watched under the new path as well.
  mutating func dropAliases(from old: ItemPath, to new: ItemPath) {
    for path in pathsInside(old) where watches[path] == watches[path.movedAlong(from: old, to: new)] {
      _ = remove(path)
    }
  }

  /// A directory stands elsewhere now, and until all presenters inside have followed it, it counts as being in both places.
  ///
  /// - Returns: The former watches there, which have to be ended.
  mutating func copyDirectories(from old: ItemPath, to new: ItemPath) -> [WatchID] {
    var ended: [WatchID] = []
    for path in pathsInside(old) {
      guard let watch = watches[path], var place = place(at: path), place.isDeep, !place.isLeft else {
        continue
      }
      place.path = path.movedAlong(from: old, to: new)
      place.isLeft = false
      if let former = remove(place.path) { ended.append(former) }
      watches[place.path] = watch
      places[watch, default: []].append(place)
    }
    return ended
  }

  /// An item has left, and its watches stay here until its presenters follow it.
  mutating func markLeft(_ path: ItemPath) {
    for place in pathsInside(path) { change(at: place) { $0.isLeft = true } }
  }

  /// An item stands elsewhere now, and its watches with it.
  ///
  /// - Returns: The former watches there, which have to be ended.
  mutating func move(from old: ItemPath, to new: ItemPath) -> [WatchID] {
    dropAliases(from: old, to: new)
    return pathsInside(old).compactMap { relabel($0, as: $0.movedAlong(from: old, to: new)) }
  }

  /// The presenters of an item that was seen to leave follow it, and its watches with them.
  ///
  /// An item that was put in its place meanwhile, and is watched there, keeps its watch.
  ///
  /// - Returns: The former watches at the new place, which have to be ended.
  mutating func follow(from old: ItemPath, to new: ItemPath) -> [WatchID] {
    let left = pathsInside(old).filter { place(at: $0)?.isLeft == true }
    return left.compactMap { path in
      let newPath = path.movedAlong(from: old, to: new)
      return watches[path] == watches[newPath] ? remove(path) : relabel(path, as: newPath)
    }
  }

  private mutating func relabel(_ path: ItemPath, as newPath: ItemPath) -> WatchID? {
    guard let watch = watches[path] else { return nil }
    watches[path] = nil
    let former = remove(newPath)
    watches[newPath] = watch
    for index in places[watch, default: []].indices where places[watch]?[index].path == path {
      places[watch]?[index].path = newPath
      places[watch]?[index].isLeft = false
    }
    return former
  }
}

extension WatchedPlaces.Place {
  private static func hash(_ name: SystemPath) -> Int { name.hashValue }

  /// The names in the directory aren't recorded any more.
  mutating func noteUnobserved() {
    isDeep = false
    names = []
  }

  func has(_ name: SystemPath) -> Bool { names.contains(Self.hash(name)) }

  /// - Returns: Whether it's new.
  mutating func insert(_ name: SystemPath) -> Bool { names.insert(Self.hash(name)).inserted }

  /// - Returns: Whether it was there.
  mutating func remove(_ name: SystemPath) -> Bool { names.remove(Self.hash(name)) != nil }
}

extension ItemPath {
  func appending(_ name: SystemPath) -> ItemPath {
    ItemPath(canonical: (isRoot ? [] : bytes) + [UInt8(ascii: "/")] + name.bytes)
  }

  var lastComponent: SystemPath { SystemPath(bytes: bytes).lastComponent }

  var systemPath: SystemPath { SystemPath(bytes: bytes) }

  /// The directories around the item, the root first, and the item.
  var withAncestors: [ItemPath] { ancestors + [self] }

  /// The directories around the item, the root first.
  var ancestors: [ItemPath] {
    var result: [ItemPath] = []
    var current = parent
    while let directory = current {
      result.append(directory)
      current = directory.parent
    }
    return result.reversed()
  }
}
