internal import CompactContainers

// The graph of waits. All edges are AND-waits, so every cycle is a deadlock.

/// A node of the wait-for graph: something that waits or is waited for.
enum WaitNode: Hashable, Sendable {
  case access(AccessID)
  case message(MessageID)
}

extension FileAccessArbiter {
  /// Calls `body` for everything that `node` waits for right now (possibly more than once).
  ///
  /// | node                 | waits for                                                                      |
  /// | -------------------- | ------------------------------------------------------------------------------ |
  /// | waiting access       | every access in its way, and a callback that runs above its own                |
  /// | asking access        | the same of those that went ahead of it, and every unanswered message          |
  /// | ready access         | the same of those that went ahead of it                                        |
  /// | granted access       | accesses requested by its accessor, which returns only after them, and a nested callback above |
  /// | undelivered message  | the callback that occupies its presenter, unless it will be served meanwhile   |
  /// | delivered message    | accesses requested by its callback, by ``Presumption`` others of its presenter, and the callback above if they are nested |
  ///
  /// Possibly, a delivered message whose callback has returned waits for the callback that occupies its presenter.
  ///
  /// By ``Presumption`` the unanswered messages are all of them, or those that aren't passed over by the clock.
  ///
  /// An access that merely inherited its context, so that the context may end without it, makes no edge of its own.
  func forEachWait(of node: WaitNode, _ presumption: Presumption = .likely, _ body: (WaitNode) -> Void) {
    forEachWait(of: node, presumption, among: { $0 }, body)
  }

  private func forEachWait(
    of node: WaitNode, _ presumption: Presumption, among filter: ClaimFilter, _ body: (WaitNode) -> Void
  ) {
    switch node {
    case .access(let id):
      let access = accesses.index(of: id)
      if access == Table<Access>.none { return }
      if accesses[at: access].phase == .granted {
        forEachAwaitedChild(accesses[at: access].children, body)
        if let message = nestedCallback(above: id) { body(.message(message)) }
        return
      }
      _ = forEachBlocker(of: id, among: filter) { blocker in
        body(.access(blocker))
        return true
      }
      for negotiation in accesses[at: access].negotiations {
        guard let message = negotiation.outstanding else { continue }
        if presumption != .lasting || due(negotiation) == nil { body(.message(message)) }
      }
      if let message = callbackAbove(id) { body(.message(message)) }
    case .message(let id):
      guard let message = messages.find(id) else { return }
      switch message.state {
      case .pending:
        let presenter = presenters[message.presenter]
        if mayBeServed(message.kind, presenter) { return }
        if let top = presenter.running.last { body(.message(top)) }
      case .running, .returned:
        forEachAwaitedChild(message.children, body)
        forEachOwnAccess(of: message, presumption) { body(.access($0)) }
        if let above = nestedCallback(above: message) { body(.message(above)) }
        // The remaining work may be waiting for its queue.
        if presumption == .possible, message.state == .returned, let top = presenters[message.presenter].running.last {
          body(.message(top))
        }
      }
    }
  }

  /// The callback that runs above another one, on the same thread.
  func nestedCallback(above message: Message) -> MessageID? {
    let presenter = presenters[message.presenter]
    guard presenter.nestsCallbacks, let position = presenter.running.firstIndex(of: message.id) else { return nil }
    return presenter.running[(position + 1)...].first
  }

  /// The callback that runs above the one inside of which an access is, on the same thread.
  private func nestedCallback(above id: AccessID) -> MessageID? {
    guard let message = callbackAbove(id), presenters[messages[message].presenter].nestsCallbacks else { return nil }
    return message
  }

  private func forEachAwaitedChild(_ children: [AccessID], _ body: (WaitNode) -> Void) {
    for child in children {
      let access = accesses.index(of: child)
      if access != Table<Access>.none, accesses[at: access].isAwaitedByContext { body(.access(child)) }
    }
  }

  /// The shortest-first chain of waits from `start` to a node that satisfies `isGoal`, both included; `nil` if there's none.
  ///
  /// - Complexity: O(nodes reachable from `start`, and the depth of their items); no recursion, whatever the length. A
  ///   queue of *n* accesses has *n*²/2 waits, but a node that has been reached once isn't examined again.
  func chainOfWaits(
    from start: WaitNode, _ presumption: Presumption = .likely, to isGoal: (WaitNode) -> Bool
  ) -> [WaitNode]? {
    var reached = WaitNodeNumbers()
    _ = reached.insert(start)
    // The number of the node from which each was reached.
    var origins: [Int32] = [-1]
    var skips = ClaimSkips()
    var goal: WaitNode?
    var next = 0
    while next < reached.count, goal == nil {
      // Both closures are passed as they are: kept in a variable they would need their own memory, for each search.
      forEachWait(
        of: reached[next], presumption,
        among: { claim in
          // The start, number 0, stays in sight: it may be the goal.
          skips.next(from: claim, in: tree) { reached.number(of: .access($0)) ?? 0 > 0 }
        },
        { successor in
          if goal != nil { return }
          if isGoal(successor) {
            goal = successor
          } else if reached.insert(successor).isNew {
            origins.append(Int32(next))
          }
        })
      next += 1
    }
    guard let goal else { return nil }
    var chain = [goal]
    var number = next - 1
    while number >= 0 {
      chain.append(reached[number])
      number = Int(origins[number])
    }
    return chain.reversed()
  }

  /// Calls `body` with everything that one of several accesses waits for, each once.
  ///
  /// - Complexity: O(accesses that are waited for, and the depth of the items): a queue of *n* accesses has *n*²/2
  ///   waits, but an access that has been reached isn't examined again.
  func forEachWait(ofAny ids: [AccessID], _ body: (WaitNode) -> Void) {
    var reached = WaitNodeNumbers()
    var skips = ClaimSkips()
    for id in ids {
      forEachWait(
        of: .access(id), .likely,
        among: { claim in skips.next(from: claim, in: tree) { reached.number(of: .access($0)) != nil } },
        { if reached.insert($0).isNew { body($0) } })
    }
  }

  /// A cycle through `id`, beginning with it; `nil` if it's in none.
  func cycle(through id: AccessID, _ presumption: Presumption = .likely) -> [WaitNode]? {
    let start = WaitNode.access(id)
    return chainOfWaits(from: start, presumption) { $0 == start }?.dropLast()
  }
}

/// Claims that a search examines no more, and where it goes on instead.
private struct ClaimSkips {
  private var targets: [ItemTree.ClaimIndex: ItemTree.ClaimIndex] = [:]

  /// The first claim, from `claim` on, of an access that isn't to be skipped.
  mutating func next(
    from claim: ItemTree.ClaimIndex, in tree: borrowing ItemTree, where isSkipped: (AccessID) -> Bool
  ) -> ItemTree.ClaimIndex {
    var index = target(of: claim)
    while index != ItemTree.none, isSkipped(tree.claims[index].access) {
      targets[index] = tree.claims[index].previous
      index = target(of: index)
    }
    return index
  }

  /// The claim, or the one in its place; chains of skips become short on the way.
  private mutating func target(of claim: ItemTree.ClaimIndex) -> ItemTree.ClaimIndex {
    if targets.isEmpty { return claim }
    var end = claim
    while let next = targets[end] { end = next }
    var current = claim
    while let next = targets[current], next != end {
      targets[current] = end
      current = next
    }
    return end
  }
}
