internal import CompactContainers

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
    if path.isRoot { return (root, 1) }
    return unsafe deepestNode(on: path.bytes.span.bytes)
  }

  private func deepestNode(on path: RawSpan) -> (node: NodeIndex, end: Int) {
    var node = root
    var end = 0
    while end < path.byteCount {
      let next = path.endOfComponent(from: end + 1)
      let name = path.extracting((end + 1)..<next)
      let child = child(of: node, named: name, nodes[node].fingerprint.child(named: name))
      if child == ItemTree.none { break }
      node = child
      end = next
    }
    return (node, end)
  }

  mutating func makeNode(at path: ItemPath) -> NodeIndex {
    if path.isRoot { return root }
    let bytes = unsafe path.bytes.span.bytes
    var (node, end) = deepestNode(on: bytes)
    while end < bytes.byteCount {
      let next = bytes.endOfComponent(from: end + 1)
      node = addChild(to: node, named: bytes.extracting((end + 1)..<next))
      end = next
    }
    return node
  }

  func path(of node: NodeIndex) -> ItemPath {
    if node == root { return .root }
    var byteCount = 0
    var current = node
    while current != root {
      byteCount += 1 + nodes[current].name.count
      current = nodes[current].parent
    }
    var bytes = [UInt8](repeating: ItemPath.slash, count: byteCount)
    unsafe bytes.withUnsafeMutableBytes { buffer in
      var end = byteCount
      var current = node
      while current != root, let start = buffer.baseAddress {
        end -= nodes[current].name.count
        unsafe names.write(nodes[current].name, to: start + end)
        end -= 1
        current = nodes[current].parent
      }
    }
    return ItemPath(canonical: bytes)
  }

  func path(ofClaim claim: ClaimIndex) -> ItemPath { path(of: claims[claim].node) }

  private func child(of parent: NodeIndex, named name: RawSpan, _ fingerprint: PathFingerprint) -> NodeIndex {
    nodes.first(withHash: fingerprint.rawValue) { node in
      node.fingerprint == fingerprint && node.parent == parent && names.isEqual(node.name, name)
    }
  }

  private mutating func addChild(to parent: NodeIndex, named name: RawSpan) -> NodeIndex {
    var node = Node(
      name: names.insert(name), fingerprint: nodes[parent].fingerprint.child(named: name), parent: parent,
      isPackage: isPackageName(name))
    let branch = expand(parent)
    let sibling = branches[branch].firstChild
    node.nextSibling = sibling
    let index = nodes.insert(node)
    if sibling != ItemTree.none { nodes[sibling].previousSibling = index }
    branches[branch].firstChild = index
    return index
  }

  /// Removes `node` and every ancestor that nothing is attached to any more.
  mutating func prune(_ node: NodeIndex) {
    var current = node
    while current != root, nodes[current].content == .nothing {
      let parent = nodes[current].parent
      journalRemoval(of: current)
      unlink(current)
      names.remove(nodes[current].name)
      nodes.remove(current)
      current = parent
    }
  }

  private mutating func unlink(_ index: NodeIndex) {
    let (previous, next) = (nodes[index].previousSibling, nodes[index].nextSibling)
    if next != ItemTree.none { nodes[next].previousSibling = previous }
    if previous != ItemTree.none {
      nodes[previous].nextSibling = next
    } else {
      let parent = nodes[index].parent
      branches[nodes[parent].attachment].firstChild = next
      if next == ItemTree.none { reduce(parent) }
    }
  }
}

// MARK: - Packages

extension ItemTree {
  /// The item that a claim on `node` really locks: the outermost package around it, or the node itself.
  func lockNode(of node: NodeIndex) -> NodeIndex {
    if packageExtensions.isEmpty { return node }
    var result = node
    var current = node
    while current != ItemTree.none {
      if nodes[current].isPackage { result = current }
      current = nodes[current].parent
    }
    return result
  }

  /// Whether the item itself is a package.
  func isPackagePath(_ path: ItemPath) -> Bool {
    let start = path.bytes.lastIndex(of: ItemPath.slash).map { $0 + 1 } ?? 0
    return unsafe isPackageName(path.bytes.span.bytes.extracting(start..<path.bytes.count))
  }

  /// Whether the item is a package or inside one.
  func isInPackage(_ path: ItemPath) -> Bool {
    if packageExtensions.isEmpty || path.isRoot { return false }
    let bytes = unsafe path.bytes.span.bytes
    var end = 0
    while end < bytes.byteCount {
      let next = bytes.endOfComponent(from: end + 1)
      if isPackageName(bytes.extracting((end + 1)..<next)) { return true }
      end = next
    }
    return false
  }

  private func isPackageName(_ name: RawSpan) -> Bool {
    packageExtensions.contains { suffix in
      let dot = name.byteCount - suffix.count - 1
      return dot > 0 && name.byte(at: dot) == UInt8(ascii: ".")
        && suffix.indices.allSatisfy { name.byte(at: dot + 1 + $0) == suffix[$0] }
    }
  }
}

extension RawSpan {
  fileprivate func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  /// The position behind the component that starts at `start`.
  fileprivate func endOfComponent(from start: Int) -> Int {
    var end = start
    while end < byteCount, unsafe unsafeLoad(fromUncheckedByteOffset: end, as: UInt8.self) != ItemPath.slash {
      end += 1
    }
    return end
  }
}
