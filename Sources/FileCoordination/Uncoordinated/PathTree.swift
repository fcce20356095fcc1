internal import FileAccessArbiter

/// Values by path, which finds those inside a directory without a visit to any other.
///
/// Each path is in the set of names of its directory, and so is each directory on the way.
struct PathTree<Value: Hashable & Sendable>: Hashable, Sendable {
  private struct Node: Hashable, Sendable {
    var value: Value?
    var children: Set<ItemPath> = []
  }

  private var nodes: [ItemPath: Node] = [:]
  /// How many paths have values.
  private(set) var count = 0
  var isEmpty: Bool { count == 0 }
  #if DEBUG
    /// Counts the visits, for the test that shows how many there are.
    var visits = VisitCounter()
  #endif

  /// - Complexity: O(1), and O(*depth*) to set the first value or remove the last one.
  subscript(path: ItemPath) -> Value? {
    get {
      noteVisit()
      return nodes[path]?.value
    }
    set {
      noteVisit()
      guard let newValue else { return remove(path) }
      if nodes[path] == nil { connect(path) }
      if nodes[path, default: Node()].value.replace(with: newValue) == nil { count += 1 }
    }
  }

  private mutating func connect(_ path: ItemPath) {
    var child = path
    nodes[path] = Node()
    while let directory = child.parent {
      noteVisit()
      let isKnown = nodes[directory] != nil
      nodes[directory, default: Node()].children.insert(child)
      if isKnown { return }
      child = directory
    }
  }

  private mutating func remove(_ path: ItemPath) {
    guard nodes[path]?.value != nil else { return }
    nodes[path]?.value = nil
    count -= 1
    var child = path
    while let node = nodes[child], node.value == nil, node.children.isEmpty {
      noteVisit()
      nodes[child] = nil
      guard let directory = child.parent else { return }
      nodes[directory]?.children.remove(child)
      child = directory
    }
  }

  func hash(into hasher: inout Hasher) {
    var sum = 0
    for (path, node) in nodes {
      guard let value = node.value else { continue }
      var one = hasher
      one.combine(path)
      one.combine(value)
      sum ^= one.finalize()
    }
    hasher.combine(sum)
  }

  /// The values at a path and inside, in no order.
  ///
  /// - Complexity: O(*values at the path and inside*), times the depth of the lowest.
  func inside(_ top: ItemPath) -> [(path: ItemPath, value: Value)] {
    var found: [(path: ItemPath, value: Value)] = []
    var rest = [top]
    while let path = rest.popLast(), let node = nodes[path] {
      noteVisit()
      if let value = node.value { found.append((path, value)) }
      rest += node.children
    }
    return found
  }

  /// Whether there are values at a path or inside.
  ///
  /// - Complexity: O(1).
  func hasValues(inside top: ItemPath) -> Bool {
    noteVisit()
    return nodes[top] != nil
  }

  /// Whether there are values inside a path.
  ///
  /// - Complexity: O(1).
  func hasValuesBelow(_ top: ItemPath) -> Bool {
    noteVisit()
    return nodes[top]?.children.isEmpty == false
  }

  /// The directories around a path that have values, the uppermost one first.
  ///
  /// - Complexity: O(*depth*).
  func around(_ path: ItemPath) -> [(path: ItemPath, value: Value)] {
    path.ancestors.compactMap { directory in self[directory].map { (directory, $0) } }
  }

  private func noteVisit() {
    #if DEBUG
      visits.count += 1
    #endif
  }
}

extension Optional {
  /// - Returns: The former value.
  fileprivate mutating func replace(with value: Wrapped) -> Wrapped? {
    defer { self = value }
    return self
  }
}

#if DEBUG
  /// The number of visits to the nodes of a tree and of its copies.
  ///
  /// `@unchecked Sendable`: for one thread at a time, like the tree. Not a part of its value.
  final class VisitCounter: Hashable, @unchecked Sendable {
    var count = 0

    static func == (first: VisitCounter, second: VisitCounter) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
  }
#endif
