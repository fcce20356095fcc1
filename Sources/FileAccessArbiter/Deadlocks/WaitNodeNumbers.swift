internal import CompactContainers

/// Nodes of the wait-for graph, each once, numbered in the order in which a search reached them.
///
/// A search over a thousand nodes asks many thousand times which of them it knows. So the hash is one multiplication:
/// identifiers are given out by the host, nobody can prepare them to collide.
struct WaitNodeNumbers {
  private var nodes: [WaitNode] = []
  private var numbers = ProbingTable<Int32>()

  var count: Int { nodes.count }

  subscript(number: Int) -> WaitNode { nodes[number] }

  func number(of node: WaitNode) -> Int? {
    numbers.first(withHash: node.number) { nodes[Int($0)] == node }.map { Int($0) }
  }

  /// The number of the node, which gets the next one if it has none.
  /// - Complexity: O(1) amortized.
  mutating func insert(_ node: WaitNode) -> (number: Int, isNew: Bool) {
    if let number = number(of: node) { return (number, false) }
    let number = nodes.count
    nodes.append(node)
    numbers.insert(Int32(number), hash: node.number) { nodes[Int($0)].number }
    return (number, true)
  }
}

extension WaitNode {
  /// Another one for each node.
  fileprivate var number: UInt64 {
    switch self {
    case .access(let id): id.rawValue << 1
    case .message(let id): id.rawValue << 1 | 1
    }
  }
}
