// Cycles are looked for when an edge appears, never later. First resolve, then fail.
//
// 1. Same lineage: a request does not wait for the accesses it is nested in        → `areExempt`
// 2. Serving: a presenter whose callback waits is still asked                      → `+Mailboxes`
// 3. Own presenter: never asked about its own access                              → `isOwn`
// 4. Save priority: a presenter's own access passes those who wait for its save    → `grantSavePriority`
// 5. Lineage priority and soft edges: who would wait for itself passes the queue   → `passQueue`
// 6. Otherwise one waiting access of the cycle fails                              → `victim`

extension FileAccessArbiter {
  /// Looks at every access that got a new reason to wait in this event, until no cycle is left.
  mutating func resolveDeadlocks() {
    var next = 0
    while next < suspects.count {
      let suspect = suspects[next]
      next += 1
      while mayBeInCycle(suspect), let cycle = cycle(through: suspect) {
        if !resolve(cycle) { failVictim(of: cycle) }
      }
    }
    suspects = []
  }

  /// Nobody waits for the newest access while it queues, unless it's nested in something or went ahead of somebody.
  private func mayBeInCycle(_ id: AccessID) -> Bool {
    guard let access = accesses.find(id), access.isWaiting, !has(.cycleNotChecked) else { return false }
    return access.phase != .waiting || access.sequence != lastSequence || !access.lineage.isEmpty
      || !access.overtakes.isEmpty
  }

  /// Lets one member of the cycle pass those in the queue that wait for it, if that leaves no cycle.
  private mutating func resolve(_ cycle: [WaitNode]) -> Bool {
    let candidates = cycle.indices.compactMap { index -> AccessID? in
      guard case .access(let waiter) = cycle[index], case .access(let holder) = cycle[(index + 1) % cycle.count],
        accesses[waiter].isWaiting, isSoft(waiter, behind: holder)
      else { return nil }
      return waiter
    }
    let nested = candidates.filter { !accesses[$0].lineage.isEmpty }
    let others = candidates.filter { accesses[$0].lineage.isEmpty }
    return (nested + others).contains { passQueue($0) }
  }

  /// Whether `waiter` waits for `other` only because of the order of arrival.
  private func isSoft(_ waiter: AccessID, behind other: AccessID) -> Bool {
    accesses[other].isWaiting && !accesses[other].overtakes.contains(waiter)
  }

  /// Places an access before everybody in its queue who, directly or not, waits for it.
  private mutating func passQueue(_ id: AccessID) -> Bool {
    let before = accesses[id].overtakes
    var passed: [AccessID] = []
    for blocker in queuedBlockers(of: id)
    where chainOfWaits(from: .access(blocker), to: { $0 == .access(id) }) != nil { passed.append(blocker) }
    accesses[id].overtakes += passed
    if passed.isEmpty || cycle(through: id) != nil {
      accesses[id].overtakes = before
      return false
    }
    suspects += passed
    unpark(id)
    advance(id)
    return true
  }

  private func queuedBlockers(of id: AccessID) -> [AccessID] {
    var found: Set<AccessID> = []
    _ = forEachBlocker(of: id) { blocker in
      if isSoft(id, behind: blocker) { found.insert(blocker) }
      return true
    }
    return found.sorted()
  }

  private mutating func failVictim(of cycle: [WaitNode]) {
    var waiting: [AccessID] = []
    var holding: [AccessID] = []
    for case .access(let id) in cycle {
      if accesses[id].isWaiting { waiting.append(id) } else { holding.append(id) }
    }
    guard let victim = (has(.victimThatHolds) ? holding.first : nil) ?? waiting.min(by: isBetterVictim) else {
      preconditionFailure("a cycle in which nobody waits: \(cycle)")
    }
    let start = cycle.firstIndex(of: .access(victim)) ?? 0
    let members = (cycle[start...] + cycle[..<start]).map(member)
    fail(victim, .deadlock(members))
  }

  /// The victim has done least: not on the main thread, fewest accesses around it, a reader, the youngest.
  private func isBetterVictim(_ left: AccessID, _ right: AccessID) -> Bool {
    func cost(_ id: AccessID) -> (Int, Int, Int, UInt64) {
      let access = accesses[id]
      let isMain = access.request.isOnMainThread && access.request.blocksThread
      let held = access.lineage.count { context in
        if case .access(let outer) = context { return accesses.find(outer)?.phase == .granted }
        return false
      }
      let writes = access.items.contains { $0.access.isWrite }
      return (isMain ? 1 : 0, held, writes ? 1 : 0, UInt64.max - access.sequence)
    }
    return cost(left) < cost(right)
  }
}

// MARK: - Save priority

extension FileAccessArbiter {
  /// While a presenter owes a save, its own accesses pass those who wait for that save, and nobody else (C-119).
  mutating func grantSavePriority(to id: AccessID) {
    guard let own = accesses[id].request.ownPresenter, let presenter = presenters.find(own), !has(.savePriorityIgnored)
    else { return }
    let owed = savesOwed(by: presenter, above: id)
    if owed.isEmpty { return }
    for blocker in queuedBlockers(of: id) {
      let waitsForSave = chainOfWaits(from: .access(blocker)) { node in
        if case .message(let message) = node { return owed.contains(message) }
        return false
      }
      if waitsForSave != nil { accesses[id].overtakes.append(blocker) }
    }
  }

  /// The saves that may need `id`: not those served above the callback that waits for it, for they end before it.
  private func savesOwed(by presenter: Presenter, above id: AccessID) -> Set<MessageID> {
    let callback = presenter.running.lastIndex { accesses[id].lineage.contains(.message($0)) }
    let candidates = callback.map { Array(presenter.running[...$0]) } ?? presenter.running + presenter.pending
    return Set(candidates.filter { messages[$0].kind == .saveChanges && messages[$0].awaitingAccess != nil })
  }

  /// A presenter was just asked to save: its accesses that wait already get their priority as well.
  mutating func giveSavePriority(for presenter: PresenterID) {
    for id in presenters[presenter].ownAccesses where accesses[id].isWaiting {
      let before = accesses[id].overtakes.count
      grantSavePriority(to: id)
      if accesses[id].overtakes.count > before {
        unpark(id)
        advance(id)
      }
    }
  }
}
