internal import CompactContainers

// Delegations: rights of participants to decide alone about a directory and everything inside it.
//
// A delegation is an access without an end of its own: it holds its item like a read or write of everything inside. So
// newcomers wait for it in the queue, with deadlines and reports like behind any other access, and the host only has to
// recall it.

extension FileAccessArbiter {
  /// Whether nothing here would be in the way of a participant that decides alone about an item and all inside it.
  ///
  /// For reading no other party may write or present anything inside; for writing none may be there at all, nor wait to
  /// be.
  ///
  /// - Complexity: O(length of the path), and for reading the items inside that are claimed, up to a bound.
  package func mayDelegate(_ root: ItemPath, forWriting: Bool) -> Bool {
    tree.mayDelegate(root, forWriting: forWriting)
  }

  /// A participant is delegated the right to decide alone.
  ///
  /// - Precondition: ``mayDelegate(_:forWriting:)``.
  package mutating func delegationGranted(
    _ id: AccessID, _ request: AccessRequest, at time: Timestamp
  ) {
    begin(at: time)
    precondition(
      request.items.allSatisfy { item in
        if case .delegated(let forWriting) = item.access { return mayDelegate(item.path, forWriting: forWriting) }
        return false
      }, "\(id) is no delegation, or something is in its way")
    insert(id, request, .granted)
    delegationCount += 1
  }

  /// A delegation is over: accesses that were granted under it and still last have been adopted.
  package mutating func delegationReturned(_ id: AccessID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    end(id)
    return finish()
  }

  /// The delegations of this item, of those around it, and of items inside, in the order in which they were granted.
  package func delegations(overlapping path: ItemPath) -> [AccessID] {
    if delegationCount == 0 { return [] }
    var found: Set<AccessID> = []
    tree.forEachClaim(overlapping: path) { claim in
      if isDelegation(claim.access) { found.insert(claim.access) }
    }
    return found.sorted()
  }

  func isDelegation(_ id: AccessID) -> Bool {
    if case .delegated = accesses[id].items[0].access { return true }
    return false
  }

  /// Asks for the delegations back that a new waiter has in its way.
  mutating func recallDelegations(inTheWayOf id: AccessID) {
    if delegationCount == 0 { return }
    var wanted: Set<AccessID> = []
    _ = forEachBlocker(of: id) { blocker in
      if isDelegation(blocker) { wanted.insert(blocker) }
      return true
    }
    for delegation in wanted.sorted() { effects.append(.delegationWanted(delegation)) }
  }

  /// An access that was granted under a delegation is adopted, while the delegation still holds its place.
  ///
  /// It counts as granted: no presenter is asked, no `.grant` is returned, and it ends by `accessReleased`.
  ///
  /// - Returns: Whether it could be granted; if not, its participant had no right to grant it to itself, and nothing
  ///   has changed.
  package mutating func accessAdopted(
    _ id: AccessID, _ request: AccessRequest, under delegations: Set<AccessID>, at time: Timestamp
  ) -> Bool {
    begin(at: time)
    precondition(request.ownPresenter == nil && !request.isPreparation, "\(id) can't have been granted unasked")
    insert(id, request, .granted)
    let isFree = forEachBlocker(of: id) { accesses[$0].isWaiting || delegations.contains($0) }
    if isFree {
      becomeKnown(id, request)
    } else {
      _ = leave(id)
      // Nothing has changed, so no cycle has come about.
      suspects = []
    }
    precondition(effects.isEmpty, "adopting \(id) has effects: \(effects)")
    return isFree
  }

  /// An access that was granted elsewhere takes its place among those that are held.
  mutating func becomeKnown(_ id: AccessID, _ request: AccessRequest) {
    accesses[id].traits.insert(.wasGrantedElsewhere)
    noteContext(of: id, request.context)
  }
}

extension ItemTree {
  /// How many items inside a directory are visited before it counts as too busy to be delegated.
  private static let visitedNodeCountMax = 64

  func mayDelegate(_ root: ItemPath, forWriting: Bool) -> Bool {
    if isInPackage(root) { return false }
    let (deepest, end) = deepestNode(on: root)
    let isKnown = end == root.bytes.count
    if isKnown, forWriting || !isOnlyRead(inside: deepest) { return false }
    let obstacle: ItemInterest = forWriting ? .blocksWritingBelow : .blocksReadingBelow
    var node = isKnown ? nodes[deepest].parent : deepest
    while node != ItemTree.none {
      if interest(at: node).contains(obstacle) { return false }
      node = nodes[node].parent
    }
    return true
  }

  private func isOnlyRead(inside top: NodeIndex) -> Bool {
    var count = 0
    return branch(of: top).presenterCountInSubtree == 0
      && forEachNode(inSubtreeOf: top, where: { $0.claimCountInSubtree > 0 }) { node in
        count += 1
        return branch(of: node).writeClaimCount == 0 && count <= ItemTree.visitedNodeCountMax
      }
  }

  /// Calls `body` for each claim of the item, of those around it, and of items inside.
  func forEachClaim(overlapping path: ItemPath, _ body: (Claim) -> Void) {
    func visit(_ node: NodeIndex) -> Bool {
      forEachClaim(at: node) { _, claim in
        body(claim)
        return true
      }
    }
    var (node, end) = deepestNode(on: path)
    if end == path.bytes.count {
      _ = forEachNode(inSubtreeOf: node, where: { $0.claimCountInSubtree > 0 }, visit)
      node = nodes[node].parent
    }
    while node != ItemTree.none {
      _ = visit(node)
      node = nodes[node].parent
    }
  }
}
