// Waiting for other accesses: in order of arrival, neighbouring readers together.

extension FileAccessArbiter {
  /// Moves an access forward as far as it can go: waiting → asking → ready → granted.
  mutating func advance(_ id: AccessID) {
    guard accesses.contains(id) else { return }
    if accesses[id].phase == .waiting {
      if let blocker = blocker(of: id) { return park(id, on: blocker) }
      startAsking(id)
      guard accesses.contains(id) else { return }
    }
    if accesses[id].phase == .asking {
      if accesses[id].owesAnswers, !has(.grantBeforeAnswers) { return }
      enter(.ready, id)
    }
    if accesses[id].phase == .ready {
      if let blocker = blocker(of: id) { return park(id, on: blocker) }
      if let message = callbackAbove(id) { return waitForCallback(id, message) }
      grant(id)
    }
  }

  mutating func enter(_ phase: Access.Phase, _ id: AccessID) {
    accesses[id].phase = phase
    accesses[id].phaseSince = now
    disarmTimer(of: id)
  }

  private mutating func grant(_ id: AccessID) {
    enter(.granted, id)
    let access = accesses[id]
    for case let claim? in access.items.map(\.claim) { tree.hold(claim) }
    var grant = Grant(unanswered: access.unanswered)
    if access.items.contains(where: { $0.wasMoved || $0.wasReplaced }) {
      grant.items = access.items.map {
        Grant.Item(path: $0.path, wasMoved: $0.wasMoved, wasReplaced: $0.wasReplaced)
      }
    }
    grant.wantsOutcome = isAnyoneToBeTold(of: id)
    effects.append(.grant(id, grant))
  }

  /// Lets the access sleep until `blocker` ends.
  private mutating func park(_ id: AccessID, on blocker: AccessID) {
    if accesses[id].parkedOn == blocker { return }
    unpark(id)
    accesses[id].parkedOn = blocker
    accesses[blocker].parked.append(id)
    suspects.append(id)
    armTimer(of: id, .waiting)
    serveMailboxes(below: id)
  }

  private mutating func waitForCallback(_ id: AccessID, _ message: MessageID) {
    unpark(id)
    suspects.append(id)
    armTimer(of: id, .answering)
  }

  mutating func unpark(_ id: AccessID) {
    guard let blocker = accesses[id].parkedOn else { return }
    accesses[id].parkedOn = nil
    if accesses.contains(blocker) { accesses[blocker].parked.removeAll { $0 == id } }
  }

  /// A callback that was started while the request's own callback waits: the two must not overlap, so the grant waits.
  func callbackAbove(_ id: AccessID) -> MessageID? {
    if has(.overlappingCallbacks) { return nil }
    var waiter = id
    for context in accesses[id].lineage {
      // Beyond an access that nobody awaits, no callback goes on because of this grant.
      guard accesses.find(waiter)?.request.isAwaitedByContext == true else { return nil }
      switch context {
      case .access(let outer): waiter = outer
      case .message(let below):
        guard let presenter = messages.find(below)?.presenter,
          let position = presenters[presenter].running.firstIndex(of: below)
        else { return nil }
        return presenters[presenter].running[(position + 1)...].first
      }
    }
    return nil
  }
}

// MARK: - Who is in the way

extension FileAccessArbiter {
  /// One access that `id` has to wait for, or `nil`.
  ///
  /// The newest is preferred, so that a queue wakes up in order.
  func blocker(of id: AccessID) -> AccessID? {
    var result: AccessID?
    _ = forEachBlocker(of: id) { blocker in
      result = blocker
      return false
    }
    return result
  }

  /// Calls `body` for every access that is in the way of `id` (possibly more than once) until it answers `false`.
  func forEachBlocker(of id: AccessID, _ body: (AccessID) -> Bool) -> Bool {
    let access = accesses[id]
    // A request that names one item a thousand times has a thousand claims there; looking at them once is enough.
    var seen: Set<ClaimedPlace> = []
    for item in access.items {
      guard let claim = item.claim else { continue }
      let place = ClaimedPlace(node: tree.claims[claim].node, mode: tree.claims[claim].mode)
      if access.items.count > 8, !seen.insert(place).inserted { continue }
      let ended = forEachConflict(with: claim, queueIsInOrder: !access.isOvertaken) { other in
        !isInTheWay(other, of: access) || body(other)
      }
      if !ended { return false }
    }
    return true
  }

  private struct ClaimedPlace: Hashable {
    let node: ItemTree.NodeIndex
    let mode: LockMode
  }

  /// Calls `body` with the access of each claim that conflicts with a claim by the table of ``ConflictRules``.
  ///
  /// With `queueIsInOrder` those that wait behind it at the same item are left out: they can't be in its way. So a look at
  /// a long queue ends at the neighbour.
  private func forEachConflict(
    with index: ItemTree.ClaimIndex, queueIsInOrder: Bool, _ body: (AccessID) -> Bool
  ) -> Bool {
    let claim = tree.claims[index]
    let locked = has(.packageIgnored) ? claim.node : tree.lockNode(of: claim.node)
    let queue = queueIsInOrder && !claim.isHeld ? index : nil
    return forEachConflictInside(locked, claim, queue, body) && forEachConflictAround(locked, claim, body)
  }

  private func forEachConflictInside(
    _ locked: ItemTree.NodeIndex, _ claim: ItemTree.Claim, _ queue: ItemTree.ClaimIndex?, _ body: (AccessID) -> Bool
  ) -> Bool {
    let isUnit = tree.nodes[locked].isPackage
    let mode = claim.mode
    func visit(_ other: ItemTree.Claim, _ relation: ItemRelation) -> Bool {
      if other.access == claim.access || !ConflictRules.conflict(mode, other.mode, relation) { return true }
      return body(other.access)
    }
    func visit(_ node: ItemTree.NodeIndex) -> Bool {
      let relation: ItemRelation = isUnit || node == locked ? .same : .firstContainsSecond
      if mode.isRead, tree.nodes[node].writeClaimCount == 0 { return true }
      if node == claim.node, let queue { return tree.forEachClaim(before: queue) { visit($1, relation) } }
      return tree.forEachClaim(at: node) { visit($1, relation) }
    }
    guard isUnit || (mode.isDeep && !has(.deepWriterIgnoresInside)) else { return visit(locked) }
    return tree.forEachNode(inSubtreeOf: locked, where: { $0.claimCountInSubtree > 0 }, visit)
  }

  private func forEachConflictAround(
    _ locked: ItemTree.NodeIndex, _ claim: ItemTree.Claim, _ body: (AccessID) -> Bool
  ) -> Bool {
    var node = tree.nodes[locked].parent
    while node != ItemTree.none {
      if tree.nodes[node].deepClaimCount > 0 {
        let ended = tree.forEachClaim(at: node) { _, other in
          if other.access == claim.access || !ConflictRules.conflict(claim.mode, other.mode, .secondContainsFirst) {
            return true
          }
          return body(other.access)
        }
        if !ended { return false }
      }
      node = tree.nodes[node].parent
    }
    return true
  }

  /// Whether `access` waits for `other`, given that their claims conflict.
  private func isInTheWay(_ other: AccessID, of access: Access) -> Bool {
    let earlier = accesses[other]
    if areExempt(earlier, access) { return false }
    if earlier.phase == .granted || earlier.overtakes.contains(access.id) { return true }
    if has(.unboundedBypass), !access.items[0].access.isWrite { return false }
    return earlier.sequence < access.sequence && !access.overtakes.contains(other)
  }

  /// One purpose (C-116), or one nested in the other while that one's accessor runs (C-130…C-133).
  func areExempt(_ first: Access, _ second: Access) -> Bool {
    first.request.purpose == second.request.purpose
      || isNested(first, in: second) || isNested(second, in: first)
  }

  private func isNested(_ inner: Access, in outer: Access) -> Bool {
    outer.phase == .granted && inner.lineage.contains(.access(outer.id))
  }
}
