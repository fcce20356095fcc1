// Cycles are looked for when an edge appears, never later. First resolve, then fail.
//
// 1. Same lineage: a request does not wait for the accesses it is nested in        → `areExempt`
// 2. Serving: a presenter whose callback waits is still asked                      → `+Mailboxes`
// 3. Own presenter: never asked about its own access                              → `isOwn`
// 4. Save priority: a presenter's own access passes those who wait for its save    → `grantSavePriority`
// 5. Lineage priority and soft edges: whom only the order keeps passes the queue  → `+QueueOrder`
// 6. A question that was kept from the middle of a save is put                     → `serveDespiteSave`
// 7. Otherwise one waiting access of the cycle fails                              → `victim`

extension FileAccessArbiter {
  /// Looks at every access that got a new reason to wait in this event, until no cycle is left.
  mutating func resolveDeadlocks() {
    var next = 0
    while next < suspects.count {
      let suspect = suspects[next]
      next += 1
      while mayBeInCycle(suspect), let cycle = cycle(through: suspect) {
        if !resolve(cycle), !serveDespiteSave(cycle) { failVictim(of: cycle) }
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

  /// Changes the order of the queues so that whom nothing else keeps can go on.
  private mutating func resolve(_ cycle: [WaitNode]) -> Bool {
    let passes = passesNeeded(for: cycle)
    for (id, passed) in passes {
      accesses[id].overtakes += passed
      for other in passed { accesses[other].traits.insert(.isOvertaken) }
      suspects += passed
    }
    for (id, _) in passes {
      unpark(id)
      suspects.append(id)
      advance(id)
    }
    return !passes.isEmpty
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
    guard let victim = (has(.victimThatHolds) ? holding.first : nil) ?? cheapest(of: waiting) else {
      preconditionFailure("a cycle in which nobody waits: \(cycle)")
    }
    let start = cycle.firstIndex(of: .access(victim)) ?? 0
    let members = (cycle[start...] + cycle[..<start]).map(member)
    fail(victim, .deadlock(members))
  }

  /// The victim has done least: not on the main thread, fewest accesses around it, a reader, the youngest.
  private func cheapest(of candidates: [AccessID]) -> AccessID? {
    func cost(_ id: AccessID) -> (Int, Int, Int, UInt64) {
      let access = accesses.present(id)
      let isMain = accesses[at: access].traits.isSuperset(of: [.isOnMainThread, .blocksThread])
      let held = accesses[at: access].lineage.count { context in
        guard case .access(let outer) = context else { return false }
        let index = accesses.index(of: outer)
        return index != Table<Access>.none && accesses[at: index].phase == .granted
      }
      let writes = accesses[at: access].items.contains { $0.access.isWrite }
      return (isMain ? 1 : 0, held, writes ? 1 : 0, UInt64.max - accesses[at: access].sequence)
    }
    return candidates.map { (id: $0, cost: cost($0)) }.min { $0.cost < $1.cost }?.id
  }
}

// MARK: - Save priority

extension FileAccessArbiter {
  /// While a presenter owes a save, its own accesses pass those who wait for that save, and nobody else (C-119).
  mutating func grantSavePriority(to id: AccessID) {
    guard let own = accesses[id].ownPresenter, let presenter = presenters.find(own), !has(.savePriorityIgnored)
    else { return }
    let owed = savesOwed(by: presenter, above: id)
    if owed.isEmpty { return }
    for blocker in queuedBlockers(of: id) {
      let waitsForSave = chainOfWaits(from: .access(blocker)) { node in
        if case .message(let message) = node { return owed.contains(message) }
        return false
      }
      if waitsForSave == nil { continue }
      accesses[id].overtakes.append(blocker)
      accesses[blocker].traits.insert(.isOvertaken)
    }
  }

  /// The saves that may need `id`: not those served above the callback that waits for it, for they end before it.
  private func savesOwed(by presenter: Presenter, above id: AccessID) -> Set<MessageID> {
    let callback = presenter.running.lastIndex { accesses[id].lineage.contains(.message($0)) }
    let candidates = callback.map { Array(presenter.running[...$0]) } ?? presenter.running + presenter.pending
    return Set(candidates.filter { messages[$0].kind == .saveChanges && messages[$0].awaitingAccess != nil })
  }

  /// A presenter was just asked to save: its accesses that wait already get their priority as well.
  ///
  /// Unlike those requested from now on, they need not be part of the save. So none gets a priority that makes a deadlock.
  mutating func giveSavePriority(for presenter: PresenterID) {
    for id in presenters[presenter].ownAccesses where accesses[id].isWaiting {
      let before = accesses[id].overtakes
      grantSavePriority(to: id)
      if accesses[id].overtakes.count == before.count { continue }
      if cycle(through: id) != nil {
        accesses[id].overtakes = before
        continue
      }
      unpark(id)
      advance(id)
    }
  }
}
