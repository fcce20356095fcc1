internal import CompactContainers

// Cycles are searched for when an edge appears, never later. First resolve, then fail.
//
// 1. Same lineage: a request does not wait for the accesses it is nested in        → `areExempt`
// 2. Serving: a presenter whose callback waits is still asked                      → `+Mailboxes`
// 3. Own presenter: never asked about its own access                              → `isOwn`
// 4. Save priority: an access of an asked presenter belongs to the question, and passes the asker → `+OwnAccesses`
// 5. Lineage priority and soft edges: an access that only the order keeps passes the queue → `+QueueOrder`
// 6. A presenter that waits for its own access made elsewhere is asked meanwhile   → `serveMeanwhile`
// 7. A question that was kept from the middle of a save is put                     → `serveDespiteSave`
// 8. Otherwise one waiting access of the cycle fails                              → `victim`
//
// Steps 1 to 6 are taken for cycles that are merely possible, too; the others only for likely ones, see `+OwnAccesses`.
// A cycle fails no access if it goes through a question which its access goes on without after a while, see
// `+Presumptions`.

extension FileAccessArbiter {
  /// Examines every access that got a new reason to wait in this event, until no cycle is left.
  mutating func resolveDeadlocks() {
    var next = 0
    // Their turn comes last: the end of another cycle may end theirs as well.
    var stuck: [AccessID] = []
    var findings = CycleFindings()
    while true {
      if next < suspects.count {
        findings.search(suspects[next...], self)
        let suspect = suspects[next]
        next += 1
        if findings.note(suspect), !endCycles(through: suspect, &findings) { stuck.append(suspect) }
      } else if let suspect = stuck.popLast() {
        findings = CycleFindings()
        failCycle(through: suspect)
      } else {
        break
      }
    }
    if !suspects.isEmpty { suspects.removeAll(keepingCapacity: suspects.capacity <= 64) }
  }

  /// - Returns: Whether there's no cycle left that has to be ended by changing a decision, or by failing an access.
  private mutating func endCycles(through suspect: AccessID, _ findings: inout CycleFindings) -> Bool {
    while !findings.excludes(suspect, .possible), mayBeInCycle(suspect), let cycle = cycle(through: suspect, .possible)
    {
      if resolve(cycle, .possible) || serveMeanwhile(cycle, despiteSave: false) {
        findings = CycleFindings()
        continue
      }
      if !messages.isEmpty { return endLikelyCycles(through: suspect, &findings) }
      findings = CycleFindings()
      // No question has been asked: there's nothing to presume, and no presenter to be asked meanwhile.
      if !takeBackPass(cycle) { failVictim(of: cycle) }
    }
    return true
  }

  /// The same for likely cycles, which are possible, too.
  private mutating func endLikelyCycles(through suspect: AccessID, _ findings: inout CycleFindings) -> Bool {
    while !findings.excludes(suspect, .likely), mayBeInCycle(suspect), let cycle = cycle(through: suspect, .likely) {
      if endWithoutVictim(cycle, .likely) {
        findings = CycleFindings()
        continue
      }
      guard let lasting = self.cycle(through: suspect, .lasting) else { return true }
      if !endWithoutVictim(lasting, .lasting) { return false }
      findings = CycleFindings()
    }
    return true
  }

  private mutating func failCycle(through suspect: AccessID) {
    var findings = CycleFindings()
    if endLikelyCycles(through: suspect, &findings) { return }
    guard let cycle = cycle(through: suspect, .lasting) else { return }
    if !serveBeside(cycle), !takeBackPass(cycle) { failVictim(of: cycle) }
    suspects.append(suspect)
  }

  /// Puts a question of an access in a cycle that is in another cycle as well, which this ends.
  ///
  /// The other one is found only when the cycle is none any more. Until then it may seem that no change of the order helps.
  private mutating func serveBeside(_ cycle: [WaitNode]) -> Bool {
    for case .access(let id) in cycle {
      for question in accesses[id].negotiations.compactMap(\.outstanding) where messages[question].state == .pending {
        let chain = chainOfWaits(from: .message(question), .likely) { $0 == .access(id) }
        if let chain, serveMeanwhile([.access(id)] + chain.dropLast(), despiteSave: false) { return true }
      }
    }
    return false
  }

  private mutating func endWithoutVictim(_ cycle: [WaitNode], _ presumption: Presumption) -> Bool {
    resolve(cycle, presumption) || serveMeanwhile(cycle, despiteSave: false) || serveDespiteSave(cycle)
      || serveMeanwhile(cycle, despiteSave: true)
  }

  /// No access waits for the newest one while it queues, unless it's nested in something or went ahead of another.
  private func mayBeInCycle(_ id: AccessID) -> Bool {
    let access = accesses.index(of: id)
    guard access != Table<Access>.none, accesses[at: access].isWaiting, !has(.cycleNotChecked) else { return false }
    let phase = accesses[at: access].phase
    let hasOvertaken = !accesses[at: access].overtakes.isEmpty
    if phase == .asking, !hasOvertaken, waitsOnlyForCallbacks(access), callbackAbove(id) == nil { return false }
    return phase != .waiting || accesses[at: access].sequence != lastSequence
      || !accesses[at: access].lineage.isEmpty || hasOvertaken || isPresumablyAwaited(id)
  }

  /// Whether an access waits only for callbacks that have begun and have requested nothing, so that no code waits in
  /// them.
  private func waitsOnlyForCallbacks(_ access: Int32) -> Bool {
    if accesses[at: access].traits.contains(.isOvertaken) { return false }
    // Others may be granted already where it was moved.
    if accesses[at: access].items.contains(where: { $0.marks.contains(.moved) }) { return false }
    return accesses[at: access].negotiations.allSatisfy { negotiation in
      guard let id = negotiation.outstanding else { return true }
      let message = messages.index(of: id)
      if message == Table<Message>.none { return true }
      if messages[at: message].state == .pending { return isBusyWithoutWaiting(messages[at: message].presenter) }
      return messages[at: message].children.isEmpty && !mayWait(messages[at: message])
    }
  }

  /// Whether a presenter has one callback under way, which waits for nothing: so its next message doesn't, either.
  private func isBusyWithoutWaiting(_ presenter: PresenterID) -> Bool {
    let presenter = presenters.present(presenter)
    guard presenters[at: presenter].ownAccesses.isEmpty, presenters[at: presenter].running.count == 1 else {
      return false
    }
    return messages[presenters[at: presenter].running[0]].children.isEmpty
  }

  /// Changes the order of the queues so that accesses can go on that nothing else keeps.
  private mutating func resolve(_ cycle: [WaitNode], _ presumption: Presumption) -> Bool {
    let passes = passes(endingAll: cycle, presumption).passes
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

  /// Lets an access go ahead of one that passed it before the reason against the pass was known: that it would ask the
  /// presenter of the other, for instance.
  ///
  /// Not if they wait for each other then, and no pass helps. An access that has gone ahead in this way doesn't give
  /// way in it, so no two take turns at this for ever.
  private mutating func takeBackPass(_ cycle: [WaitNode]) -> Bool {
    var passes: [(other: AccessID, own: AccessID)] = []
    var members: Set<AccessID> = []
    for case .access(let other) in cycle {
      let access = accesses.present(other)
      // Few have passed anybody, however long the cycle is.
      let overtakes = accesses[at: access].overtakes
      if overtakes.isEmpty || !accesses[at: access].isWaiting || accesses[at: access].traits.contains(.tookBackPass) {
        continue
      }
      if members.isEmpty { for case .access(let id) in cycle { members.insert(id) } }
      for own in overtakes where members.contains(own) && accesses[own].isWaiting { passes.append((other, own)) }
    }
    // First those on which another access may wait already.
    for isAwaited in [true, false] {
      for (other, own) in passes where isPresumablyAwaited(own) == isAwaited {
        if takeBackPass(of: other, over: own) { return true }
      }
    }
    return false
  }

  private mutating func takeBackPass(of other: AccessID, over own: AccessID) -> Bool {
    var others = [other]
    var former = [(own, accesses[own].overtakes), (other, accesses[other].overtakes)]
    reversePass(of: other, over: own)
    if !isEndable(other, own) {
      // Others that passed it may be in its way as well.
      let passers = passers(of: own)
      others += passers
      former += passers.map { ($0, accesses[$0].overtakes) }
      for passer in passers { reversePass(of: passer, over: own) }
      if passers.isEmpty || !isEndable(other, own) {
        for (id, overtakes) in former { accesses[id].overtakes = overtakes }
        return false
      }
    }
    accesses[own].traits.insert(.tookBackPass)
    suspects += [own] + others
    for id in [own] + others {
      unpark(id)
      advance(id)
    }
    return true
  }

  private mutating func reversePass(of other: AccessID, over own: AccessID) {
    accesses[other].overtakes.removeAll { $0 == own }
    accesses[own].overtakes.append(other)
    accesses[other].traits.insert(.isOvertaken)
  }

  /// The waiting accesses that went ahead of an access and are in its way.
  private func passers(of own: AccessID) -> [AccessID] {
    var found: Set<AccessID> = []
    _ = forEachBlocker(of: own) { id in
      if accesses[id].isWaiting, accesses[id].overtakes.contains(own), !accesses[id].traits.contains(.tookBackPass) {
        found.insert(id)
      }
      return true
    }
    return found.sorted()
  }

  /// Whether two accesses don't wait for each other, or passes end that.
  private func isEndable(_ other: AccessID, _ own: AccessID) -> Bool {
    guard let cycle = chainOfWaits(from: .access(own), .lasting, to: { $0 == .access(other) }) else { return true }
    return passes(endingAll: cycle, .lasting).isEnough
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
