import SystemInterface
import WatchingTestSupport

@testable import FileAccessArbiter
@testable import FileCoordination

/// A presenter's knowledge of its item: it looks where a message says that something has happened, and nowhere else.
struct PresenterView: Hashable {
  /// A file or directory, and how often it was written.
  struct Sight: Hashable {
    let node: Int
    let size: Int64
  }

  /// Where the presenter takes its item to be.
  var path: ItemPath
  let observesInside: Bool
  private(set) var known: [ItemPath: Sight] = [:]
  /// Messages named these places, and the presenter couldn't see what was there.
  private(set) var uncertain: Set<ItemPath> = []

  /// - Parameters:
  ///   - path: The item.
  ///   - observesInside: Whether what is inside a directory counts.
  ///   - disk: Where it looks.
  init(_ path: ItemPath, observesInside: Bool, _ disk: ModelDisk) {
    self.path = path
    self.observesInside = observesInside
    known = reality(disk)
  }

  /// The knowledge that the presenter would have if it looked everywhere.
  func reality(_ disk: ModelDisk) -> [ItemPath: Sight] {
    var found: [ItemPath: Sight] = [:]
    func add(_ node: Int, _ path: ItemPath) {
      found[path] = sight(node, disk)
      if !observesInside { return }
      for (name, child) in disk.nodes[node]?.children ?? [:] { add(child, path.appendingName(name)) }
    }
    if let node = node(at: path, disk) { add(node, path) }
    return found
  }

  /// Looks where a message says.
  mutating func take(_ kind: Message.Kind, isEverythingUnknown: Bool, _ disk: ModelDisk) {
    switch kind {
    case .itemDidChange: lookEverywhere(disk)
    case .itemDidMove(let new):
      // It has lost sight of its item, and is told where it is.
      let isLost = known[path] == nil
      move(from: path, to: new, isOwn: true)
      path = new
      if isLost { lookEverywhere(disk) }
    case .subitemDidAppear(let place), .subitemDidChange(let place):
      if isEverythingUnknown { lookEverywhere(disk) } else { look(at: place, disk) }
    case .subitemDidMove(let old, let new):
      move(from: old, to: new, isOwn: false)
      // It isn't there if it has been moved on, of which there will be a message.
      if node(at: new, disk) != nil { look(at: new, disk) }
    default: preconditionFailure("a stranger's change is told by \(kind)")
    }
  }

  /// These may be gone without a message.
  mutating func doubt(_ places: [ItemPath]) { uncertain.formUnion(places.filter(path.isSameOrContains)) }

  private mutating func lookEverywhere(_ disk: ModelDisk) {
    known = reality(disk)
    uncertain = []
  }

  private mutating func look(at place: ItemPath, _ disk: ModelDisk) {
    guard path.isSameOrContains(place) else { return }
    let isAway = place.ancestors.contains { around in
      known[around].map { $0.node != node(at: around, disk) } ?? false
    }
    // Of a directory on the way it hasn't heard yet that it was moved. It can't see what the message is about.
    if isAway {
      uncertain.insert(place)
      return
    }
    let found = node(at: place, disk).map { sight($0, disk) }
    if let former = known[place], former.node != found?.node {
      known = known.filter { !place.isSameOrContains($0.key) }
    }
    known[place] = found
    uncertain.remove(place)
  }

  private mutating func move(from old: ItemPath, to new: ItemPath, isOwn: Bool) {
    let isKnown = known[old] != nil
    func target(_ place: ItemPath) -> ItemPath? {
      // An item that it doesn't know may be the one that it knows at the new place already.
      if !old.isSameOrContains(place) { return isKnown && new.isSameOrContains(place) ? nil : place }
      let target = place.movedAlong(from: old, to: new)
      // Items that have left the observed directory are of no interest.
      return isOwn || path.isSameOrContains(target) ? target : nil
    }
    known = known.reduce(into: [:]) { result, entry in
      if let place = target(entry.key) { result[place] = entry.value }
    }
    uncertain = Set(uncertain.compactMap(target))
  }

  /// Whether the presenter has been told of everything that is different from what it knows.
  func isUpToDate(_ disk: ModelDisk) -> Bool {
    let reality = reality(disk)
    return Set(reality.keys).union(known.keys).allSatisfy { place in
      reality[place] == known[place] || uncertain.contains { $0.isSameOrContains(place) }
    }
  }

  private func node(at place: ItemPath, _ disk: ModelDisk) -> Int? {
    try? disk.node(at: SystemPath(bytes: place.bytes), from: ModelDisk.root, followsLinks: false).get()
  }

  private func sight(_ node: Int, _ disk: ModelDisk) -> Sight {
    Sight(node: node, size: disk.nodes[node]?.size ?? 0)
  }
}

extension ItemPath {
  fileprivate func appendingName(_ name: String) -> ItemPath { ItemPath("\(self)/\(name)") }
}
