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
  private var nodes: [WaitNode] = []
  private var positions: [WaitNode: Int] = [:]
  /// What each node waits for, by position, everything once.
  private var waits: [[Int]] = []
  private var waiters: [[Int]] = []
  /// How much of that isn't finished.
  private var unfinishedWaitCounts: [Int] = []
  private var isFinished: [Bool] = []
  private var free: [Int] = []

  /// Takes in everything reachable from `start`.
  init(from start: [WaitNode], _ waitsOf: (WaitNode) -> [WaitNode]) {
    for node in start { _ = position(of: node) }
    // Who was last seen to wait for the node, so that it's noted once.
    var lastWaiter: [Int] = []
    var next = 0
    while next < nodes.count {
      for other in waitsOf(nodes[next]) {
        let position = position(of: other)
        while lastWaiter.count <= position { lastWaiter.append(-1) }
        if lastWaiter[position] == next { continue }
        lastWaiter[position] = next
        waits[next].append(position)
        waiters[position].append(next)
      }
      unfinishedWaitCounts[next] = waits[next].count
      if waits[next].isEmpty { free.append(next) }
      next += 1
    }
  }

  private mutating func position(of node: WaitNode) -> Int {
    if let position = positions[node] { return position }
    positions[node] = nodes.count
    nodes.append(node)
    waits.append([])
    waiters.append([])
    unfinishedWaitCounts.append(0)
    isFinished.append(false)
    return nodes.count - 1
  }

  var unfinished: [WaitNode] { nodes.indices.filter { !isFinished[$0] }.map { nodes[$0] } }

  func unfinishedWaits(of node: WaitNode) -> [WaitNode] {
    guard let position = positions[node] else { return [] }
    return waits[position].filter { !isFinished[$0] }.map { nodes[$0] }
  }

  mutating func finish(_ node: WaitNode) {
    if let position = positions[node] { free.append(position) }
  }

  /// Ends everybody who waits for nobody any more.
  mutating func finishWhoCan() {
    while let position = free.popLast() {
      if isFinished[position] { continue }
      isFinished[position] = true
      for waiter in waiters[position] {
        unfinishedWaitCounts[waiter] -= 1
        if unfinishedWaitCounts[waiter] == 0 { free.append(waiter) }
      }
    }
  }
}
