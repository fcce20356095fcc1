// Soft edges: who has to pass whom in the queues so that a cycle disappears (step 3 of resolving).

extension FileAccessArbiter {
  /// Who has to pass whom so that everybody goes on whom nothing but the order of arrival keeps; empty when that helps nobody.
  ///
  /// Everything that the cycle waits for is played to its end: whoever waits for nothing any more is done. When nobody
  /// is left who can go on, one whom only queued accesses keep passes those, requests with a context first, since others
  /// wait for what they are nested in. Going on early never takes a chance from anybody else, so no choice is a wrong one.
  ///
  /// - Complexity: O(nodes and edges reachable from the cycle), and the waiting ones again for each pass.
  func passesNeeded(for cycle: [WaitNode]) -> [(AccessID, passed: [AccessID])] {
    var plan = QueuePlan(from: cycle, waits(of:))
    var passes: [(AccessID, passed: [AccessID])] = []
    plan.finishWhoCan()
    while let id = firstKeptByOrder(plan) {
      let passed = plan.unfinishedWaits(of: .access(id)).compactMap { node -> AccessID? in
        if case .access(let other) = node { return other }
        return nil
      }
      passes.append((id, passed.sorted()))
      plan.finish(.access(id))
      plan.finishWhoCan()
    }
    return passes
  }

  private func waits(of node: WaitNode) -> [WaitNode] {
    var found: [WaitNode] = []
    forEachWait(of: node) { found.append($0) }
    return found
  }

  private func firstKeptByOrder(_ plan: QueuePlan) -> AccessID? {
    let candidates = plan.unfinished.compactMap { node -> AccessID? in
      guard case .access(let id) = node, accesses[id].isWaiting else { return nil }
      let isKeptByOrder = plan.unfinishedWaits(of: node).allSatisfy { other in
        if case .access(let blocker) = other { return isSoft(id, behind: blocker) }
        return false
      }
      return isKeptByOrder ? id : nil
    }
    return candidates.min {
      (accesses[$0].lineage.isEmpty ? 1 : 0, accesses[$0].sequence)
        < (accesses[$1].lineage.isEmpty ? 1 : 0, accesses[$1].sequence)
    }
  }

  /// Whether `waiter` waits for `other` only because of the order of arrival.
  func isSoft(_ waiter: AccessID, behind other: AccessID) -> Bool {
    accesses[other].isWaiting && !accesses[other].overtakes.contains(waiter)
  }
}

/// A part of the wait-for graph that is played to its end.
private struct QueuePlan {
  private var waits: [WaitNode: Set<WaitNode>] = [:]
  private var waiters: [WaitNode: [WaitNode]] = [:]
  private var free: [WaitNode] = []

  /// Takes in everything reachable from `start`.
  init(from start: [WaitNode], _ waitsOf: (WaitNode) -> [WaitNode]) {
    var queue = start
    while let node = queue.popLast() {
      if waits[node] != nil { continue }
      let found = Set(waitsOf(node))
      waits[node] = found
      if found.isEmpty { free.append(node) }
      for other in found {
        waiters[other, default: []].append(node)
        queue.append(other)
      }
    }
  }

  var unfinished: Dictionary<WaitNode, Set<WaitNode>>.Keys { waits.keys }

  func unfinishedWaits(of node: WaitNode) -> Set<WaitNode> { waits[node] ?? [] }

  mutating func finish(_ node: WaitNode) { free.append(node) }

  /// Ends everybody who waits for nobody any more.
  mutating func finishWhoCan() {
    while let node = free.popLast() {
      waits[node] = nil
      for waiter in waiters[node] ?? [] where waits[waiter]?.remove(node) != nil {
        if waits[waiter]?.isEmpty == true { free.append(waiter) }
      }
    }
  }
}
