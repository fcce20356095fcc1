extension OrderedList {
  /// A node: either elements, or children and the least element that each of them may have.
  ///
  /// `@unchecked Sendable` because only the owner of the only reference changes it.
  final class Node: @unchecked Sendable {
    /// In order; of a leaf.
    var elements: [Element]
    /// In order, none of them empty; of an inner node.
    var children: [Node]
    /// Elements that aren't before a bound are in the child of the same number or a later one; the first one isn't
    /// read.
    var bounds: [Element]
    /// How many elements are below.
    var count: Int

    init(elements: [Element]) {
      self.elements = elements
      children = []
      bounds = []
      count = elements.count
    }

    convenience init(children: [Node]) {
      self.init(children: children, bounds: children.map(\.least))
    }

    init(children: [Node], bounds: [Element]) {
      elements = []
      self.children = children
      self.bounds = bounds
      count = children.reduce(0) { $0 + $1.count }
    }

    private init(_ other: Node) {
      elements = other.elements
      children = other.children
      bounds = other.bounds
      count = other.count
    }

    func copy() -> Node { Node(self) }

    var isLeaf: Bool { children.isEmpty }
    /// How much of the capacity is used.
    var size: Int { isLeaf ? elements.count : children.count }

    private var least: Element {
      var node = self
      while !node.isLeaf { node = node.children[0] }
      return node.elements[0]
    }

    /// The first place in a leaf whose element doesn't come before another one.
    func slot(for element: Element, _ order: Order) -> Int {
      var low = 0
      var high = elements.count
      while low < high {
        let middle = (low + high) / 2
        if order.precedes(elements[middle], element) { low = middle + 1 } else { high = middle }
      }
      return low
    }

    /// The child in which an element is, if it's anywhere.
    func child(for element: Element, _ order: Order) -> Int {
      var low = 1
      var high = bounds.count
      while low < high {
        let middle = (low + high) / 2
        if order.precedes(element, bounds[middle]) { high = middle } else { low = middle + 1 }
      }
      return low - 1
    }

    func forEach(_ body: (Element) -> Void) {
      for element in elements { body(element) }
      for child in children { child.forEach(body) }
    }

    /// Calls `body` for the elements in order, until it says that this is enough.
    func isStopped(_ body: (Element) -> Bool) -> Bool {
      elements.contains(where: body) || children.contains { $0.isStopped(body) }
    }

    /// All leaves in order; none for an empty list.
    var leaves: [Node] {
      if isLeaf { return elements.isEmpty ? [] : [self] }
      return children.flatMap(\.leaves)
    }
  }
}

extension OrderedList.Node {
  /// - Returns: The upper half of the node, if it had to be divided.
  func insert(_ element: Order.Element, _ order: Order, _ capacity: Int) -> OrderedList.Node? {
    count += 1
    if isLeaf {
      elements.insert(element, at: slot(for: element, order))
    } else {
      let position = child(for: element, order)
      makeUnique(position)
      if let right = children[position].insert(element, order, capacity) {
        bounds.insert(right.least, at: position + 1)
        children.insert(right, at: position + 1)
      }
    }
    return size > capacity ? divide() : nil
  }

  private func divide() -> OrderedList.Node {
    let middle = size / 2
    let right: OrderedList.Node
    if isLeaf {
      right = OrderedList.Node(elements: Array(elements[middle...]))
      elements.removeSubrange(middle...)
    } else {
      right = OrderedList.Node(children: Array(children[middle...]), bounds: Array(bounds[middle...]))
      children.removeSubrange(middle...)
      bounds.removeSubrange(middle...)
    }
    count -= right.count
    return right
  }

  /// Puts an element in the place of one that comes neither before nor behind it.
  func replace(with element: Order.Element, _ order: Order) {
    if isLeaf {
      elements[slot(for: element, order)] = element
    } else {
      let position = child(for: element, order)
      makeUnique(position)
      children[position].replace(with: element, order)
    }
  }

  func remove(_ element: Order.Element, _ order: Order, _ capacity: Int) -> Order.Element? {
    if isLeaf {
      let slot = slot(for: element, order)
      guard slot < elements.count, !order.precedes(element, elements[slot]) else { return nil }
      count -= 1
      return elements.remove(at: slot)
    }
    let position = child(for: element, order)
    makeUnique(position)
    guard let removed = children[position].remove(element, order, capacity) else { return nil }
    count -= 1
    if children[position].size < capacity / 2 { mend(position, capacity) }
    return removed
  }

  /// Joins a child with a neighbour if they fit into one node, so that any two neighbours fill more than one.
  private func mend(_ position: Int, _ capacity: Int) {
    if children[position].size == 0 {
      drop(position)
    } else if position > 0, children[position - 1].size + children[position].size <= capacity {
      join(position - 1)
    } else if position + 1 < children.count, children[position].size + children[position + 1].size <= capacity {
      join(position)
    }
  }

  private func drop(_ position: Int) {
    children.remove(at: position)
    bounds.remove(at: position)
  }

  private func join(_ position: Int) {
    makeUnique(position)
    let left = children[position]
    let right = children[position + 1]
    left.elements += right.elements
    left.children += right.children
    if !right.isLeaf {
      // The first bound of a node is that of the node itself.
      left.bounds += [bounds[position + 1]] + right.bounds.dropFirst()
    }
    left.count += right.count
    drop(position + 1)
  }

  private func makeUnique(_ position: Int) {
    if !isKnownUniquelyReferenced(&children[position]) { children[position] = children[position].copy() }
  }
}

extension OrderedList {
  /// The violated invariants of the tree; empty unless there's a mistake in it.
  ///
  /// - Complexity: O(*n*).
  package var violations: [String] {
    var found: [String] = []
    var depths: Set<Int> = []
    let all = elements
    if !zip(all, all.dropFirst()).allSatisfy(order.precedes) { found.append("the elements aren't in order") }
    check(root, depth: 0, least: nil, beyond: nil, &depths, &found)
    if depths.count > 1 { found.append("leaves are at depths \(depths.sorted())") }
    return found
  }

  private func check(
    _ node: Node, depth: Int, least: Element?, beyond: Element?, _ depths: inout Set<Int>, _ found: inout [String]
  ) {
    if node.size > capacity { found.append("a node of \(node.size) where \(capacity) fit") }
    if node.isLeaf {
      depths.insert(depth)
      if node.count != node.elements.count { found.append("a leaf of \(node.elements.count) counts \(node.count)") }
      if depth > 0, node.elements.isEmpty { found.append("an empty leaf") }
      for element in node.elements {
        if let least, order.precedes(element, least) { found.append("an element before the bound of its node") }
        if let beyond, !order.precedes(element, beyond) { found.append("an element behind the bound of its node") }
      }
      return
    }
    if node.count != node.children.reduce(0, { $0 + $1.count }) { found.append("an inner node counts \(node.count)") }
    if node.bounds.count != node.children.count { found.append("\(node.bounds.count) bounds") }
    for (number, child) in node.children.enumerated() {
      let next = number + 1 < node.bounds.count ? node.bounds[number + 1] : beyond
      check(child, depth: depth + 1, least: number == 0 ? least : node.bounds[number], beyond: next, &depths, &found)
    }
  }
}
