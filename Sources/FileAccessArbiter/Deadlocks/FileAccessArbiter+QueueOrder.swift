internal import CompactContainers

// Soft edges: the passes in the queues that make a cycle disappear (D-3).

extension FileAccessArbiter {
  /// The passes that let accesses go on which only the order of arrival keeps; none when they help no access.
  ///
  /// They're enough if the cycle is none any more then.
  ///
  /// Everything that the cycle waits for is played to its end: a node that waits for nothing any more is done. When
  /// none is left that can go on, one that only queued accesses keep passes those: first requests with a context, and
  /// those of presenters that are asked something, since others wait for their surroundings. The others stay in order
  /// of arrival as long as that keeps none from its end: a stranger that came later passes no writer because of a save
  /// that both wait for.
  ///
  /// - Complexity: O(nodes and edges reachable from the cycle), and the waiting ones again for each pass.
  func passes(
    endingAll cycle: [WaitNode], _ presumption: Presumption
  ) -> (passes: [(AccessID, passed: [AccessID])], isEnough: Bool) {
    var plan = QueuePlan(from: cycle) { node, body in forEachWait(of: node, presumption, body) }
    var passes: [(AccessID, passed: [AccessID])] = []
    plan.finishWhoCan()
    while let (number, id) = firstKeptByOrder(plan) {
      var passed: [AccessID] = []
      _ = plan.allUnfinishedWaits(of: number) { other in
        if case .access(let other) = other { passed.append(other) }
        return true
      }
      passes.append((id, passed.sorted()))
      plan.finish(number)
      plan.finishWhoCan()
    }
    return (passes, cycle.indices.allSatisfy(plan.isFinished))
  }

  private func firstKeptByOrder(_ plan: QueuePlan) -> (number: Int, AccessID)? {
    var first: (number: Int, id: AccessID, rank: (Int, UInt64))?
    for number in 0..<plan.count where !plan.isFinished(number) {
      guard case .access(let id) = plan.node(number), accesses[id].isWaiting else { continue }
      let isKeptByOrder = plan.allUnfinishedWaits(of: number) { other in
        if case .access(let blocker) = other { return isSoft(id, behind: blocker) }
        return false
      }
      if !isKeptByOrder { continue }
      let rank = (isAwaitedByAnybody(id) ? 0 : 1, accesses[id].sequence)
      if first.map({ rank < $0.rank }) ?? true { first = (number, id, rank) }
    }
    return first.map { ($0.number, $0.id) }
  }

  /// Whether others may wait for the surroundings of the access.
  private func isAwaitedByAnybody(_ id: AccessID) -> Bool {
    if isPresumablyAwaited(id) { return true }
    guard let context = accesses[id].lineage.first, accesses[id].isAwaitedByContext else { return false }
    switch context {
    case .access(let outer): return accesses.contains(outer)
    case .message(let message): return messages.contains(message)
    }
  }

  /// Whether `waiter` waits for `other` only because of the order of arrival.
  func isSoft(_ waiter: AccessID, behind other: AccessID) -> Bool {
    accesses[other].isWaiting && !accesses[other].overtakes.contains(waiter)
  }
}

/// A part of the wait-for graph that is played to its end.
///
/// Nodes go by their numbers. Edges lie one after the other in one array, not in an array for each node.
private struct QueuePlan {
  private var nodes = WaitNodeNumbers()
  /// The nodes that each node waits for, each once.
  private var waits = WaitEdges()
  private var waiters = WaitEdges()
  /// How many of the nodes that each node waits for aren't finished.
  private var unfinishedWaitCounts: [Int32] = []
  private var finished: [Bool] = []
  private var free: [Int32] = []

  /// Takes in everything reachable from `start`.
  init(from start: [WaitNode], _ forEachWait: (WaitNode, (WaitNode) -> Void) -> Void) {
    for node in start { _ = nodes.insert(node) }
    // The last waiter seen for each node, so that it's recorded once.
    var lastWaiter = [Int](repeating: -1, count: nodes.count)
    var next = 0
    while next < nodes.count {
      waits.beginNode()
      forEachWait(nodes[next]) { other in
        let (number, isNew) = nodes.insert(other)
        if isNew { lastWaiter.append(-1) }
        if lastWaiter[number] == next { return }
        lastWaiter[number] = next
        waits.append(number)
      }
      next += 1
    }
    waiters = waits.reversed(nodeCount: nodes.count)
    finished = Array(repeating: false, count: nodes.count)
    unfinishedWaitCounts = (0..<nodes.count).map { Int32(waits[$0].count) }
    free = (0..<Int32(nodes.count)).filter { unfinishedWaitCounts[Int($0)] == 0 }
  }

  var count: Int { nodes.count }
  func node(_ number: Int) -> WaitNode { nodes[number] }
  func isFinished(_ number: Int) -> Bool { finished[number] }

  /// Whether `condition` holds for everything that the node waits for and that isn't finished.
  func allUnfinishedWaits(of number: Int, _ condition: (WaitNode) -> Bool) -> Bool {
    for other in waits[number] where !finished[Int(other)] {
      if !condition(nodes[Int(other)]) { return false }
    }
    return true
  }

  mutating func finish(_ number: Int) { free.append(Int32(number)) }

  /// Ends all nodes that wait for nothing any more.
  mutating func finishWhoCan() {
    while let number = free.popLast().map({ Int($0) }) {
      if finished[number] { continue }
      finished[number] = true
      for waiter in waiters[number] {
        unfinishedWaitCounts[Int(waiter)] -= 1
        if unfinishedWaitCounts[Int(waiter)] == 0 { free.append(waiter) }
      }
    }
  }
}
