internal import CompactContainers

// Visits the claims and presenters of an item, and everything below it.

extension ItemTree {
  /// Calls `body` for the node's claims that wait, then for the held ones, newest first, until it answers `false`.
  /// - Returns: Whether `body` always answered `true`.
  func forEachClaim(at node: NodeIndex, _ body: (ClaimIndex, Claim) -> Bool) -> Bool {
    let branch = branch(of: node)
    return forEachClaim(from: branch.waiting.last, body) && forEachClaim(from: branch.held.last, body)
  }

  private func forEachClaim(from last: ClaimIndex, _ body: (ClaimIndex, Claim) -> Bool) -> Bool {
    var index = last
    while index != ItemTree.none {
      let claim = claims[index]
      if !body(index, claim) { return false }
      index = claim.previous
    }
    return true
  }

  /// Calls `body` for each presenter of the node, in the order in which they came.
  func forEachPresenter(at node: NodeIndex, _ body: (PresenterID) -> Void) {
    var seat = branch(of: node).firstSeat
    while seat != ItemTree.none {
      body(seats[seat].presenter)
      seat = seats[seat].next
    }
  }

  /// Whether there are presenters of the node, of those around it or, if asked, of those inside it.
  func hasPresenters(around node: NodeIndex, withInside: Bool) -> Bool {
    if withInside, branch(of: node).presenterCountInSubtree > 0 { return true }
    var current = node
    while current != ItemTree.none {
      if hasPresenters(at: current) { return true }
      current = nodes[current].parent
    }
    return false
  }

  func presenters(at node: NodeIndex) -> [PresenterID] {
    var result: [PresenterID] = []
    forEachPresenter(at: node) { result.append($0) }
    return result
  }

  /// Calls `body` for `top` and every node below it for which `isWorthVisiting` answers `true`, parents first.
  ///
  /// Subtrees that are not worth visiting are skipped whole. Needs no stack, whatever the depth.
  func forEachNode(
    inSubtreeOf top: NodeIndex, where isWorthVisiting: (Branch) -> Bool, _ body: (NodeIndex) -> Bool
  ) -> Bool {
    guard isWorthVisiting(branch(of: top)) else { return true }
    var current = top
    while true {
      if !body(current) { return false }
      var next = firstWorthy(from: firstChild(of: current), isWorthVisiting)
      while next == ItemTree.none {
        if current == top { return true }
        next = firstWorthy(from: nodes[current].nextSibling, isWorthVisiting)
        if next == ItemTree.none { current = nodes[current].parent }
      }
      current = next
    }
  }

  private func firstWorthy(from node: NodeIndex, _ isWorthVisiting: (Branch) -> Bool) -> NodeIndex {
    var current = node
    while current != ItemTree.none, !isWorthVisiting(branch(of: current)) { current = nodes[current].nextSibling }
    return current
  }
}
