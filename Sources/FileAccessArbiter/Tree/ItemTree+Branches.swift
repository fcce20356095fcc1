internal import CompactContainers

// Nodes with more than one thing attached to them or below them, and those with less.

extension ItemTree {
  /// The claims, presenters and counts at a node and below it, whether it has a branch or not.
  @inline(__always)
  func branch(of index: NodeIndex) -> Branch {
    let node = unsafe nodes.address(of: index)
    return switch unsafe node.pointee.content {
    case .branch: branches[unsafe node.pointee.attachment]
    case .nothing: Branch()
    case .claim: branch(ofClaim: unsafe node.pointee.attachment)
    case .seat: branch(ofSeat: unsafe node.pointee.attachment)
    }
  }

  private func branch(ofClaim claim: ClaimIndex) -> Branch {
    var branch = Branch()
    branch[claims: claims[claim].isHeld] = ClaimList(first: claim, last: claim)
    branch.count(claims[claim].mode, by: 1)
    branch.claimCountInSubtree = 1
    return branch
  }

  private func branch(ofSeat seat: SeatIndex) -> Branch {
    var branch = Branch()
    branch.firstSeat = seat
    branch.presenterCountInSubtree = 1
    return branch
  }

  /// The branch of a node, to be changed; `reduce` has to follow where something was taken away.
  @inline(__always)
  mutating func expand(_ node: NodeIndex) -> Int32 {
    if nodes[node].content == .branch { return nodes[node].attachment }
    return makeBranch(of: node)
  }

  private mutating func makeBranch(of node: NodeIndex) -> Int32 {
    let index = branches.insert(branch(of: node))
    nodes[node].attachment = index
    nodes[node].content = .branch
    return index
  }

  /// Gives up the branch of a node that doesn't need it any more; the root keeps its own.
  mutating func reduce(_ node: NodeIndex) {
    guard nodes[node].content == .branch, node != root else { return }
    let index = nodes[node].attachment
    let branch = branches[index]
    if branch.firstChild != ItemTree.none { return }
    switch (branch.claimCountInSubtree, branch.presenterCountInSubtree) {
    case (0, 0): attach(ItemTree.none, .nothing, to: node)
    case (1, 0): attach(branch[claims: !branch.held.isEmpty].first, .claim, to: node)
    case (0, 1): attach(branch.firstSeat, .seat, to: node)
    default: return
    }
    branches.remove(index)
  }

  mutating func attach(_ attachment: Int32, _ content: Node.Content, to node: NodeIndex) {
    nodes[node].attachment = attachment
    nodes[node].content = content
  }

  func firstChild(of node: NodeIndex) -> NodeIndex {
    nodes[node].content == .branch ? branches[nodes[node].attachment].firstChild : ItemTree.none
  }

  /// Whether there's a presenter of this very item.
  func hasPresenters(at node: NodeIndex) -> Bool {
    switch nodes[node].content {
    case .nothing, .claim: false
    case .seat: true
    case .branch: branches[nodes[node].attachment].hasPresenters
    }
  }

  /// The interest that keeps others from this very item.
  func interest(at node: NodeIndex) -> ItemInterest { branch(of: node).interest }
}
