internal import CompactContainers

// The conditions that must hold between events, one message per property.

extension FileAccessArbiter {
  /// The properties that don't hold; empty when all is well.
  /// - Complexity: quadratic in the number of accesses: for tests and simulation.
  package func invariants() -> [String] {
    assert(effects.isEmpty && suspects.isEmpty, "an event is under way")
    var broken: [String] = []
    let ids = accesses.sortedKeys
    let locked = ids.map(lock)
    checkGrants(locked, &broken)
    checkWaiters(ids, &broken)
    checkCycles(ids, &broken)
    checkOrder(locked, &broken)
    checkMailboxes(&broken)
    checkDebts(ids, &broken)
    checkContexts(ids, &broken)
    checkOutlivedContexts(ids, &broken)
    checkTree(ids, &broken)
    return broken
  }

  /// Whether only registered presenters are left: true when all accesses have ended and all is delivered.
  package var isQuiescent: Bool {
    accesses.isEmpty && messages.isEmpty && tree.claims.count == 0
      && presenters.sortedKeys.allSatisfy { presenters[$0].unanswered.isEmpty && presenters[$0].pending.isEmpty }
  }

  /// The claims of an access, and the properties that decide whether another may be granted beside it.
  private struct Lock {
    struct Item {
      /// The outermost package around the item, or the item.
      let unit: ItemPath
      let mode: LockMode
    }

    let id: AccessID
    let sequence: UInt64
    let phase: Access.Phase
    /// An announced move put it where it is, or something it was granted beside.
    let isMoved: Bool
    let overlaps: Bool
    let wasGrantedElsewhere: Bool
    /// The participant that decides alone, if it's a delegation.
    let delegate: ClientID?
    let client: ClientID
    /// Without its former places.
    let items: [Item]
  }

  private func lock(_ id: AccessID) -> Lock {
    let access = accesses[id]
    let items =
      access.isPreparation
      ? []
      : access.items.indices.map { index in
        Lock.Item(unit: unit(of: path(ofItem: index, of: access)), mode: LockMode(access.items[index].access))
      }
    return Lock(
      id: id, sequence: access.sequence, phase: access.phase, isMoved: access.items.contains(where: \.wasMoved),
      overlaps: access.traits.contains(.overlapsByMove),
      wasGrantedElsewhere: access.traits.contains(.wasGrantedElsewhere),
      delegate: isDelegation(id) ? access.client : nil, client: access.client, items: items)
  }

  private func checkGrants(_ locks: [Lock], _ broken: inout [String]) {
    let granted = locks.filter { $0.phase == .granted && !$0.overlaps }
    for (index, lock) in granted.enumerated() {
      for other in granted[(index + 1)...]
      where independentlyConflict(lock, other) && lock.delegate != other.client && other.delegate != lock.client {
        broken.append("\(lock.id) and \(other.id) conflict and are both granted")
      }
    }
  }

  /// Whether two accesses conflict, found without the tree's short cuts: all pairs of items are compared.
  private func independentlyConflict(_ first: Lock, _ second: Lock) -> Bool {
    first.items.contains { left in second.items.contains { right in itemsConflict(left, right) } }
      && !areExempt(first.id, second.id)
  }

  private func itemsConflict(_ left: Lock.Item, _ right: Lock.Item) -> Bool {
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
    // Only a name with an extension is that of a package; most paths have none.
    if !path.bytes.contains(UInt8(ascii: ".")) { return path }
    var end = 0
    while end < path.bytes.count {
      end = path.endOfComponent(from: end + 1)
      let prefix = ItemPath(canonical: Array(path.bytes[..<end]))
      if tree.isPackagePath(prefix) { return prefix }
    }
    return path
  }

  private func checkWaiters(_ ids: [AccessID], _ broken: inout [String]) {
    for id in ids {
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

  /// Finds a cycle in another way than the search that resolves deadlocks: a node that has been left is never met
  /// again.
  private func checkCycles(_ ids: [AccessID], _ broken: inout [String]) {
    let waiting = ids.filter { accesses[$0].isWaiting }
    if !hasCycle(reachableFrom: waiting) { return }
    let cycles = waiting.compactMap { cycle(through: $0, .lasting) }
    for cycle in cycles { broken.append("a deadlock survived: \(cycle)") }
    if cycles.isEmpty { broken.append("a deadlock survived, and searches don't find it") }
  }

  /// Goes down the graph of waits, each node once; a node that leads to itself is met again while it's being examined.
  private func hasCycle(reachableFrom ids: [AccessID]) -> Bool {
    var isLeft: [WaitNode: Bool] = [:]
    var hasCycle = false
    var stack = ids.map(WaitNode.access)
    while let node = stack.last, !hasCycle {
      if isLeft[node] == nil {
        isLeft[node] = false
        forEachWait(of: node, .lasting) { successor in
          switch isLeft[successor] {
          case nil: stack.append(successor)
          case false?: hasCycle = true
          case true?: break
          }
        }
      } else {
        isLeft[node] = true
        stack.removeLast()
      }
    }
    return hasCycle
  }

  /// No access is passed over but to break a deadlock, by save priority, or because an announced move led there.
  private func checkOrder(_ locks: [Lock], _ broken: inout [String]) {
    for waiter in locks where waiter.phase == .waiting && !waiter.isMoved {
      for winner in locks where winner.phase == .granted && winner.sequence > waiter.sequence {
        let isException = winner.isMoved || winner.overlaps || winner.wasGrantedElsewhere
        let mayPass = isException || accesses[winner.id].overtakes.contains(waiter.id)
        if !mayPass, accesses[winner.id].formerClaims.isEmpty, independentlyConflict(waiter, winner) {
          broken.append("\(winner.id) was granted before \(waiter.id), which was first")
        }
      }
    }
  }

  private func checkMailboxes(_ broken: inout [String]) {
    for id in presenters.sortedKeys {
      let presenter = presenters[id]
      if presenter.running.isEmpty, let first = presenter.pending.first.flatMap(messages.find) {
        let hasQuestion = presenter.pending.contains { messages.find($0)?.kind.mustBeAnswered == true }
        if !isHeldMove(first) || hasQuestion { broken.append("\(id) is free and not delivered to") }
      }
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
      for message in presenter.returned where messages.find(message)?.state != .returned {
        broken.append("\(message) is \(messages.find(message).map { "\($0.state)" } ?? "gone") and counts as returned")
      }
      for message in presenter.unanswered + presenter.pending {
        guard let kind = messages.find(message)?.kind else { continue }
        // A message under way may turn out not to be implemented, and news are then delivered by other callbacks.
        let isQuestion = messages.find(message)?.state == .pending && kind.mustBeAnswered
        if isQuestion, !presenter.callbacks.contains(kind.requiredCallback) {
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

  private func checkDebts(_ ids: [AccessID], _ broken: inout [String]) {
    var owed: [PresenterID: Int] = [:]
    for id in ids {
      for debt in accesses[id].debts { owed[debt.presenter, default: 0] += 1 }
    }
    for id in presenters.sortedKeys where presenters[id].reacquirersOwed != owed[id, default: 0] {
      broken.append("\(id) is owed \(owed[id, default: 0]) reacquirers, not \(presenters[id].reacquirersOwed)")
    }
    // Of the same presenter: the participants' statements about an earlier arbiter's messages can't be compared.
    var seen: Set<Access.Debt> = []
    for id in messages.sortedKeys {
      guard case .reacquire(let message) = messages[id].kind else { continue }
      let debt = Access.Debt(message: message, presenter: messages[id].presenter)
      if !seen.insert(debt).inserted { broken.append("the reacquirer of \(message) runs twice") }
    }
  }

  /// An access that was requested inside of something that lives is listed there, or deadlocks through it would be
  /// missed.
  private func checkContexts(_ ids: [AccessID], _ broken: inout [String]) {
    for id in ids {
      guard let context = accesses[id].lineage.first else { continue }
      let isAlive =
        switch context {
        case .access(let outer): accesses.contains(outer)
        case .message(let outer): messages.contains(outer)
        }
      if isAlive, !children(of: context).contains(id) { broken.append("\(id) is missing in \(context)") }
    }
  }

  private func checkOutlivedContexts(_ ids: [AccessID], _ broken: inout [String]) {
    for (outer, count) in outlivedContexts {
      let inner = ids.count { accesses[$0].lineage.first == .access(outer) }
      if inner != count { broken.append("\(outer) has ended around \(inner) accesses, not \(count)") }
      if accesses.contains(outer) { broken.append("\(outer) lives, and has ended around others") }
    }
  }

  private func checkTree(_ ids: [AccessID], _ broken: inout [String]) {
    let claimed = ids.reduce(0) { sum, id in
      sum + accesses[id].formerClaims.count + accesses[id].items.count { $0.claim != ItemTree.none }
    }
    if tree.claims.count != claimed { broken.append("\(tree.claims.count) claims in the tree, \(claimed) in accesses") }
    let located = presenters.sortedKeys.count { presenters[$0].node != nil }
    if Int(tree.branch(of: tree.root).presenterCountInSubtree) != located {
      broken.append("presenters in the tree are miscounted")
    }
    if Int(tree.branch(of: tree.root).claimCountInSubtree) != tree.claims.count {
      broken.append("claims in the tree are miscounted")
    }
    for node in tree.nodes.indices {
      let record = tree.nodes[node]
      let branch = tree.branch(of: node)
      if node != tree.root, branch.claimCountInSubtree == 0, branch.presenterCountInSubtree == 0 {
        broken.append("'\(tree.path(of: node))' is of no use and still there")
      }
      if tree.journal.isKept, !record.isInterestDirty, record.journalledInterest != branch.interest {
        broken.append("'\(tree.path(of: node))' has interests that the journal doesn't know")
      }
    }
  }
}
