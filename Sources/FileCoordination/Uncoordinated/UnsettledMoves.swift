internal import FileAccessArbiter

/// A move that no coordinated write accounts for, until it's known whether something takes the place of the item.
struct UnsettledMove: Hashable, Sendable {
  var target: ItemPath
  let replaced: Bool
  /// How often time has to pass.
  var waitCount = 1
  /// Something did, and that was reported.
  var isRefuted = false
  /// Observers don't know the item at its former place: it's reported as new where it is.
  var isArrival = false

  /// The report about the target if this wasn't a move.
  var arrival: ItemChange { replaced ? .changed(target) : .appeared(target) }
}

/// The moves that aren't settled, by the places that were left.
struct UnsettledMoves: Hashable, Sendable {
  private var moves = PathTree<UnsettledMove>()
  private var origins: [ItemPath: Set<ItemPath>] = [:]

  var count: Int { moves.count }
  var isEmpty: Bool { moves.isEmpty }

  subscript(old: ItemPath) -> UnsettledMove? {
    get { moves[old] }
    set {
      if let target = moves[old]?.target {
        origins[target]?.remove(old)
        if origins[target]?.isEmpty == true { origins[target] = nil }
      }
      moves[old] = newValue
      if let target = newValue?.target { origins[target, default: []].insert(old) }
    }
  }

  /// The places inside a directory that were left.
  func origins(inside directory: ItemPath) -> [ItemPath] {
    moves.inside(directory).map(\.path).filter { $0 != directory }.sorted()
  }

  /// Whether something was moved to a place.
  func isTarget(_ place: ItemPath) -> Bool { origins[place] != nil }

  /// Whether something is to be reported as moved from a place or to it, or a directory around it.
  func concernAround(_ place: ItemPath) -> Bool {
    func isReported(_ old: ItemPath) -> Bool { moves[old]?.isArrival == false }
    return !isEmpty
      && place.withAncestors.contains { isReported($0) || origins[$0]?.contains(where: isReported) == true }
  }

  /// From where something was moved to a place.
  func origin(of target: ItemPath) -> ItemPath? { origins[target]?.min() }
}
