internal import CompactContainers

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
    // A list of one needs no care.
    if nodes[node].content == .claim {
      claims[claim].isHeld = true
    } else {
      let branch = expand(node)
      removeFromList(claim, in: branch)
      claims[claim].isHeld = true
      insertIntoList(claim, in: branch)
    }
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
    if nodes[node].content == .nothing {
      seats[seat].previous = seat
      attach(seat, .seat, to: node)
    } else {
      let branch = expand(node)
      insertIntoList(seat: seat, in: branch)
      branches[branch].presenterCountInSubtree += 1
    }
    noteInterest(at: node)
    forEachBranch(around: node) { $0.presenterCountInSubtree += 1 }
    return node
  }

  private mutating func insertIntoList(seat: SeatIndex, in branch: Int32) {
    let first = branches[branch].firstSeat
    if first == ItemTree.none {
      branches[branch].firstSeat = seat
      seats[seat].previous = seat
    } else {
      let last = seats[first].previous
      seats[last].next = seat
      seats[seat].previous = last
      seats[first].previous = seat
    }
  }

  mutating func detachPresenter(_ presenter: PresenterID, from node: NodeIndex) {
    var seat = branch(of: node).firstSeat
    while seat != ItemTree.none, seats[seat].presenter != presenter { seat = seats[seat].next }
    precondition(seat != ItemTree.none, "\(presenter) is not attached to \(path(of: node))")
    if nodes[node].content == .seat {
      attach(ItemTree.none, .nothing, to: node)
    } else {
      let branch = expand(node)
      removeFromList(seat: seat, in: branch)
      branches[branch].presenterCountInSubtree -= 1
      reduce(node)
    }
    seats.remove(seat)
    noteInterest(at: node)
    forEachBranch(around: node) { $0.presenterCountInSubtree -= 1 }
    prune(node)
  }

  private mutating func removeFromList(seat: SeatIndex, in branch: Int32) {
    let (previous, next) = (seats[seat].previous, seats[seat].next)
    if branches[branch].firstSeat == seat { branches[branch].firstSeat = next } else { seats[previous].next = next }
    // The one before the first is the last.
    let following = next == ItemTree.none ? branches[branch].firstSeat : next
    if following != ItemTree.none { seats[following].previous = previous }
  }

  private mutating func link(_ claim: ClaimIndex, to node: NodeIndex) {
    if nodes[node].content == .nothing {
      attach(claim, .claim, to: node)
    } else {
      let branch = expand(node)
      insertIntoList(claim, in: branch)
      branches[branch].count(claims[claim].mode, by: 1)
      branches[branch].claimCountInSubtree += 1
    }
    noteInterest(at: node)
    forEachBranch(around: node) { $0.claimCountInSubtree += 1 }
  }

  private mutating func unlinkClaim(_ claim: ClaimIndex) -> NodeIndex {
    let node = claims[claim].node
    if nodes[node].content == .claim {
      attach(ItemTree.none, .nothing, to: node)
    } else {
      let branch = expand(node)
      removeFromList(claim, in: branch)
      branches[branch].count(claims[claim].mode, by: -1)
      branches[branch].claimCountInSubtree -= 1
      reduce(node)
    }
    noteInterest(at: node)
    forEachBranch(around: node) { $0.claimCountInSubtree -= 1 }
    return node
  }

  /// Newcomers go to the end at once; only a claim that was moved here has to search for its place.
  private mutating func insertIntoList(_ claim: ClaimIndex, in branch: Int32) {
    let isHeld = claims[claim].isHeld
    var previous = branches[branch][claims: isHeld].last
    while previous != ItemTree.none, claims[previous].sequence > claims[claim].sequence {
      previous = claims[previous].previous
    }
    let next = previous == ItemTree.none ? branches[branch][claims: isHeld].first : claims[previous].next
    claims[claim].previous = previous
    claims[claim].next = next
    connect(previous, next, claim, claim, isHeld: isHeld, in: branch)
  }

  private mutating func removeFromList(_ claim: ClaimIndex, in branch: Int32) {
    let record = claims[claim]
    connect(record.previous, record.next, record.next, record.previous, isHeld: record.isHeld, in: branch)
    claims[claim].previous = ItemTree.none
    claims[claim].next = ItemTree.none
  }

  /// Makes the claim before a gap point to `follower`, and the one behind it to `leader`.
  private mutating func connect(
    _ previous: ClaimIndex, _ next: ClaimIndex, _ follower: ClaimIndex, _ leader: ClaimIndex, isHeld: Bool,
    in branch: Int32
  ) {
    if previous == ItemTree.none {
      branches[branch][claims: isHeld].first = follower
    } else {
      claims[previous].next = follower
    }
    if next == ItemTree.none {
      branches[branch][claims: isHeld].last = leader
    } else {
      claims[next].previous = leader
    }
  }

  /// Those of the directories around a node, which have branches because they have children.
  private mutating func forEachBranch(around node: NodeIndex, _ body: (inout Branch) -> Void) {
    var current = nodes[node].parent
    while current != ItemTree.none {
      body(&branches[nodes[current].attachment])
      current = nodes[current].parent
    }
  }
}
