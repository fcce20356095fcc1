import SeededRandom
import TestSupport
import Testing

@testable import FileAccessArbiter

@Suite("One search for all nodes in cycles of waits")
struct WaitCyclesTests {
  private static func node(_ number: Int) -> WaitNode {
    number.isMultiple(of: 3) ? .message(MessageID(UInt64(number), epoch: 1)) : .access(AccessID(UInt64(number)))
  }

  private static func number(_ node: WaitNode) -> Int {
    switch node {
    case .access(let id): Int(id.rawValue)
    case .message(let id): Int(id.rawValue)
    }
  }

  /// Whether a node waits for itself, through others or directly: one search for each node.
  private static func isInCycle(_ start: Int, _ waits: [[Int]]) -> Bool {
    var reached: Set<Int> = []
    var open = waits[start]
    while let next = open.popLast() {
      if next == start { return true }
      if reached.insert(next).inserted { open += waits[next] }
    }
    return false
  }

  private static let seeds = Budget.seeds(normal: 200, long: 20_000)

  @Test(
    "It finds the nodes that a search for each of them finds, and excludes none that it hasn't reached",
    arguments: seeds)
  func random(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let count = 1 + random.below(12)
    let waits = (0..<count).map { _ in (0..<random.below(3)).map { _ in random.below(count) } }
    let start = (0..<count).filter { _ in random.chance(1, in: 3) }
    let found = WaitCycles(from: start.map(Self.node), waitCountMax: .max) { node, body in
      for other in waits[Self.number(node)] { body(Self.node(other)) }
    }
    let cycles = try #require(found)
    var reached = Set(start)
    var open = start
    while let next = open.popLast() { open += waits[next].filter { reached.insert($0).inserted } }
    for number in 0..<count {
      let isExcluded = cycles.excludes(Self.node(number))
      #expect(isExcluded == (reached.contains(number) && !Self.isInCycle(number, waits)), "\(number) of \(waits)")
    }
  }

  @Test("A chain of 100,000 waits takes no stack, closed or not", arguments: [false, true])
  func long(isClosed: Bool) throws {
    let count = 100_000
    let found = WaitCycles(from: [Self.node(1)], waitCountMax: .max) { node, body in
      let number = Self.number(node)
      if number < count { body(Self.node(number + 1)) } else if isClosed { body(Self.node(1)) }
    }
    let cycles = try #require(found)
    #expect([1, 2, count].allSatisfy { cycles.excludes(Self.node($0)) == !isClosed })
  }

  @Test("It gives up when there are more waits than it may go through", arguments: [9, 10])
  func limit(waitCountMax: Int) {
    let cycles = WaitCycles(from: [Self.node(1)], waitCountMax: waitCountMax) { node, body in
      if Self.number(node) <= 10 { body(Self.node(Self.number(node) + 1)) }
    }
    #expect((cycles == nil) == (waitCountMax < 10))
  }
}
