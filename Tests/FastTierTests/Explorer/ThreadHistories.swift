/// The past and the next operation of each thread: a tree whose branches are the results of operations.
///
/// A node is the thread's next operation; an edge is the result of that. Each edge is computed once, by running the
/// program from its start; from then on the thread is a table. Nodes at which a thread states that it forgets how it
/// came there are one if they agree in the rest.
struct HistoryTable {
  // Eight words for each node: kind, address, first, second, first edge, parent, result in the parent, thread, ordering and length.
  fileprivate let nodes = WordStack(capacity: 1 << 24)
  // Three words for each edge: result, node, next edge.
  fileprivate let edges = WordStack(capacity: 1 << 24)

  fileprivate static let none = UInt64.max

  @inline(__always)
  func kind(of node: Int) -> UInt64 { nodes[node] }
  @inline(__always)
  func address(of node: Int) -> Int { Int(truncatingIfNeeded: nodes[node &+ 1]) }
  @inline(__always)
  func first(of node: Int) -> UInt64 { nodes[node &+ 2] }
  @inline(__always)
  func second(of node: Int) -> UInt64 { nodes[node &+ 3] }

  @inline(__always)
  func ordering(of node: Int) -> Ordering {
    Ordering(rawValue: nodes[node &+ 7] &>> 8 & 0xff) ?? .sequentiallyConsistent
  }

  func operation(of node: Int) -> Operation {
    Operation(
      kind: Operation.Kind(rawValue: kind(of: node)) ?? .done, address: address(of: node), first: first(of: node),
      second: second(of: node), ordering: ordering(of: node))
  }

  /// Where the thread is when its operation has had this result; negative if that isn't known yet.
  func next(_ node: Int, _ result: UInt64) -> Int {
    var edge = Int(truncatingIfNeeded: nodes[node &+ 4])
    while edge >= 0 {
      if edges[edge] == result { return Int(truncatingIfNeeded: edges[edge &+ 1]) }
      edge = Int(truncatingIfNeeded: edges[edge &+ 2])
    }
    return -1
  }

  fileprivate func addEdge(from node: Int, _ result: UInt64, to target: Int) {
    let edge = edges.count
    edges.append(result)
    edges.append(UInt64(target))
    edges.append(nodes[node + 4])
    nodes[node + 4] = UInt64(edge)
  }

  fileprivate func addNode(_ operation: Operation, parent: UInt64, result: UInt64, thread: Int, length: Int) -> Int {
    let node = nodes.count
    nodes.append(operation.kind.rawValue)
    nodes.append(UInt64(bitPattern: Int64(operation.address)))
    nodes.append(operation.first)
    nodes.append(operation.second)
    nodes.append(Self.none)
    nodes.append(parent)
    nodes.append(result)
    nodes.append(UInt64(thread) | operation.ordering.rawValue << 8 | UInt64(length) << 16)
    return node
  }

  /// The results on the way to a node.
  fileprivate func log(to node: Int) -> [UInt64] {
    var log: [UInt64] = []
    var node = node
    while nodes[node + 5] != Self.none {
      log.append(nodes[node + 6])
      node = Int(nodes[node + 5])
    }
    log.reverse()
    return log
  }

  fileprivate func thread(of node: Int) -> Int { Int(nodes[node + 7] & 0xff) }
  fileprivate func length(of node: Int) -> Int { Int(nodes[node + 7] >> 16) }

  func deallocate() {
    nodes.deallocate()
    edges.deallocate()
  }
}

/// Computes the histories of threads, by running their programs.
final class ThreadHistories {
  let table = HistoryTable()
  private let memory: ModelMemory
  private let programs: [Program]
  private var merged: [[UInt64]: Int] = [:]
  private(set) var roots: [Int] = []
  /// How often a program ran.
  private(set) var replayCount = 0

  /// A program whose log is longer runs in circles.
  static let lengthMax = 2000

  init(_ programs: [Program], on memory: ModelMemory) {
    self.memory = memory
    self.programs = programs
    for thread in programs.indices {
      let (operation, _) = replay(thread, [])
      roots.append(table.addNode(operation, parent: HistoryTable.none, result: 0, thread: thread, length: 0))
    }
  }

  deinit { table.deallocate() }

  /// Runs the program through the results on the way, to get its next operation.
  func addNext(_ node: Int, _ result: UInt64) -> Int {
    let thread = table.thread(of: node)
    let (operation, checkpoint) = replay(thread, table.log(to: node) + [result])
    let key = checkpoint.map { $0 + [UInt64(thread)] }
    var target = key.flatMap { merged[$0] }
    if target == nil {
      target = table.addNode(
        operation, parent: UInt64(node), result: result, thread: thread, length: table.length(of: node) + 1)
      if let key { merged[key] = target }
    }
    table.addEdge(from: node, result, to: target ?? 0)
    return target ?? 0
  }

  private func replay(_ thread: Int, _ log: [UInt64]) -> (Operation, checkpoint: [UInt64]?) {
    if log.count > Self.lengthMax { return (Operation(kind: .violation, first: .max), nil) }
    replayCount += 1
    memory.log = log
    memory.logIndex = 0
    memory.checkpoint = nil
    memory.thread = thread
    memory.step = nil
    memory.pending = Operation(kind: .done)
    do { try programs[thread](memory) } catch {}
    precondition(memory.logIndex == log.count, "a program must do the same when it sees the same")
    return (memory.pending, memory.checkpoint)
  }
}
