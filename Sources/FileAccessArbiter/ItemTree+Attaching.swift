// Claims and presenters come to items and go.

extension ItemTree {
  mutating func attachClaim(
    access: AccessID, item: Int32, mode: LockMode, sequence: UInt64 = 0, isHeld: Bool = false, at path: ItemPath
  ) -> ClaimIndex {
    let node = makeNode(at: path)
    let claim = claims.insert(
      Claim(access: access, sequence: sequence, item: item, node: node, mode: mode, isHeld: isHeld))
    link(claim, to: node)
    return claim
  }

  mutating func detachClaim(_ claim: ClaimIndex) {
    let node = unlinkClaim(claim)
    claims.remove(claim)
    prune(node)
  }

  /// Its access was granted: the claim leaves the queue.
  mutating func hold(_ claim: ClaimIndex) {
    let node = claims[claim].node
    removeFromList(claim, at: node)
    claims[claim].isHeld = true
    insertIntoList(claim, at: node)
  }

  /// Moves a claim to another item, where it takes its place in the order of requests.
  mutating func reattachClaim(_ claim: ClaimIndex, at path: ItemPath) {
    let old = unlinkClaim(claim)
    let node = makeNode(at: path)
    claims[claim].node = node
    link(claim, to: node)
    if has(.interestNotMoved) { nodes[node].isInterestDirty = false }
    prune(old)
  }

  mutating func attachPresenter(_ presenter: PresenterID, at path: ItemPath) -> NodeIndex {
    let node = makeNode(at: path)
    let seat = seats.insert(Seat(presenter: presenter))
    let first = nodes[node].firstSeat
    if first == ItemTree.none {
      nodes[node].firstSeat = seat
      seats[seat].previous = seat
    } else {
      let last = seats[first].previous
      seats[last].next = seat
      seats[seat].previous = last
      seats[first].previous = seat
    }
    noteInterest(at: node)
    forEachAncestor(ofOrSame: node) { $0.presenterCountInSubtree += 1 }
    return node
  }

  mutating func detachPresenter(_ presenter: PresenterID, from node: NodeIndex) {
    var seat = nodes[node].firstSeat
    while seat != ItemTree.none, seats[seat].presenter != presenter { seat = seats[seat].next }
    precondition(seat != ItemTree.none, "\(presenter) is not attached to \(path(of: node))")
    let (previous, next) = (seats[seat].previous, seats[seat].next)
    if nodes[node].firstSeat == seat { nodes[node].firstSeat = next } else { seats[previous].next = next }
    // The one before the first is the last.
    let following = next == ItemTree.none ? nodes[node].firstSeat : next
    if following != ItemTree.none { seats[following].previous = previous }
    seats.remove(seat)
    noteInterest(at: node)
    forEachAncestor(ofOrSame: node) { $0.presenterCountInSubtree -= 1 }
    prune(node)
  }

  private mutating func link(_ claim: ClaimIndex, to node: NodeIndex) {
    insertIntoList(claim, at: node)
    count(claim, in: node, by: 1)
  }

  private mutating func unlinkClaim(_ claim: ClaimIndex) -> NodeIndex {
    let node = claims[claim].node
    removeFromList(claim, at: node)
    count(claim, in: node, by: -1)
    return node
  }

  /// Newcomers go to the end at once; only a claim that was moved here has to look for its place.
  private mutating func insertIntoList(_ claim: ClaimIndex, at node: NodeIndex) {
    let isHeld = claims[claim].isHeld
    var previous = nodes[node][claims: isHeld].last
    while previous != ItemTree.none, claims[previous].sequence > claims[claim].sequence {
      previous = claims[previous].previous
    }
    let next = previous == ItemTree.none ? nodes[node][claims: isHeld].first : claims[previous].next
    claims[claim].previous = previous
    claims[claim].next = next
    connect(previous, next, claim, claim, isHeld: isHeld, at: node)
  }

  private mutating func removeFromList(_ claim: ClaimIndex, at node: NodeIndex) {
    let record = claims[claim]
    connect(record.previous, record.next, record.next, record.previous, isHeld: record.isHeld, at: node)
  }

  /// Lets what is before a gap point to `follower`, and what is behind it to `leader`.
  private mutating func connect(
    _ previous: ClaimIndex, _ next: ClaimIndex, _ follower: ClaimIndex, _ leader: ClaimIndex, isHeld: Bool,
    at node: NodeIndex
  ) {
    if previous == ItemTree.none {
      nodes[node][claims: isHeld].first = follower
    } else {
      claims[previous].next = follower
    }
    if next == ItemTree.none {
      nodes[node][claims: isHeld].last = leader
    } else {
      claims[next].previous = leader
    }
  }

  private mutating func count(_ claim: ClaimIndex, in node: NodeIndex, by change: Int32) {
    let mode = claims[claim].mode
    if !mode.isRead { nodes[node].writeClaimCount += change }
    if mode.isDeep { nodes[node].deepClaimCount += change }
    if mode == .deepWrite { nodes[node].deepWriteClaimCount += change }
    noteInterest(at: node)
    forEachAncestor(ofOrSame: node) { $0.claimCountInSubtree += change }
  }

  private mutating func forEachAncestor(ofOrSame node: NodeIndex, _ body: (inout Node) -> Void) {
    var current = node
    while current != ItemTree.none {
      body(&nodes[current])
      current = nodes[current].parent
    }
  }
}
