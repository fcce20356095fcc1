// Public for the other targets of this package alone, which get specialized code for it; no product offers it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Values ordered by priority, the least first and equal priorities in the order of insertion.
///
/// A binary heap whose entries record their place, so that one can be removed from the middle: cancelled deadlines,
/// nearly all of them in practice, don't stay until they are due.
///
/// Invariants, checked by ``invariantViolations()``: no entry comes before its parent; `places` and `heap` point at each
/// other; a slot is either in the heap or free.
public struct PriorityHeap<Priority: Comparable, Value> {
  /// Names an inserted value.
  ///
  /// A token that was used up matches nothing, although its slot is used again.
  public struct Token: Hashable, Sendable {
    @usableFromInline let slot: Int
    @usableFromInline let sequence: UInt64

    @inlinable public init(slot: Int, sequence: UInt64) {
      self.slot = slot
      self.sequence = sequence
    }
  }

  public struct Entry {
    @usableFromInline let priority: Priority
    @usableFromInline let token: Token
    @usableFromInline let value: Value

    @inlinable public init(priority: Priority, token: Token, value: Value) {
      self.priority = priority
      self.token = token
      self.value = value
    }

    @inlinable public func isBefore(_ other: Entry) -> Bool {
      priority == other.priority ? token.sequence < other.token.sequence : priority < other.priority
    }
  }

  @usableFromInline var heap: [Entry] = []
  /// The index in `heap` for each slot, -1 for a free slot.
  @usableFromInline var places: [Int] = []
  @usableFromInline var freeSlots: [Int] = []
  @usableFromInline var sequence: UInt64 = 0

  /// Creates an empty heap.
  @inlinable public init() {}

  @inlinable public var count: Int { heap.count }

  /// The least priority.
  @inlinable public var least: Priority? { heap.first?.priority }

  /// Inserts a value that is made from its own token.
  ///
  /// - Parameters:
  ///   - priority: A deadline, for example.
  ///   - makeValue: Makes the value.
  /// - Returns: The value.
  /// - Complexity: O(log *n*).
  @inlinable public mutating func insert(at priority: Priority, _ makeValue: (Token) -> Value) -> Value {
    let slot = freeSlots.popLast() ?? places.endIndex
    if slot == places.endIndex { places.append(-1) }
    sequence += 1
    let token = Token(slot: slot, sequence: sequence)
    let value = makeValue(token)
    heap.append(Entry(priority: priority, token: token, value: value))
    siftUp(heap.endIndex - 1)
    return value
  }

  /// Removes a value before its turn.
  ///
  /// - Parameter token: The name of the value.
  /// - Returns: The value, or `nil` if it isn't here any more.
  /// - Complexity: O(log *n*).
  @inlinable public mutating func remove(_ token: Token) -> Value? {
    let index = places[token.slot]
    guard index >= 0, heap[index].token == token else { return nil }
    return remove(at: index)
  }

  /// Removes the first value unless its priority is greater than a bound: the first deadline, if it has passed.
  ///
  /// - Parameter bound: The present time, for example.
  /// - Returns: The value, or `nil` if there is none up to the bound.
  /// - Complexity: O(log *n*).
  @inlinable public mutating func popFirst(upTo bound: Priority) -> Value? {
    guard let first = heap.first, first.priority <= bound else { return nil }
    return remove(at: 0)
  }

  @inlinable public mutating func remove(at index: Int) -> Value {
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

  @inlinable public mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard heap[index].isBefore(heap[parent]) else { break }
      swap(index, parent)
      index = parent
    }
    places[heap[index].token.slot] = index
  }

  @inlinable public mutating func siftDown(_ start: Int) {
    var index = start
    while true {
      var child = 2 * index + 1
      guard child < heap.endIndex else { break }
      if child + 1 < heap.endIndex, heap[child + 1].isBefore(heap[child]) { child += 1 }
      guard heap[child].isBefore(heap[index]) else { break }
      swap(index, child)
      index = child
    }
    places[heap[index].token.slot] = index
  }

  @inlinable public mutating func swap(_ first: Int, _ second: Int) {
    heap.swapAt(first, second)
    places[heap[first].token.slot] = first
    places[heap[second].token.slot] = second
  }
}

extension PriorityHeap {
  /// The invariants that don't hold; empty if all do.
  ///
  /// - Returns: One sentence for each violation.
  /// - Complexity: O(*n*).
  public func invariantViolations() -> [String] {
    var violations: [String] = []
    for index in heap.indices {
      if index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
        violations.append("entry \(index) comes before its parent")
      }
      if places[heap[index].token.slot] != index { violations.append("entry \(index) doesn't know its place") }
    }
    if heap.count + freeSlots.count != places.count { violations.append("a slot is neither in the heap nor free") }
    for slot in freeSlots where places[slot] != -1 { violations.append("free slot \(slot) is in the heap") }
    return violations
  }
}
