internal import CompactContainers

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
      // A presenter that is asked may have an access with priority, which goes ahead at once.
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
    let access = accesses.present(id)
    accesses[at: access].phase = phase
    accesses[at: access].phaseSince = now
    disarmTimer(of: id)
  }

  private mutating func grant(_ id: AccessID) {
    enter(.granted, id)
    let items = accesses[id].items
    for item in items where item.claim != ItemTree.none { tree.hold(item.claim) }
    var grant = Grant(unanswered: unanswered(of: id))
    if items.contains(where: { $0.wasMoved || $0.wasReplaced }) {
      grant.items = zip(paths(of: accesses[id]), items).map {
        Grant.Item(path: $0, wasMoved: $1.wasMoved, wasReplaced: $1.wasReplaced)
      }
    }
    if let spare = accesses[id].dropDetailsOfWait() { keep(spare) }
    grant.wantsOutcome = isAnyoneToBeTold(of: id)
    effects.append(.grant(id, grant))
    suspectOwnAccesses(above: accesses[id].lineage)
  }

  /// Lets the access sleep until `blocker` ends.
  private mutating func park(_ id: AccessID, on blocker: AccessID) {
    if accesses[id].parkedOn == blocker { return }
    unpark(id)
    accesses[id].parkedOn = blocker
    accesses[blocker].parked.append(id)
    suspects.append(id)
    armTimer(of: id, .waiting)
    recallDelegations(inTheWayOf: id)
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
    // A thousand nested accesses would be gone through for each of them.
    if messages.isEmpty || has(.overlappingCallbacks) { return nil }
    var waiter = id
    for context in accesses[id].lineage {
      // Beyond an access that isn't awaited, no callback goes on because of this grant.
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

// MARK: - The accesses in the way

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

  /// The same for accesses whose claims `filter` leaves.
  func forEachBlocker(of id: AccessID, among filter: ClaimFilter, _ body: (AccessID) -> Bool) -> Bool {
    let access = accesses.present(id)
    let items = accesses[at: access].items
    let isInOrder = !accesses[at: access].traits.contains(.isOvertaken)
    // A request that names one item a thousand times has a thousand claims there; checking them once is enough.
    var seen: Set<ClaimedPlace> = []
    for item in items {
      if item.claim == ItemTree.none { continue }
      let place = ClaimedPlace(node: tree.claims[item.claim].node, mode: tree.claims[item.claim].mode)
      if items.count > 8, !seen.insert(place).inserted { continue }
      if !forEachBlocker(ofClaim: item.claim, queueIsInOrder: isInOrder, filter, body) { return false }
    }
    return true
  }

  private struct ClaimedPlace: Hashable {
    let node: ItemTree.NodeIndex
    let mode: LockMode
  }

  /// The same for one claim, by the table of ``ConflictRules``.
  ///
  /// With `queueIsInOrder` those that wait behind it at the same item are left out: they can't be in its way. So the
  /// search of a long queue ends at the neighbour.
  private func forEachBlocker(
    ofClaim index: ItemTree.ClaimIndex, queueIsInOrder: Bool, _ filter: ClaimFilter, _ body: (AccessID) -> Bool
  ) -> Bool {
    let claim = tree.claims[index]
    let locked = has(.packageIgnored) ? claim.node : tree.lockNode(of: claim.node)
    return forEachBlocker(ofClaim: claim, inside: locked, isQueueInOrder: queueIsInOrder, filter, body)
      && forEachBlocker(ofClaim: claim, around: locked, filter, body)
  }

  private func forEachBlocker(
    ofClaim claim: ItemTree.Claim, inside locked: ItemTree.NodeIndex, isQueueInOrder: Bool, _ filter: ClaimFilter,
    _ body: (AccessID) -> Bool
  ) -> Bool {
    let isUnit = tree.nodes[locked].isPackage
    func visit(_ node: ItemTree.NodeIndex) -> Bool {
      let branch = tree.branch(of: node)
      if claim.mode.isRead, branch.writeClaimCount == 0 { return true }
      let relation: ItemRelation = isUnit || node == locked ? .same : .firstContainsSecond
      let isOwnQueue = node == claim.node && isQueueInOrder && !claim.isHeld
      let last = isOwnQueue ? claim.previous : branch.waiting.last
      return forEachBlocker(ofClaim: claim, from: last, relation, filter, body)
        && forEachBlocker(ofClaim: claim, from: branch.held.last, relation, filter, body)
    }
    guard isUnit || (claim.mode.isDeep && !has(.deepWriterIgnoresInside)) else { return visit(locked) }
    return tree.forEachNode(inSubtreeOf: locked, where: { $0.claimCountInSubtree > 0 }, visit)
  }

  private func forEachBlocker(
    ofClaim claim: ItemTree.Claim, around locked: ItemTree.NodeIndex, _ filter: ClaimFilter, _ body: (AccessID) -> Bool
  ) -> Bool {
    let relation = ItemRelation.secondContainsFirst
    var node = tree.nodes[locked].parent
    while node != ItemTree.none {
      let branch = tree.branch(of: node)
      if branch.deepClaimCount > 0,
        !forEachBlocker(ofClaim: claim, from: branch.waiting.last, relation, filter, body)
          || !forEachBlocker(ofClaim: claim, from: branch.held.last, relation, filter, body)
      {
        return false
      }
      node = tree.nodes[node].parent
    }
    return true
  }

  /// The same for a claim and those before it in its list, as far as they conflict.
  private func forEachBlocker(
    ofClaim claim: ItemTree.Claim, from last: ItemTree.ClaimIndex, _ relation: ItemRelation, _ filter: ClaimFilter,
    _ body: (AccessID) -> Bool
  ) -> Bool {
    var index = filter(last)
    while index != ItemTree.none {
      let other = tree.claims[index]
      if other.access != claim.access, ConflictRules.conflict(claim.mode, other.mode, relation),
        isInTheWay(other.access, of: claim.access), !body(other.access)
      {
        return false
      }
      index = filter(other.previous)
    }
    return true
  }

  /// Whether `id` waits for `other`, given that their claims conflict.
  private func isInTheWay(_ other: AccessID, of id: AccessID) -> Bool {
    let (first, second) = (accesses.present(other), accesses.present(id))
    if areExempt(first, second) { return false }
    if accesses[at: first].phase == .granted || accesses[at: first].overtakes.contains(id) { return true }
    if has(.unboundedBypass), !accesses[at: second].items[0].access.isWrite { return false }
    return accesses[at: first].sequence < accesses[at: second].sequence
      && !accesses[at: second].overtakes.contains(other)
  }

  func areExempt(_ first: AccessID, _ second: AccessID) -> Bool {
    areExempt(accesses.present(first), accesses.present(second))
  }

  /// One purpose (C-116), or one nested in the other while that one's accessor runs (C-130…C-133).
  private func areExempt(_ first: Int32, _ second: Int32) -> Bool {
    accesses[at: first].purpose == accesses[at: second].purpose
      || isNested(first, in: second) || isNested(second, in: first)
  }

  private func isNested(_ inner: Int32, in outer: Int32) -> Bool {
    accesses[at: outer].phase == .granted && accesses[at: inner].isInside(accesses[at: outer])
  }
}
