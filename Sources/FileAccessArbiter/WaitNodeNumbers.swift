/// Nodes of the wait-for graph, each once, numbered in the order in which a search reached them.
///
/// A search over a thousand nodes asks many thousand times which of them it knows. So this is a table with open addressing
/// and a multiplication for a hash: identifiers are given out by the host, nobody can prepare them to collide.
struct WaitNodeNumbers {
  private var nodes: [WaitNode] = []
  /// Numbers, or -1; a power of two of them, at most half in use.
  private var slots = [Int32](repeating: -1, count: 16)

  var count: Int { nodes.count }

  subscript(number: Int) -> WaitNode { nodes[number] }

  func number(of node: WaitNode) -> Int? {
    let number = slots[slot(of: node)]
    return number == -1 ? nil : Int(number)
  }

  /// The number of the node, which gets the next one if it has none.
  /// - Complexity: O(1) amortized.
  mutating func insert(_ node: WaitNode) -> (number: Int, isNew: Bool) {
    let slot = slot(of: node)
    if slots[slot] != -1 { return (Int(slots[slot]), false) }
    slots[slot] = Int32(nodes.count)
    nodes.append(node)
    if 2 * nodes.count > slots.count { grow() }
    return (nodes.count - 1, true)
  }

  /// Where the node is, or where it belongs.
  private func slot(of node: WaitNode) -> Int {
    var slot = node.spread & (slots.count - 1)
    while slots[slot] != -1, nodes[Int(slots[slot])] != node { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  private mutating func grow() {
    slots = [Int32](repeating: -1, count: 2 * slots.count)
    for (number, node) in nodes.enumerated() { slots[slot(of: node)] = Int32(number) }
  }
}

extension WaitNode {
  fileprivate var spread: Int {
    let key =
      switch self {
      case .access(let id): id.rawValue << 1
      case .message(let id): id.rawValue << 1 | 1
      }
    return Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> 32)
  }
}
