internal import CompactContainers

// Moves: the parties that present, hold or wait for an item follow it (C-090…C-100).

extension FileAccessArbiter {
  /// Whether `access` may announce a move between these places: it holds a write that covers one of them (C-102).
  ///
  /// Nothing moves the root, or becomes it, and aliases aren't where files are.
  package func mayAnnounceMove(_ id: AccessID, from old: ItemPath, to new: ItemPath) -> Bool {
    if old.isRoot || new.isRoot || old.isAlias || new.isAlias { return false }
    guard let access = accesses.find(id), access.phase == .granted else { return false }
    return access.items.contains { item in
      guard item.access.isWrite, item.claim != ItemTree.none else { return false }
      let path = tree.path(of: tree.claims[item.claim].node)
      return covers(item.claim, path, old) || covers(item.claim, path, new)
    }
  }

  private func covers(_ claim: ItemTree.ClaimIndex, _ held: ItemPath, _ path: ItemPath) -> Bool {
    if held == path { return true }
    let locked = tree.path(of: tree.lockNode(of: tree.claims[claim].node))
    let isUnit = tree.claims[claim].mode == .deepWrite || locked != held || tree.isPackagePath(locked)
    return isUnit && locked.isSameOrContains(path)
  }

  /// The holder of a granted write announces that it has moved an item.
  ///
  /// `replaced` says that something was at the new place.
  ///
  /// Presenters are notified first, by their places before the move. Then presenters, claims and waiting requests of
  /// the item and of everything inside it get their new places; only waiting replacers keep theirs (C-079).
  package mutating func itemMoved(
    by id: AccessID, from old: ItemPath, to new: ItemPath, replaced: Bool, at time: Timestamp
  ) -> [Effect] {
    precondition(mayAnnounceMove(id, from: old, to: new), "\(id) announces a move that it doesn't cover")
    begin(at: time)
    if old != new {
      tellMove(by: id, from: old, to: new, replaced: replaced)
      let movedPresenters = presentersInside(old)
      let movedClaims = claimsInside(old)
      for (presenter, node) in movedPresenters { movePresenter(presenter, from: node, old, new) }
      let affected = moveClaims(movedClaims, by: id, old, new)
      noteDestination(new, of: id)
      for (presenter, _) in movedPresenters {
        presenters[presenter].node.map { askNewcomer(presenter, at: tree.path(of: $0)) }
      }
      for id in inOrder(affected) { askNewcomers(of: id) }
      verifyAgain(at: affected)
    }
    return finish()
  }

  /// The number of bytes that the longest path after a move will have.
  ///
  /// - Complexity: O(items inside that are claimed or presented), and no more than O(length of the path) for a move to a path
  ///   that isn't longer.
  package func longestPathByteCount(afterMovingFrom old: ItemPath, to new: ItemPath) -> Int {
    let growth = new.bytes.count - old.bytes.count
    guard growth > 0, let top = tree.node(at: old) else { return new.bytes.count }
    var longest = old.bytes.count
    _ = tree.forEachNode(inSubtreeOf: top, where: { $0.presenterCountInSubtree > 0 || $0.claimCountInSubtree > 0 }) {
      longest = max(longest, tree.path(of: $0).bytes.count)
      return true
    }
    return longest + growth
  }

  /// The end of the item at the destination is announced by the move.
  private mutating func noteDestination(_ path: ItemPath, of id: AccessID) {
    let access = accesses[id]
    for index in access.items.indices where !access.hasFormerClaims(of: index) {
      if self.path(ofItem: index, of: access) == path { accesses[id].items[index].marks.insert(.moveDestination) }
    }
  }

  private mutating func tellMove(by id: AccessID, from old: ItemPath, to new: ItemPath, replaced: Bool) {
    let access = accesses[id]
    var origin = origin(of: id)
    origin.itemAccess = access.items.first { $0.access.isWrite }?.access
    origin.verified = true
    let around = presentersToTell(around: old, withInside: true, access)
    for (presenter, relation) in around {
      switch relation {
      case .item, .inside:
        guard let node = presenters[presenter].node else { continue }
        tellMove(to: presenter, from: tree.path(of: node), old, new, origin)
      case .enclosingPackage, .enclosingDirectory:
        sendNews(.moved(from: old, to: new), to: presenter, relation, origin)
      }
    }
    let told = Set(around.map(\.0))
    for (presenter, relation) in presentersToTell(around: new, withInside: true, access)
    where !told.contains(presenter) {
      switch relation {
      case .item, .inside: send(.itemDidChange, to: presenter, origin)
      case .enclosingPackage, .enclosingDirectory:
        sendNews(replaced ? .changed(new) : .appeared(new), to: presenter, relation, origin)
      }
    }
  }

  mutating func tellMove(
    to presenter: PresenterID, from path: ItemPath, _ old: ItemPath, _ new: ItemPath, _ origin: Message.Origin
  ) {
    guard presenters[presenter].callbacks.contains(.itemDidMove) else { return }
    let newPath = path.movedAlong(from: old, to: new)
    if let access = origin.access { accesses[access].heldMoves.append(presenter) }
    if let message = enqueue(.itemDidMove(to: newPath), to: presenter, origin) {
      presenters[presenter].unseenMoves.append(UnseenMove(message: message, old: path, new: newPath))
    }
  }

  /// The current place of an item, from a location before a move of which the presenter hasn't been notified yet
  /// (C-317).
  package func currentPath(of path: ItemPath, for own: PresenterID?) -> ItemPath {
    guard let own, let presenter = presenters.find(own), !presenter.unseenMoves.isEmpty else { return path }
    return presenter.unseenMoves.reduce(path) { path, move in
      move.old.isSameOrContains(path) ? path.movedAlong(from: move.old, to: move.new) : path
    }
  }

  private func presentersInside(_ path: ItemPath) -> [(PresenterID, ItemTree.NodeIndex)] {
    guard let top = tree.node(at: path) else { return [] }
    var result: [(PresenterID, ItemTree.NodeIndex)] = []
    _ = tree.forEachNode(inSubtreeOf: top, where: { $0.presenterCountInSubtree > 0 }) { node in
      result += tree.presenters(at: node).map { ($0, node) }
      return true
    }
    return result.sorted { $0.0 < $1.0 }
  }

  mutating func movePresenter(
    _ id: PresenterID, from node: ItemTree.NodeIndex, _ old: ItemPath, _ new: ItemPath
  ) {
    let path = tree.path(of: node).movedAlong(from: old, to: new)
    tree.detachPresenter(id, from: node)
    presenters[id].node = tree.attachPresenter(id, at: path)
    effects.append(.presenterMoved(id, to: path))
  }

  /// The claims of the item and of items inside, in order of request.
  ///
  /// Places that are only still protected stay.
  private func claimsInside(_ path: ItemPath) -> [(access: AccessID, item: Int)] {
    guard let top = tree.node(at: path) else { return [] }
    var result: [(access: AccessID, item: Int)] = []
    _ = tree.forEachNode(inSubtreeOf: top, where: { $0.claimCountInSubtree > 0 }) { node in
      tree.forEachClaim(at: node) { index, claim in
        if accesses[claim.access].items[Int(claim.item)].claim == index {
          result.append((claim.access, Int(claim.item)))
        }
        return true
      }
    }
    return result.sorted { (accesses[$0.access].sequence, $0.item) < (accesses[$1.access].sequence, $1.item) }
  }

  /// - Returns: The accesses whose claims have moved, and those that are parked on them: their blockers may have
  ///   changed.
  private mutating func moveClaims(
    _ claims: [(access: AccessID, item: Int)], by mover: AccessID, _ old: ItemPath, _ new: ItemPath
  ) -> Set<AccessID> {
    var affected: Set<AccessID> = []
    for (id, index) in claims {
      let access = accesses[id]
      let item = access.items[index]
      let path = path(ofItem: index, of: access)
      if access.isWaiting {
        let isPinned = item.access == .write(.replacing)
        if (isPinned && !has(.pinnedWaiterMoved)) || has(.waiterNotMoved) { continue }
      } else if id == mover {
        let former = tree.attachClaim(
          access: id, item: Int32(index), mode: LockMode(item.access), sequence: access.sequence,
          isHeld: true, at: path)
        accesses[id].formerClaims.append(Access.FormerClaim(item: index, claim: former))
      }
      let newPath = path.movedAlong(from: old, to: new)
      tree.reattachClaim(item.claim, at: newPath)
      if id != mover { accesses[id].items[index].marks.insert(.moved) }
      if !access.isWaiting {
        effects.append(.itemMoved(id, item: index, to: newPath))
        noteOverlap(of: id)
      }
      affected.insert(id)
      affected.formUnion(access.parked)
    }
    return affected
  }

  /// A granted access now stands where a conflicting one is granted: the file system has moved already, so both go on.
  mutating func noteOverlap(of id: AccessID) {
    let hasCompany = !forEachBlocker(of: id) { accesses[$0].phase != .granted }
    if hasCompany { accesses[id].traits.insert(.overlapsByMove) }
  }

  private mutating func verifyAgain(at affected: Set<AccessID>) {
    for id in inOrder(affected) where accesses.contains(id) {
      guard accesses[id].isWaiting else {
        // It may stand in another's way now, and itself wait for requests of its accessor.
        suspects += descendants(of: accesses[id].children).filter { accesses[$0].isWaiting }
        continue
      }
      unpark(id)
      suspects.append(id)
      advance(id)
    }
  }

  private func inOrder(_ ids: Set<AccessID>) -> [AccessID] {
    ids.sorted { accesses[$0].sequence < accesses[$1].sequence }
  }
}
