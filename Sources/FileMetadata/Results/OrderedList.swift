/// Elements in a total order that are reached by position and by value: a B+ tree whose nodes count the elements below
/// them.
///
/// A copy costs nothing and stays as it is: a later change copies the nodes on the way to it, and shares all others. So
/// a reader keeps a consistent list for as long as it likes.
package struct OrderedList<Order: TotalOrder>: Sendable {
  package typealias Element = Order.Element

  /// The order of the elements.
  package let order: Order
  /// How many elements or children a node may have.
  let capacity: Int
  var root: Node

  /// Creates an empty list.
  ///
  /// - Parameters:
  ///   - order: The order of the elements.
  ///   - capacity: How many elements or children a node may have, at least 4; tests make deep trees of few elements.
  package init(_ order: Order, capacity: Int = LeafBuilder.capacity) {
    precondition(capacity >= 4, "a node of \(capacity) can't be divided")
    self.order = order
    self.capacity = capacity
    root = Node(elements: [])
  }

  /// Creates a list of elements that come in any order, all different.
  ///
  /// - Complexity: O(*n* log *n*); O(*n*) if they're in order already.
  package init(_ order: Order, of elements: [Element], capacity: Int = LeafBuilder.capacity) {
    let sorted = elements.isSorted(by: order.precedes) ? elements : elements.sorted(by: order.precedes)
    self.init(order, sorted: sorted, capacity: capacity)
  }

  private init(_ order: Order, sorted: [Element], capacity: Int) {
    self.init(order, leaves: Self.leaves(of: sorted, capacity), capacity: capacity)
  }

  /// Creates a list of leaves, in order, each as a ``LeafBuilder`` makes them.
  init(_ order: Order, leaves: [Node], capacity: Int = LeafBuilder.capacity) {
    self.init(order, capacity: capacity)
    var level = leaves
    while level.count > 1 { level = Self.chunks(of: level, capacity).map { Node(children: Array($0)) } }
    if let top = level.first { root = top }
  }

  private static func leaves(of sorted: [Element], _ capacity: Int) -> [Node] {
    chunks(of: sorted, capacity).map { Node(elements: Array($0)) }
  }

  /// Parts of about the same size, none of them larger than three quarters of a node, so that there's room.
  private static func chunks<Member>(of members: [Member], _ capacity: Int) -> [ArraySlice<Member>] {
    let chunkCount = max(1, (members.count * 4 + capacity * 3 - 1) / (capacity * 3))
    return (0..<chunkCount).map { number in
      members[(members.count * number / chunkCount)..<(members.count * (number + 1) / chunkCount)]
    }
    .filter { !$0.isEmpty }
  }

  /// How many elements there are.
  ///
  /// - Complexity: O(1).
  package var count: Int { root.count }

  /// The element at a position.
  ///
  /// - Complexity: O(log *n*).
  package subscript(position: Int) -> Element {
    precondition(position >= 0 && position < count, "position \(position) in a list of \(count)")
    var node = root
    var rest = position
    while !node.isLeaf {
      var child = 0
      while rest >= node.children[child].count {
        rest -= node.children[child].count
        child += 1
      }
      node = node.children[child]
    }
    return node.elements[rest]
  }

  /// How many elements come before one, and whether it's in the list itself.
  ///
  /// - Complexity: O(log *n*).
  package func place(of element: Element) -> (position: Int, isMember: Bool) {
    var node = root
    var position = 0
    while !node.isLeaf {
      let child = node.child(for: element, order)
      for before in 0..<child { position += node.children[before].count }
      node = node.children[child]
    }
    let slot = node.slot(for: element, order)
    let isMember = slot < node.elements.count && !order.precedes(element, node.elements[slot])
    return (position + slot, isMember)
  }

  /// All elements in order.
  ///
  /// - Complexity: O(*n*).
  package var elements: [Element] {
    var result: [Element] = []
    result.reserveCapacity(count)
    for leaf in root.leaves { result += leaf.elements }
    return result
  }

  /// Calls `body` for all elements in order.
  ///
  /// - Complexity: O(*n*).
  package func forEach(_ body: (Element) -> Void) { root.forEach(body) }

  /// Calls `body` for the elements in order, until it returns `true`.
  ///
  /// - Complexity: O(*k*) for *k* calls.
  func visit(until body: (Element) -> Bool) { _ = root.isStopped(body) }
}

extension OrderedList {
  /// Makes leaves of elements that come in order, without copying them: a part of a list, on any thread.
  package struct LeafBuilder {
    /// How many elements or children a node may have, unless stated otherwise.
    package static var capacity: Int { 64 }
    /// So that there's room for more.
    private static var elementCount: Int { capacity * 3 / 4 }

    private var leaves: [Node] = []
    private var elements: [Element] = []

    /// Adds an element behind all others.
    mutating func append(_ element: Element) {
      if elements.count == Self.elementCount { close() }
      if elements.isEmpty { elements.reserveCapacity(Self.elementCount) }
      elements.append(element)
    }

    /// All leaves in order; none if there was no element.
    mutating func finish() -> [Node] {
      if !elements.isEmpty { close() }
      defer { leaves = [] }
      return leaves
    }

    private mutating func close() {
      leaves.append(Node(elements: elements))
      elements = []
    }
  }
}

extension OrderedList {
  /// From so many elements on, and so large a part of the list, it costs less to make the list anew than to put in one after the other.
  static var mergeCountMin: Int { 32 }
  static var mergeShare: Int { 16 }

  /// Puts many elements that aren't in the list in their places.
  ///
  /// - Parameter new: The elements, in any order.
  /// - Returns: Which are where.
  /// - Complexity: O(*n* + *k* log *k*) for *k* new elements among *n*.
  mutating func merge(_ new: [Element]) -> ListDifference<Element> {
    let new = new.isSorted(by: order.precedes) ? new : new.sorted(by: order.precedes)
    guard let first = new.first else { return ListDifference() }
    if count == 0 || order.precedes(self[count - 1], first) { return append(new) }
    let old = elements
    var merged: [Element] = []
    merged.reserveCapacity(old.count + new.count)
    var difference = ListDifference<Element>()
    difference.added.reserveCapacity(new.count)
    var next = 0
    for element in new {
      while next < old.count, order.precedes(old[next], element) {
        merged.append(old[next])
        next += 1
      }
      difference.added.append(.init(position: merged.count, element: element))
      merged.append(element)
    }
    merged += old[next...]
    self = OrderedList(order, sorted: merged, capacity: capacity)
    return difference
  }

  /// Puts elements behind all others, as a first search finds them where results aren't sorted; present ones stay in
  /// their leaves.
  private mutating func append(_ new: [Element]) -> ListDifference<Element> {
    var difference = ListDifference<Element>()
    difference.added.reserveCapacity(new.count)
    for element in new { difference.added.append(.init(position: count + difference.added.count, element: element)) }
    self = OrderedList(order, leaves: root.leaves + Self.leaves(of: new, capacity), capacity: capacity)
    return difference
  }

  /// Puts elements that aren't in the list in their places.
  ///
  /// - Parameter new: The elements, in any order.
  /// - Returns: Which are where.
  /// - Complexity: O(*k* log *n*) for *k* new elements among *n*.
  mutating func add(_ new: [Element]) -> ListDifference<Element> {
    if new.count >= Self.mergeCountMin, new.count >= count / Self.mergeShare { return merge(new) }
    return apply(new.map { ListUpdate(old: nil, new: $0) })
  }

  /// Puts an element that isn't in the list in its place.
  ///
  /// - Complexity: O(log *n*).
  package mutating func insert(_ element: Element) {
    makeRootUnique()
    guard let right = root.insert(element, order, capacity) else { return }
    root = Node(children: [root, right])
  }

  /// Takes an element out.
  ///
  /// - Returns: The element that was there; `nil` if the element isn't in the list.
  /// - Complexity: O(log *n*).
  @discardableResult
  package mutating func remove(_ element: Element) -> Element? {
    makeRootUnique()
    let removed = root.remove(element, order, capacity)
    while !root.isLeaf, root.children.count == 1 { root = root.children[0] }
    return removed
  }

  /// Puts an element in the place of one that comes neither before nor behind it, and is in the list.
  ///
  /// - Complexity: O(log *n*).
  mutating func replace(with element: Element) {
    makeRootUnique()
    root.replace(with: element, order)
  }

  private mutating func makeRootUnique() {
    if !isKnownUniquelyReferenced(&root) { root = root.copy() }
  }
}

extension Array {
  /// Whether each element comes before the one behind it.
  fileprivate func isSorted(by precedes: (Element, Element) -> Bool) -> Bool {
    for place in indices.dropFirst() where !precedes(self[place - 1], self[place]) { return false }
    return true
  }
}
