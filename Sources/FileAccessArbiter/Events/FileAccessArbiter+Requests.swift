internal import CompactContainers

// An access from its request to its end.

extension FileAccessArbiter {
  /// A participant appeared.
  ///
  /// Its name is for people: "pid 4711 'indexer'".
  package mutating func clientJoined(_ client: ClientID, name: String) {
    clients.insert(Client(id: client, givenName: name))
  }

  /// A coordinator asks for access.
  ///
  /// All items are enqueued, and later granted, as one unit (C-023, C-024).
  ///
  /// - Complexity: O(depth of the paths) when nobody else is interested, plus the number of presenters concerned.
  package mutating func accessRequested(_ id: AccessID, _ request: AccessRequest, at time: Timestamp) -> [Effect] {
    begin(at: time)
    precondition(!request.items.isEmpty, "\(id) requests no item")
    insert(id, request, .waiting)
    noteContext(of: id, request.context)
    newcomer = Newcomer(id: id, limits: request.limits)
    advance(id)
    newcomer = nil
    if accesses.find(id)?.isWaiting == true, request.limits != .never { accesses[id].limits = request.limits }
    return finish()
  }

  /// The accessor has returned.
  ///
  /// `outcomes` has one entry per item, or is empty when the items weren't inspected.
  package mutating func accessReleased(
    _ id: AccessID, outcomes: [ItemOutcome] = [], at time: Timestamp
  ) -> [Effect] {
    begin(at: time)
    precondition(accesses[id].phase == .granted, "\(id) is released while \(accesses[id].phase)")
    precondition(outcomes.isEmpty || outcomes.count == accesses[id].items.count, "\(id): an outcome for each item")
    noteEndOfWrite(id)
    tellOutcomes(of: id, outcomes)
    end(id)
    return finish()
  }

  /// The requester gave up.
  ///
  /// An access that is granted already runs to its end (C-161).
  package mutating func accessCancelled(_ id: AccessID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    if let access = accesses.find(id), access.isWaiting { fail(id, .cancelled) }
    return finish()
  }
}

extension FileAccessArbiter {
  /// Enters a new access, and its claims behind those that are there.
  mutating func insert(_ id: AccessID, _ request: AccessRequest, _ phase: Access.Phase) {
    lastSequence += 1
    let lineage = request.context.map { [$0] + outerContexts(of: $0) } ?? []
    var items = ShortList<Access.Item>()
    items.reserveCapacity(request.items.count)
    for (index, item) in request.items.enumerated() {
      let path = currentPath(of: item.path, for: request.ownPresenter)
      var claim = ItemTree.none
      if !request.isPreparation {
        claim = tree.attachClaim(
          access: id, item: Int32(index), mode: LockMode(item.access), sequence: lastSequence,
          isHeld: phase == .granted, at: path)
      }
      var marks: Access.Item.Marks = path == item.path ? [] : .moved
      if path.isAlias { marks.insert(.alias) }
      items.append(Access.Item(claim: claim, access: item.access, marks: marks))
    }
    accesses.insert(Access(id, request, sequence: lastSequence, items, lineage: lineage, phase, at: now))
    if request.isPreparation {
      accesses[id].preparedPaths = request.items.map { currentPath(of: $0.path, for: request.ownPresenter) }
    }
    clients[request.client].references += 1
    for own in accesses[id].waitingPresenters where presenters.contains(own) { presenters[own].ownAccesses.append(id) }
  }

  private func outerContexts(of context: ExecutionContext) -> [ExecutionContext] {
    switch context {
    case .access(let outer): accesses.find(outer)?.lineage ?? []
    case .message: []
    }
  }

  /// Enters a new access into the surroundings it was requested in.
  mutating func noteContext(of id: AccessID, _ context: ExecutionContext?) {
    if case .message(let outer) = context { noteBegun(outer) }
    switch context {
    case .access(let outer) where accesses.contains(outer): accesses[outer].children.append(id)
    case .message(let outer) where messages.contains(outer): messages[outer].children.append(id)
    case .access(let outer): if let count = outlivedContexts[outer] { outlivedContexts[outer] = count + 1 }
    case .message, nil: break
    }
  }

  private mutating func leaveContext(of id: AccessID) {
    switch accesses[id].lineage.first {
    case .access(let outer) where accesses.contains(outer): accesses[outer].children.removeAll { $0 == id }
    case .message(let outer) where messages.contains(outer): messages[outer].children.removeAll { $0 == id }
    case .access(let outer):
      guard let count = outlivedContexts[outer] else { break }
      outlivedContexts[outer] = count > 1 ? count - 1 : nil
    case .message, nil: break
    }
  }

  /// Ends a waiting access without a grant.
  mutating func fail(_ id: AccessID, _ failure: Failure) {
    assert(accesses[id].isWaiting || has(.victimThatHolds), "\(id) fails while it is granted")
    effects.append(.fail(id, failure))
    end(id)
  }

  /// Takes an access out of everything, and lets those behind it go on.
  mutating func end(_ id: AccessID) { wake(leave(id)) }

  /// Removes an access from everything: claims, messages, debts, timers.
  ///
  /// - Returns: The accesses that slept until its end: behind it, or inside of it until a callback above ends, of which
  ///   they're free now.
  mutating func leave(_ id: AccessID) -> [AccessID] {
    withdrawQuestions(of: id)
    disarmTimer(of: id)
    noteReplacement(by: id)
    let cancelled = has(.cancelledKeepsClaim) && accesses[id].isWaiting
    if !cancelled { releaseClaims(of: id) }
    payDebts(of: id)
    leaveContext(of: id)
    unpark(id)
    var access = accesses.remove(id)
    defer { if let spare = access.takeDetails() { keep(spare) } }
    for presenter in access.heldMoves where presenters.contains(presenter) { pump(presenter) }
    if !access.children.isEmpty { outlivedContexts[id] = access.children.count }
    if case .delegated = access.items[0].access { delegationCount -= 1 }
    clients[access.client].references -= 1
    for own in access.waitingPresenters where presenters.contains(own) {
      presenters[own].ownAccesses.removeAll { $0 == id }
      dropUselessDetails(ofPresenter: presenters.present(own))
    }
    if let own = access.ownPresenter, presenters.contains(own) {
      if access.phase == .granted, presenters[own].node == nil, !presenters[own].isRemoved {
        effects.append(.locatePresenter(own))
      }
    }
    suspectOwnAccesses(above: access.lineage)
    for child in access.children {
      for own in accesses.find(child)?.waitingPresenters ?? [] { suspectOwnAccesses(of: own) }
    }
    for waiter in access.parked where accesses.find(waiter)?.parkedOn == id { accesses[waiter].parkedOn = nil }
    if has(.lostWakeUp) { return [] }
    if access.children.isEmpty { return access.parked }
    return access.parked + descendants(of: access.children).filter { accesses[$0].phase == .ready }
  }

  /// Lets accesses check again whether they can go on, in order of request.
  mutating func wake(_ sleepers: [AccessID]) {
    if sleepers.isEmpty { return }
    for id in sleepers.filter(accesses.contains).sorted(by: { sequence($0) < sequence($1) }) { advance(id) }
  }

  private mutating func releaseClaims(of id: AccessID) {
    for former in accesses[id].formerClaims { tree.detachClaim(former.claim) }
    for item in accesses[id].items where item.claim != ItemTree.none { tree.detachClaim(item.claim) }
  }

  /// Accesses that still wait for a path that this access deleted or replaced learn so with their grant.
  private mutating func noteReplacement(by id: AccessID) {
    guard accesses[id].phase == .granted else { return }
    var seen: Set<ItemTree.NodeIndex> = []
    for item in accesses[id].items {
      guard case .write(let intent) = item.access, intent == .deleting || intent == .replacing,
        item.claim != ItemTree.none, seen.insert(tree.claims[item.claim].node).inserted
      else { continue }
      var waiters: [(AccessID, Int32)] = []
      _ = tree.forEachClaim(at: tree.claims[item.claim].node) { _, other in
        if other.access != id, accesses[other.access].isWaiting { waiters.append((other.access, other.item)) }
        return true
      }
      for (waiter, index) in waiters { accesses[waiter].items[Int(index)].marks.insert(.replaced) }
    }
  }

  /// Where an item of an access is now.
  func path(ofItem index: Int, of access: Access) -> ItemPath {
    let claim = access.items[index].claim
    return claim == ItemTree.none ? access.preparedPaths[index] : tree.path(of: tree.claims[claim].node)
  }

  /// Where the items of an access are now.
  func paths(of access: Access) -> [ItemPath] { access.items.indices.map { path(ofItem: $0, of: access) } }

  private func sequence(_ id: AccessID) -> UInt64 { accesses.find(id)?.sequence ?? 0 }
}
