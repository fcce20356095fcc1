// What must hold between events, one message per property.

extension FileAccessArbiter {
  /// The properties that don't hold; empty when all is well.
  /// - Complexity: quadratic in the number of accesses: for tests and simulation.
  package func invariants() -> [String] {
    assert(effects.isEmpty && suspects.isEmpty, "an event is under way")
    var broken: [String] = []
    let locked = lockedItems()
    checkGrants(locked, &broken)
    checkWaiters(&broken)
    checkCycles(&broken)
    checkOrder(locked, &broken)
    checkMailboxes(&broken)
    checkDebts(&broken)
    checkContexts(&broken)
    checkTree(&broken)
    return broken
  }

  /// Whether nothing is left of anybody but registered presenters: true when all accesses have ended and all is delivered.
  package var isQuiescent: Bool {
    accesses.isEmpty && messages.isEmpty && tree.claims.count == 0
      && presenters.sortedKeys.allSatisfy { presenters[$0].running.isEmpty && presenters[$0].pending.isEmpty }
  }

  private func checkGrants(_ locked: [AccessID: [LockedItem]], _ broken: inout [String]) {
    for id in accesses.sortedKeys where accesses[id].phase == .granted && !accesses[id].traits.contains(.overlapsByMove)
    {
      for other in independentConflicts(of: id, locked) where accesses[other].phase == .granted && other > id {
        if !accesses[other].traits.contains(.overlapsByMove) {
          broken.append("\(id) and \(other) conflict and are both granted")
        }
      }
    }
  }

  private struct LockedItem {
    /// The outermost package around the item, or the item.
    let unit: ItemPath
    let mode: LockMode
  }

  /// What each access claims, without its former places.
  private func lockedItems() -> [AccessID: [LockedItem]] {
    var result: [AccessID: [LockedItem]] = [:]
    for id in accesses.sortedKeys where !accesses[id].isPreparation {
      result[id] = zip(paths(of: accesses[id]), accesses[id].items).map { path, item in
        LockedItem(unit: unit(of: path), mode: LockMode(item.access))
      }
    }
    return result
  }

  /// Every access that conflicts with `id`, found without the tree's short cuts: all pairs of items are compared.
  private func independentConflicts(of id: AccessID, _ locked: [AccessID: [LockedItem]]) -> [AccessID] {
    guard let mine = locked[id] else { return [] }
    return accesses.sortedKeys.filter { other in
      guard other != id, let theirs = locked[other], !areExempt(id, other) else { return false }
      return mine.contains { left in theirs.contains { right in itemsConflict(left, right) } }
    }
  }

  private func itemsConflict(_ left: LockedItem, _ right: LockedItem) -> Bool {
    let relation: ItemRelation
    if left.unit == right.unit {
      relation = .same
    } else if left.unit.contains(right.unit) {
      relation = .firstContainsSecond
    } else if right.unit.contains(left.unit) {
      relation = .secondContainsFirst
    } else {
      return false
    }
    return ConflictRules.conflict(left.mode, right.mode, relation)
  }

  /// The outermost package on the path, or the path.
  private func unit(of path: ItemPath) -> ItemPath {
    var end = 0
    while end < path.bytes.count {
      end = path.endOfComponent(from: end + 1)
      let prefix = ItemPath(canonical: Array(path.bytes[..<end]))
      if tree.isPackagePath(prefix) { return prefix }
    }
    return path
  }

  private func checkWaiters(_ broken: inout [String]) {
    for id in accesses.sortedKeys {
      let access = accesses[id]
      switch access.phase {
      case .granted:
        if access.parkedOn != nil { broken.append("\(id) is granted and parked") }
        if access.owesAnswers { broken.append("\(id) is granted before all presenters have answered") }
      case .asking:
        if !access.owesAnswers { broken.append("\(id) waits for answers, and nobody owes one") }
      case .waiting: if access.parkedOn == nil { broken.append("\(id) waits for nothing") }
      case .ready:
        if access.parkedOn == nil, callbackAbove(id) == nil { broken.append("\(id) is ready and waits for nothing") }
      }
      if let blocker = access.parkedOn {
        if accesses.find(blocker)?.parked.contains(id) != true {
          broken.append("\(id) is parked on \(blocker) in vain")
        }
        if blocker == id { broken.append("\(id) is parked on itself") }
        if !isBlocked(id, by: blocker) { broken.append("\(id) is parked on \(blocker), which is not in its way") }
      }
      for negotiation in access.negotiations {
        guard let message = negotiation.outstanding else { continue }
        if messages.find(message)?.awaitingAccess != id { broken.append("\(id) waits for \(message), which is gone") }
      }
    }
  }

  private func isBlocked(_ id: AccessID, by other: AccessID) -> Bool {
    !forEachBlocker(of: id) { $0 != other }
  }

  private func checkCycles(_ broken: inout [String]) {
    for id in accesses.sortedKeys where accesses[id].isWaiting {
      if let cycle = cycle(through: id) { broken.append("a deadlock survived: \(cycle)") }
    }
  }

  /// Nobody is passed over but to break a deadlock, by save priority, or because an announced move led there.
  private func checkOrder(_ locked: [AccessID: [LockedItem]], _ broken: inout [String]) {
    for id in accesses.sortedKeys where accesses[id].phase == .waiting {
      let waiter = accesses[id]
      if waiter.items.contains(where: \.wasMoved) { continue }
      for other in independentConflicts(of: id, locked) {
        let winner = accesses[other]
        if winner.phase == .granted, winner.sequence > waiter.sequence, !winner.overtakes.contains(id),
          winner.formerClaims.isEmpty, !winner.items.contains(where: \.wasMoved),
          !winner.traits.contains(.overlapsByMove)
        {
          broken.append("\(other) was granted before \(id), which was first")
        }
      }
    }
  }

  private func checkMailboxes(_ broken: inout [String]) {
    for id in presenters.sortedKeys {
      let presenter = presenters[id]
      if presenter.running.isEmpty, !presenter.pending.isEmpty { broken.append("\(id) is free and not delivered to") }
      if presenter.running.count > FileAccessArbiter.callbackNestingMax { broken.append("\(id) is nested too deep") }
      for (depth, message) in presenter.running.enumerated() {
        // A callback may outlive the one that it was nested in, so a re-entrant one may be found at the bottom.
        let state = messages.find(message)?.state
        if state != .running(isReentrant: true), depth > 0 || state != .running(isReentrant: false) {
          broken.append("\(message) runs at depth \(depth) and is \(state.map { "\($0)" } ?? "gone")")
        }
        if depth > 0, messages.find(message)?.kind.mustBeAnswered == false {
          broken.append("\(message) is told, not asked, and runs inside another callback")
        }
      }
      for message in presenter.running + presenter.pending {
        guard let kind = messages.find(message)?.kind else { continue }
        if !presenter.callbacks.contains(kind.requiredCallback) {
          broken.append("\(id) is sent \(kind.callbackName), which it didn't declare")
        }
        if let origin = messages.find(message)?.origin, isOwnMessage(kind, origin, presenter) {
          broken.append("\(id) is sent \(kind.callbackName) about its own access")
        }
      }
    }
  }

  private func isOwnMessage(_ kind: Message.Kind, _ origin: Message.Origin, _ presenter: Presenter) -> Bool {
    switch kind {
    case .itemVersion, .subitemVersion, .reacquire: false
    default: origin.purpose == presenter.purpose
    }
  }

  private func checkDebts(_ broken: inout [String]) {
    var owed: [PresenterID: Int] = [:]
    for id in accesses.sortedKeys {
      for debt in accesses[id].debts { owed[debt.presenter, default: 0] += 1 }
    }
    for id in presenters.sortedKeys where presenters[id].reacquirersOwed != owed[id, default: 0] {
      broken.append("\(id) is owed \(owed[id, default: 0]) reacquirers, not \(presenters[id].reacquirersOwed)")
    }
    var seen: Set<MessageID> = []
    for id in messages.sortedKeys {
      guard case .reacquire(let message) = messages[id].kind else { continue }
      if !seen.insert(message).inserted { broken.append("the reacquirer of \(message) runs twice") }
    }
  }

  /// Who was requested inside of something that lives is known there, or deadlocks through it would be missed.
  private func checkContexts(_ broken: inout [String]) {
    for id in accesses.sortedKeys {
      guard let context = accesses[id].lineage.first else { continue }
      let isAlive =
        switch context {
        case .access(let outer): accesses.contains(outer)
        case .message(let outer): messages.contains(outer)
        }
      if isAlive, !children(of: context).contains(id) { broken.append("\(id) is missing in \(context)") }
    }
  }

  private func checkTree(_ broken: inout [String]) {
    let claimed = accesses.sortedKeys.reduce(0) { sum, id in
      sum + accesses[id].formerClaims.count + accesses[id].items.count { $0.claim != ItemTree.none }
    }
    if tree.claims.count != claimed { broken.append("\(tree.claims.count) claims in the tree, \(claimed) in accesses") }
    let located = presenters.sortedKeys.count { presenters[$0].node != nil }
    if Int(tree.nodes[tree.root].presenterCountInSubtree) != located {
      broken.append("presenters in the tree are miscounted")
    }
    if Int(tree.nodes[tree.root].claimCountInSubtree) != tree.claims.count {
      broken.append("claims in the tree are miscounted")
    }
    for node in tree.nodes.indices {
      let record = tree.nodes[node]
      if node != tree.root, record.claimCountInSubtree == 0, record.presenterCountInSubtree == 0 {
        broken.append("'\(tree.path(of: node))' is of no use and still there")
      }
      if tree.journal.isKept, !record.isInterestDirty, record.journalledInterest != record.interest {
        broken.append("'\(tree.path(of: node))' has interests that the journal doesn't know")
      }
    }
  }
}
