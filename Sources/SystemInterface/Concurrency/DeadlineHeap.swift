/// Values ordered by deadline, the earliest first and equal deadlines in the order of insertion.
///
/// A binary heap whose entries know their place, so that one can be removed from the middle: cancelled deadlines, nearly
/// all of them in practice, don't stay until they are due.
///
/// Invariants, checked by ``invariantViolations()``: no entry is due before its parent; `places` and `heap` point at each
/// other; a slot is either in the heap or free.
package struct DeadlineHeap<Value> {
  /// Names an inserted value.
  ///
  /// A token that was used up matches nothing, although its slot is used again.
  package struct Token: Hashable, Sendable {
    fileprivate let slot: Int
    fileprivate let sequence: UInt64
  }

  private struct Entry {
    let deadline: MonotonicTime
    let token: Token
    let value: Value

    func isDue(before other: Entry) -> Bool {
      (deadline, token.sequence) < (other.deadline, other.token.sequence)
    }
  }

  private var heap: [Entry] = []
  /// The index in `heap` for each slot, -1 for a free slot.
  private var places: [Int] = []
  private var freeSlots: [Int] = []
  private var sequence: UInt64 = 0

  /// Creates an empty heap.
  package init() {}

  var count: Int { heap.count }

  /// The deadline that passes first.
  package var earliest: MonotonicTime? { heap.first?.deadline }

  /// Inserts a value that is made from its own token.
  ///
  /// - Parameters:
  ///   - deadline: When the value is due.
  ///   - makeValue: Makes the value.
  /// - Returns: The value.
  /// - Complexity: O(log *n*).
  package mutating func insert(at deadline: MonotonicTime, _ makeValue: (Token) -> Value) -> Value {
    let slot = freeSlots.popLast() ?? places.endIndex
    if slot == places.endIndex { places.append(-1) }
    sequence += 1
    let token = Token(slot: slot, sequence: sequence)
    let value = makeValue(token)
    heap.append(Entry(deadline: deadline, token: token, value: value))
    siftUp(heap.endIndex - 1)
    return value
  }

  /// Removes a value before it is due.
  ///
  /// - Parameter token: The name of the value.
  /// - Returns: The value, or `nil` if it isn't here any more.
  /// - Complexity: O(log *n*).
  package mutating func remove(_ token: Token) -> Value? {
    let index = places[token.slot]
    guard index >= 0, heap[index].token == token else { return nil }
    return remove(at: index)
  }

  /// Removes the earliest value if its deadline has passed.
  ///
  /// - Parameter now: The present time.
  /// - Returns: The value, or `nil` if nothing is due.
  /// - Complexity: O(log *n*).
  package mutating func popDue(at now: MonotonicTime) -> Value? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    return remove(at: 0)
  }

  private mutating func remove(at index: Int) -> Value {
    let last = heap.endIndex - 1
    heap.swapAt(index, last)
    let removed = heap.removeLast()
    places[removed.token.slot] = -1
    freeSlots.append(removed.token.slot)
    if index < last {
      siftDown(index)
      siftUp(index)
    }
    return removed.value
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard heap[index].isDue(before: heap[parent]) else { break }
      swap(index, parent)
      index = parent
    }
    places[heap[index].token.slot] = index
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    while true {
      var child = 2 * index + 1
      guard child < heap.endIndex else { break }
      if child + 1 < heap.endIndex, heap[child + 1].isDue(before: heap[child]) { child += 1 }
      guard heap[child].isDue(before: heap[index]) else { break }
      swap(index, child)
      index = child
    }
    places[heap[index].token.slot] = index
  }

  private mutating func swap(_ first: Int, _ second: Int) {
    heap.swapAt(first, second)
    places[heap[first].token.slot] = first
    places[heap[second].token.slot] = second
  }
}

extension DeadlineHeap {
  /// What is wrong with the heap; empty if nothing is.
  ///
  /// - Returns: One sentence for each violation.
  /// - Complexity: O(*n*).
  func invariantViolations() -> [String] {
    var violations: [String] = []
    for index in heap.indices {
      if index > 0, heap[index].isDue(before: heap[(index - 1) / 2]) {
        violations.append("entry \(index) is due before its parent")
      }
      if places[heap[index].token.slot] != index { violations.append("entry \(index) doesn't know its place") }
    }
    if heap.count + freeSlots.count != places.count { violations.append("a slot is neither in the heap nor free") }
    for slot in freeSlots where places[slot] != -1 { violations.append("free slot \(slot) is in the heap") }
    return violations
  }
}
