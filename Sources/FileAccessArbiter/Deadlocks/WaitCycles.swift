internal import CompactContainers

/// Which nodes of a part of the wait-for graph are in a cycle: found for all of them in one search.
///
/// Many accesses become suspects in one event where presenters that save wait for each other. A search for each would go
/// through the same waits again.
struct WaitCycles {
  private var nodes = WaitNodeNumbers()
  private var isInCycle: [Bool] = []

  /// Searches everything that is reachable from some nodes.
  ///
  /// - Parameters:
  ///   - start: The nodes.
  ///   - waitCountMax: After how many waits to give up: a queue of *n* accesses has *n*²/2 of them.
  ///   - forEachWait: Calls its closure for everything that a node waits for.
  /// - Complexity: O(nodes and waits); no recursion, whatever the length of a chain.
  init?(
    from start: some Sequence<WaitNode>, waitCountMax: Int, _ forEachWait: (WaitNode, (WaitNode) -> Void) -> Void
  ) {
    for node in start { _ = nodes.insert(node) }
    var waits = WaitEdges()
    var next = 0
    while next < nodes.count {
      waits.beginNode()
      forEachWait(nodes[next]) { waits.append(nodes.insert($0).number) }
      if waits.count > waitCountMax { return nil }
      next += 1
    }
    isInCycle = Array(repeating: false, count: nodes.count)
    var search = ComponentSearch(nodeCount: nodes.count)
    for number in 0..<nodes.count {
      search.explore(number, waits) { isInCycle[Int($0)] = true }
    }
  }

  /// Whether a node is certain to be in no cycle.
  func excludes(_ node: WaitNode) -> Bool { nodes.number(of: node).map { !isInCycle[$0] } ?? false }
}

/// Tarjan's search for strongly connected components, with a stack of its own.
private struct ComponentSearch {
  /// The order in which each node was reached, from 1; 0 for those that weren't.
  private var orders: [Int32]
  /// The least order that a node, or one that was reached from it, waits for.
  private var lows: [Int32]
  private var isOpen: [Bool]
  /// Nodes whose component isn't complete.
  private var open: [Int32] = []
  /// The way to the node that's examined, and how many of its waits have been.
  private var way: [(node: Int32, waitCount: Int32)] = []
  private var lastOrder: Int32 = 0

  init(nodeCount: Int) {
    orders = Array(repeating: 0, count: nodeCount)
    lows = orders
    isOpen = Array(repeating: false, count: nodeCount)
  }

  private mutating func enter(_ node: Int32) {
    lastOrder += 1
    orders[Int(node)] = lastOrder
    lows[Int(node)] = lastOrder
    isOpen[Int(node)] = true
    open.append(node)
    way.append((node, 0))
  }

  /// Calls `body` for each node in a cycle that's reached from `start` for the first time.
  mutating func explore(_ start: Int, _ waits: WaitEdges, _ body: (Int32) -> Void) {
    if orders[start] != 0 { return }
    enter(Int32(start))
    while let (node, waitCount) = way.last {
      let targets = waits[Int(node)]
      if Int(waitCount) < targets.count {
        way[way.count - 1].waitCount += 1
        let target = targets[targets.startIndex + Int(waitCount)]
        if target == node {
          body(node)
        } else if orders[Int(target)] == 0 {
          enter(target)
        } else if isOpen[Int(target)] {
          lows[Int(node)] = min(lows[Int(node)], orders[Int(target)])
        }
      } else {
        way.removeLast()
        if let (parent, _) = way.last { lows[Int(parent)] = min(lows[Int(parent)], lows[Int(node)]) }
        if lows[Int(node)] == orders[Int(node)] { close(node, body) }
      }
    }
  }

  /// Completes the component of a node, which is the first of it that was reached.
  private mutating func close(_ node: Int32, _ body: (Int32) -> Void) {
    let isAlone = open.last == node
    while let member = open.popLast() {
      isOpen[Int(member)] = false
      if !isAlone { body(member) }
      if member == node { return }
    }
  }
}
