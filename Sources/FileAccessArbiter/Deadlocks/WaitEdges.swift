/// Directed edges between numbered nodes, grouped by the node where they begin.
struct WaitEdges {
  private var targets: [Int32] = []
  /// Where the edges of each node begin in `targets`; they end where those of the next node begin.
  private var starts: [Int] = []

  /// How many there are.
  var count: Int { targets.count }

  /// The edges appended from now on are those of the next node.
  mutating func beginNode() { starts.append(targets.count) }

  mutating func append(_ target: Int) { targets.append(Int32(target)) }

  subscript(node: Int) -> ArraySlice<Int32> {
    targets[starts[node]..<(node + 1 < starts.count ? starts[node + 1] : targets.count)]
  }

  /// The same edges from their ends to their beginnings.
  func reversed(nodeCount: Int) -> WaitEdges {
    var result = WaitEdges()
    var counts = [Int](repeating: 0, count: nodeCount)
    for target in targets { counts[Int(target)] += 1 }
    var end = 0
    for count in counts {
      result.starts.append(end)
      end += count
    }
    result.targets = Array(repeating: 0, count: targets.count)
    var next = result.starts
    for node in starts.indices {
      for target in self[node] {
        result.targets[next[Int(target)]] = Int32(node)
        next[Int(target)] += 1
      }
    }
    return result
  }
}
