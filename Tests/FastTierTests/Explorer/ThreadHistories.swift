/// What each thread did so far and does next: a tree whose branches are the results of operations.
///
/// A node is the thread's next operation; an edge is what that results in. Each edge is found out once, by running the
/// program from its start; from then on the thread is a table. Nodes at which a thread says that it forgets how it came
/// there are one if they agree in the rest.
final class ThreadHistories {
  private let memory: ModelMemory
  private let programs: [Program]
  // Eight words for each node: kind, address, first, second, first edge, parent, result in the parent, thread and length.
  private let nodes = WordPool()
  // Four words for each edge: result, node, next edge.
  private let edges = WordPool()
  private var merged: [[UInt64]: Int] = [:]
  let roots: [Int]
  /// How often a program ran.
  private(set) var replayCount = 0

  private static let none = UInt64.max
  /// A program whose log is longer runs in circles.
  static let lengthMax = 5000

  init(_ programs: [Program], on memory: ModelMemory) {
    self.memory = memory
    self.programs = programs
    roots = programs.indices.map { $0 * 8 }
    for thread in programs.indices { addNode(thread: thread, parent: Self.none, result: 0, length: 0) }
  }

  @inline(__always)
  func kind(of node: Int) -> UInt64 { nodes.words[node] }
  @inline(__always)
  func address(of node: Int) -> Int { Int(truncatingIfNeeded: nodes.words[node &+ 1]) }
  @inline(__always)
  func first(of node: Int) -> UInt64 { nodes.words[node &+ 2] }
  @inline(__always)
  func second(of node: Int) -> UInt64 { nodes.words[node &+ 3] }

  func operation(of node: Int) -> Operation {
    Operation(
      kind: Operation.Kind(rawValue: kind(of: node)) ?? .done, address: address(of: node), first: first(of: node),
      second: second(of: node))
  }

  /// Where the thread is when its operation has had this result.
  func next(_ node: Int, _ result: UInt64) -> Int {
    var edge = nodes.words[node &+ 4]
    while edge != Self.none {
      let index = Int(truncatingIfNeeded: edge)
      if edges.words[index] == result { return Int(truncatingIfNeeded: edges.words[index &+ 1]) }
      edge = edges.words[index &+ 2]
    }
    let target = addTarget(of: node, result)
    let edgeIndex = edges.count
    edges.append(result)
    edges.append(UInt64(target))
    edges.append(nodes.words[node + 4])
    nodes.words[node + 4] = UInt64(edgeIndex)
    return target
  }

  private func addTarget(of node: Int, _ result: UInt64) -> Int {
    let thread = Int(nodes.words[node + 7] & 0xff)
    let length = nodes.words[node + 7] >> 8
    return addNode(thread: thread, parent: UInt64(node), result: result, length: length + 1)
  }

  /// Runs the program through the results on the way to the new node, to see what it does there.
  @discardableResult
  private func addNode(thread: Int, parent: UInt64, result: UInt64, length: UInt64) -> Int {
    var log: [UInt64] = []
    if parent != Self.none {
      log.append(result)
      var node = Int(parent)
      while nodes.words[node + 5] != Self.none {
        log.append(nodes.words[node + 6])
        node = Int(nodes.words[node + 5])
      }
      log.reverse()
    }
    let (operation, checkpoint) = replay(thread, log)
    if let checkpoint {
      let key = checkpoint + [UInt64(thread)]
      if let node = merged[key] { return node }
      merged[key] = nodes.count
    }
    let node = nodes.count
    nodes.append(operation.kind.rawValue)
    nodes.append(UInt64(bitPattern: Int64(operation.address)))
    nodes.append(operation.first)
    nodes.append(operation.second)
    nodes.append(Self.none)
    nodes.append(parent)
    nodes.append(result)
    nodes.append(UInt64(thread) | length << 8)
    return node
  }

  private func replay(_ thread: Int, _ log: [UInt64]) -> (Operation, checkpoint: [UInt64]?) {
    replayCount += 1
    memory.log = log
    memory.logIndex = 0
    memory.checkpoint = nil
    memory.pending = Operation(kind: .done)
    if log.count > Self.lengthMax { return (Operation(kind: .violation, first: .max), nil) }
    do { try programs[thread](memory) } catch {}
    precondition(memory.logIndex == log.count, "a program must do the same when it sees the same")
    return (memory.pending, memory.checkpoint)
  }
}
