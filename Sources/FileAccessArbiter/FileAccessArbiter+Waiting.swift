// Waiting for other accesses: in order of arrival, neighbouring readers together.

extension FileAccessArbiter {
  /// Moves an access forward as far as it can go: waiting → asking → ready → granted.
  mutating func advance(_ id: AccessID) {
    guard accesses.contains(id) else { return }
    var isWayFree = false
    if accesses[id].phase == .waiting {
      if let blocker = blocker(of: id) { return park(id, on: blocker) }
      startAsking(id)
      guard accesses.contains(id) else { return }
      // Somebody who is asked may have priority, and go ahead at once.
      isWayFree = accesses[id].negotiations.isEmpty
    }
    if accesses[id].phase == .asking {
      if accesses[id].owesAnswers, !has(.grantBeforeAnswers) { return }
      enter(.ready, id)
    }
    if accesses[id].phase == .ready {
      if !isWayFree, let blocker = blocker(of: id) { return park(id, on: blocker) }
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
    let items = accesses[id].items
    for item in items where item.claim != ItemTree.none { tree.hold(item.claim) }
    var grant = Grant(unanswered: accesses[id].unanswered)
    if items.contains(where: { $0.wasMoved || $0.wasReplaced }) {
      grant.items = zip(paths(of: accesses[id]), items).map {
        Grant.Item(path: $0, wasMoved: $1.wasMoved, wasReplaced: $1.wasReplaced)
      }
    }
    accesses[id].dropDetailsOfWait()
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
      guard accesses.find(waiter)?.isAwaitedByContext == true else { return nil }
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

  /// Says where to go on in a list of claims instead of the given one: there, or at an earlier one, or nowhere.
  typealias ClaimFilter = (ItemTree.ClaimIndex) -> ItemTree.ClaimIndex

  /// Calls `body` for every access that is in the way of `id` (possibly more than once) until it answers `false`.
  func forEachBlocker(of id: AccessID, _ body: (AccessID) -> Bool) -> Bool {
    forEachBlocker(of: id, among: { $0 }, body)
  }

  /// The same for those whose claims `filter` leaves.
  func forEachBlocker(of id: AccessID, among filter: ClaimFilter, _ body: (AccessID) -> Bool) -> Bool {
    let items = accesses[id].items
    let isInOrder = !accesses[id].traits.contains(.isOvertaken)
    // A request that names one item a thousand times has a thousand claims there; looking at them once is enough.
    var seen: Set<ClaimedPlace> = []
    for item in items {
      if item.claim == ItemTree.none { continue }
      let place = ClaimedPlace(node: tree.claims[item.claim].node, mode: tree.claims[item.claim].mode)
      if items.count > 8, !seen.insert(place).inserted { continue }
      let ended = forEachConflict(with: item.claim, queueIsInOrder: isInOrder, filter) { other in
        !isInTheWay(other, of: id) || body(other)
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
    with index: ItemTree.ClaimIndex, queueIsInOrder: Bool, _ filter: ClaimFilter, _ body: (AccessID) -> Bool
  ) -> Bool {
    let claim = tree.claims[index]
    let locked = has(.packageIgnored) ? claim.node : tree.lockNode(of: claim.node)
    let queue = queueIsInOrder && !claim.isHeld ? index : nil
    return forEachConflictInside(locked, claim, queue, filter, body)
      && forEachConflictAround(locked, claim, filter, body)
  }

  private func forEachConflictInside(
    _ locked: ItemTree.NodeIndex, _ claim: ItemTree.Claim, _ queue: ItemTree.ClaimIndex?, _ filter: ClaimFilter,
    _ body: (AccessID) -> Bool
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
      let isOwnQueue = node == claim.node && queue != nil
      let last = isOwnQueue ? claim.previous : tree.nodes[node].waiting.last
      return tree.forEachClaim(from: last, filter) { visit($1, relation) }
        && tree.forEachClaim(from: tree.nodes[node].held.last, filter) { visit($1, relation) }
    }
    guard isUnit || (mode.isDeep && !has(.deepWriterIgnoresInside)) else { return visit(locked) }
    return tree.forEachNode(inSubtreeOf: locked, where: { $0.claimCountInSubtree > 0 }, visit)
  }

  private func forEachConflictAround(
    _ locked: ItemTree.NodeIndex, _ claim: ItemTree.Claim, _ filter: ClaimFilter, _ body: (AccessID) -> Bool
  ) -> Bool {
    func visit(_ other: ItemTree.Claim) -> Bool {
      if other.access == claim.access || !ConflictRules.conflict(claim.mode, other.mode, .secondContainsFirst) {
        return true
      }
      return body(other.access)
    }
    var node = tree.nodes[locked].parent
    while node != ItemTree.none {
      if tree.nodes[node].deepClaimCount > 0 {
        let ended =
          tree.forEachClaim(from: tree.nodes[node].waiting.last, filter) { visit($1) }
          && tree.forEachClaim(from: tree.nodes[node].held.last, filter) { visit($1) }
        if !ended { return false }
      }
      node = tree.nodes[node].parent
    }
    return true
  }

  /// Whether `id` waits for `other`, given that their claims conflict.
  private func isInTheWay(_ other: AccessID, of id: AccessID) -> Bool {
    if areExempt(other, id) { return false }
    if accesses[other].phase == .granted || accesses[other].overtakes.contains(id) { return true }
    if has(.unboundedBypass), !accesses[id].items[0].access.isWrite { return false }
    return accesses[other].sequence < accesses[id].sequence && !accesses[id].overtakes.contains(other)
  }

  /// One purpose (C-116), or one nested in the other while that one's accessor runs (C-130…C-133).
  func areExempt(_ first: AccessID, _ second: AccessID) -> Bool {
    accesses[first].purpose == accesses[second].purpose
      || isNested(first, in: second) || isNested(second, in: first)
  }

  private func isNested(_ inner: AccessID, in outer: AccessID) -> Bool {
    accesses[outer].phase == .granted && accesses[inner].isInside(.access(outer))
  }
}
