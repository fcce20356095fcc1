// Finding, making and removing nodes.

extension ItemTree {
  /// The node of `path`, or `nil` when nothing is attached there or below.
  /// - Complexity: O(length of the path), without allocation.
  func node(at path: ItemPath) -> NodeIndex? {
    let (node, end) = deepestNode(on: path)
    return end == path.bytes.count ? node : nil
  }

  /// The deepest existing node on the way to `path`, and how many bytes of the path lead to it.
  func deepestNode(on path: ItemPath) -> (node: NodeIndex, end: Int) {
    var node = root
    var end = 0
    if path.isRoot { return (root, 1) }
    while end < path.bytes.count {
      let next = path.endOfComponent(from: end + 1)
      guard let child = child(of: node, named: path.bytes[(end + 1)..<next]) else { break }
      node = child
      end = next
    }
    return (node, end)
  }

  mutating func makeNode(at path: ItemPath) -> NodeIndex {
    var (node, end) = deepestNode(on: path)
    while end < path.bytes.count {
      let next = path.endOfComponent(from: end + 1)
      node = addChild(to: node, named: Array(path.bytes[(end + 1)..<next]))
      end = next
    }
    return node
  }

  func path(of node: NodeIndex) -> ItemPath {
    if node == root { return .root }
    var names: [[UInt8]] = []
    var current = node
    while current != root {
      names.append(nodes[current].name)
      current = nodes[current].parent
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(names.reduce(0) { $0 + $1.count + 1 })
    for name in names.reversed() {
      bytes.append(ItemPath.slash)
      bytes += name
    }
    return ItemPath(canonical: bytes)
  }

  /// The item that a claim on `node` really locks: the outermost package around it, or the node itself.
  func lockNode(of node: NodeIndex) -> NodeIndex {
    var result = node
    var current = node
    while current != ItemTree.none {
      if nodes[current].isPackage { result = current }
      current = nodes[current].parent
    }
    return result
  }

  func isPackagePath(_ path: ItemPath) -> Bool {
    isPackageName(path.bytes.split(separator: ItemPath.slash).last ?? [])
  }

  /// Whether the item is a package or inside one.
  func isInPackage(_ path: ItemPath) -> Bool {
    if packageExtensions.isEmpty || path.isRoot { return false }
    var end = 0
    while end < path.bytes.count {
      let next = path.endOfComponent(from: end + 1)
      if isPackageName(path.bytes[(end + 1)..<next]) { return true }
      end = next
    }
    return false
  }

  private func isPackageName(_ name: ArraySlice<UInt8>) -> Bool {
    packageExtensions.contains { suffix in
      name.count > suffix.count + 1 && name[name.endIndex - suffix.count - 1] == UInt8(ascii: ".")
        && name.suffix(suffix.count).elementsEqual(suffix)
    }
  }

  private func child(of parent: NodeIndex, named name: ArraySlice<UInt8>) -> NodeIndex? {
    let fingerprint = unsafe nodes[parent].fingerprint.child(named: name.span.bytes)
    var node = buckets[bucket(of: fingerprint)]
    while node != ItemTree.none {
      if nodes[node].fingerprint == fingerprint, nodes[node].parent == parent, nodes[node].name.elementsEqual(name) {
        return node
      }
      node = nodes[node].nextInBucket
    }
    return nil
  }

  private mutating func addChild(to parent: NodeIndex, named name: [UInt8]) -> NodeIndex {
    if nodes.count > buckets.count { growBuckets() }
    let fingerprint = unsafe nodes[parent].fingerprint.child(named: name.span.bytes)
    let bucket = bucket(of: fingerprint)
    var node = Node(name: name, fingerprint: fingerprint, parent: parent, isPackage: isPackageName(name[...]))
    node.nextSibling = nodes[parent].firstChild
    node.nextInBucket = buckets[bucket]
    let index = nodes.insert(node)
    if node.nextSibling != ItemTree.none { nodes[node.nextSibling].previousSibling = index }
    nodes[parent].firstChild = index
    buckets[bucket] = index
    return index
  }

  /// Removes `node` and every ancestor that nothing is attached to any more.
  mutating func prune(_ node: NodeIndex) {
    var current = node
    while current != root, nodes[current].firstChild == ItemTree.none, nodes[current].claimCountInSubtree == 0,
      nodes[current].presenterCountInSubtree == 0
    {
      let parent = nodes[current].parent
      journalRemoval(of: current)
      unlink(current)
      nodes.remove(current)
      current = parent
    }
  }

  private mutating func unlink(_ index: NodeIndex) {
    let node = nodes[index]
    if node.previousSibling != ItemTree.none {
      nodes[node.previousSibling].nextSibling = node.nextSibling
    } else {
      nodes[node.parent].firstChild = node.nextSibling
    }
    if node.nextSibling != ItemTree.none { nodes[node.nextSibling].previousSibling = node.previousSibling }
    let bucket = bucket(of: node.fingerprint)
    if buckets[bucket] == index {
      buckets[bucket] = node.nextInBucket
      return
    }
    var current = buckets[bucket]
    while nodes[current].nextInBucket != index { current = nodes[current].nextInBucket }
    nodes[current].nextInBucket = node.nextInBucket
  }

  private mutating func growBuckets() {
    buckets = [NodeIndex](repeating: ItemTree.none, count: buckets.count * 2)
    for index in nodes.indices where index != root {
      let bucket = bucket(of: nodes[index].fingerprint)
      nodes[index].nextInBucket = buckets[bucket]
      buckets[bucket] = index
    }
  }

  private func bucket(of fingerprint: PathFingerprint) -> Int {
    Int(truncatingIfNeeded: fingerprint.rawValue) & (buckets.count - 1)
  }
}
