import SeededRandom
import Testing

@testable import CompactContainers

@Suite("Priority heap") struct PriorityHeapTests {
  @Test("Every order of insertion comes out sorted, whichever entry is removed")
  func sortsEveryOrder() {
    let deadlines: [Int64] = [10, 20, 20, 30, 40, 50]
    for order in permutations(of: Array(deadlines.indices)) {
      for removed in order {
        var heap = PriorityHeap<Int64, Int>()
        var tokens: [Int: PriorityHeap<Int64, Int>.Token] = [:]
        for index in order {
          _ = heap.insert(at: deadlines[index]) { token in
            tokens[index] = token
            return index
          }
        }
        if let token = tokens[removed] {
          #expect(heap.remove(token) == removed)
          #expect(heap.remove(token) == nil)
        }
        #expect(heap.invariantViolations() == [])
        var popped: [Int] = []
        while let next = heap.popFirst(upTo: .max) { popped.append(next) }
        let expected = order.filter { $0 != removed }.enumerated()
          .sorted { (deadlines[$0.element], $0.offset) < (deadlines[$1.element], $1.offset) }
          .map(\.element)
        #expect(popped == expected)
      }
    }
  }

  @Test("A long random history keeps the invariants and agrees with a sorted list", arguments: 1...20)
  func agreesWithModel(seed: Int) {
    var random = SplitMix(state: UInt64(seed))
    var heap = PriorityHeap<Int64, Int>()
    var model: [(deadline: Int64, label: Int, token: PriorityHeap<Int64, Int>.Token)] = []
    for label in 0..<600 {
      switch random.next() % 4 {
      case 0 where !model.isEmpty:
        let entry = model.remove(at: Int(random.next() % UInt64(model.count)))
        #expect(heap.remove(entry.token) == entry.label)
        #expect(heap.remove(entry.token) == nil)
      case 1:
        let now = Int64(random.next() % 100)
        let due = model.filter { $0.deadline <= now }.min { ($0.deadline, $0.label) < ($1.deadline, $1.label) }
        #expect(heap.popFirst(upTo: now) == due?.label)
        model.removeAll { $0.label == due?.label }
      default:
        let deadline = Int64(random.next() % 100)
        _ = heap.insert(at: deadline) { token in
          model.append((deadline, label, token))
          return label
        }
      }
      #expect(heap.invariantViolations() == [])
      #expect(heap.count == model.count)
      #expect(heap.least == model.map(\.deadline).min())
    }
  }

  private func permutations(of elements: [Int]) -> [[Int]] {
    guard let first = elements.first else { return [[]] }
    return permutations(of: Array(elements.dropFirst())).flatMap { rest in
      (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
    }
  }
}
