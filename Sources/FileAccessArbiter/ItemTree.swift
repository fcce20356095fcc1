/// The tree of items that somebody claims or presents, keyed by the components of canonical paths.
///
/// A node lives while a claim or presenter is attached to it or below it. Nodes count what is attached below them, so
/// that a look at a path costs in proportion to its depth, whatever is claimed or presented elsewhere.
struct ItemTree: Sendable {
  typealias NodeIndex = Int32
  typealias ClaimIndex = Int32
  static let none: Int32 = -1

  struct Node: Sendable {
    let name: [UInt8]
    let hash: UInt64
    let parent: NodeIndex
    let isPackage: Bool
    var firstChild = ItemTree.none
    var nextSibling = ItemTree.none
    var previousSibling = ItemTree.none
    /// Held claims on this very item.
    var held = ClaimList()
    /// Claims on this very item that wait, in order of request.
    var waiting = ClaimList()
    var deepClaimCount: Int32 = 0
    var writeClaimCount: Int32 = 0
    /// Claims in this node and below it.
    var claimCountInSubtree: Int32 = 0
    var presenters: [PresenterID] = []
    /// Presenters of this node and of nodes below it.
    var presenterCountInSubtree: Int32 = 0
    /// The next node in the same bucket of the child table.
    var nextInBucket = ItemTree.none

    subscript(claims isHeld: Bool) -> ClaimList {
      get { isHeld ? held : waiting }
      _modify {
        if isHeld { yield &held } else { yield &waiting }
      }
    }
  }

  /// The ends of a linked list of claims.
  struct ClaimList: Hashable, Sendable {
    var first = ItemTree.none
    var last = ItemTree.none
  }

  struct Claim: Sendable {
    let access: AccessID
    /// The place of its access in the order of requests.
    let sequence: UInt64
    /// Its access is granted, so it's in everybody's way, whoever was first.
    fileprivate(set) var isHeld: Bool
    /// Which of the access's items this claim belongs to.
    let item: Int32
    let mode: LockMode
    fileprivate(set) var node: NodeIndex
    fileprivate(set) var previous = ItemTree.none
    fileprivate(set) var next = ItemTree.none
  }

  private(set) var nodes = Slab<Node>()
  private(set) var claims = Slab<Claim>()
  /// Chained hash table from (parent, name) to child.
  private var buckets = [NodeIndex](repeating: ItemTree.none, count: 64)
  let root: NodeIndex
  let packageExtensions: [[UInt8]]

  /// Creates a tree in which directories with one of these extensions are packages.
  ///
  /// No extension, no packages.
  init(packageExtensions: [String] = []) {
    self.packageExtensions = packageExtensions.map { Array($0.utf8) }
    root = nodes.insert(Node(name: [], hash: 0, parent: ItemTree.none, isPackage: false))
  }
}

// MARK: - Finding and making nodes

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
    isPackageName(path.bytes.split(separator: ItemPath.slash).last.map(Array.init) ?? [])
  }

  private func isPackageName(_ name: [UInt8]) -> Bool {
    packageExtensions.contains { suffix in
      name.count > suffix.count + 1 && name[name.count - suffix.count - 1] == UInt8(ascii: ".")
        && name.suffix(suffix.count).elementsEqual(suffix)
    }
  }

  private func child(of parent: NodeIndex, named name: ArraySlice<UInt8>) -> NodeIndex? {
    let hash = ItemTree.hash(name, in: parent)
    var node = buckets[Int(truncatingIfNeeded: hash) & (buckets.count - 1)]
    while node != ItemTree.none {
      if nodes[node].hash == hash, nodes[node].parent == parent, nodes[node].name.elementsEqual(name) { return node }
      node = nodes[node].nextInBucket
    }
    return nil
  }

  private mutating func addChild(to parent: NodeIndex, named name: [UInt8]) -> NodeIndex {
    if nodes.count > buckets.count { growBuckets() }
    let hash = ItemTree.hash(name[...], in: parent)
    let bucket = Int(truncatingIfNeeded: hash) & (buckets.count - 1)
    var node = Node(name: name, hash: hash, parent: parent, isPackage: isPackageName(name))
    node.nextSibling = nodes[parent].firstChild
    node.nextInBucket = buckets[bucket]
    let index = nodes.insert(node)
    if node.nextSibling != ItemTree.none { nodes[node.nextSibling].previousSibling = index }
    nodes[parent].firstChild = index
    buckets[bucket] = index
    return index
  }

  /// Removes `node` and every ancestor that nothing is attached to any more.
  private mutating func prune(_ node: NodeIndex) {
    var current = node
    while current != root, nodes[current].firstChild == ItemTree.none, nodes[current].claimCountInSubtree == 0,
      nodes[current].presenterCountInSubtree == 0
    {
      let parent = nodes[current].parent
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
    let bucket = Int(truncatingIfNeeded: node.hash) & (buckets.count - 1)
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
      let bucket = Int(truncatingIfNeeded: nodes[index].hash) & (buckets.count - 1)
      nodes[index].nextInBucket = buckets[bucket]
      buckets[bucket] = index
    }
  }

  /// FNV-1a over the name, begun with the parent, and mixed so that the low bits are good.
  private static func hash(_ name: ArraySlice<UInt8>, in parent: NodeIndex) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ (UInt64(UInt32(bitPattern: parent)) &* 0x9e37_79b9_7f4a_7c15)
    for byte in name { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    hash ^= hash >> 32
    return hash &* 0x9e37_79b9_7f4a_7c15 ^ (hash >> 29)
  }
}

// MARK: - Attaching claims and presenters

extension ItemTree {
  mutating func attachClaim(
    access: AccessID, item: Int32, mode: LockMode, sequence: UInt64 = 0, isHeld: Bool = false, at path: ItemPath
  ) -> ClaimIndex {
    let node = makeNode(at: path)
    let claim = claims.insert(
      Claim(access: access, sequence: sequence, isHeld: isHeld, item: item, mode: mode, node: node))
    link(claim, to: node)
    return claim
  }

  mutating func detachClaim(_ claim: ClaimIndex) {
    let node = unlinkClaim(claim)
    claims.remove(claim)
    prune(node)
  }

  /// Its access was granted: the claim leaves the queue.
  mutating func hold(_ claim: ClaimIndex) {
    let node = claims[claim].node
    removeFromList(claim, at: node)
    claims[claim].isHeld = true
    insertIntoList(claim, at: node)
  }

  /// Moves a claim to another item, where it takes its place in the order of requests.
  mutating func reattachClaim(_ claim: ClaimIndex, at path: ItemPath) {
    let old = unlinkClaim(claim)
    let node = makeNode(at: path)
    claims[claim].node = node
    link(claim, to: node)
    prune(old)
  }

  mutating func attachPresenter(_ presenter: PresenterID, at path: ItemPath) -> NodeIndex {
    let node = makeNode(at: path)
    nodes[node].presenters.append(presenter)
    forEachAncestor(ofOrSame: node) { $0.presenterCountInSubtree += 1 }
    return node
  }

  mutating func detachPresenter(_ presenter: PresenterID, from node: NodeIndex) {
    guard let index = nodes[node].presenters.firstIndex(of: presenter) else {
      preconditionFailure("\(presenter) is not attached to \(path(of: node))")
    }
    nodes[node].presenters.remove(at: index)
    forEachAncestor(ofOrSame: node) { $0.presenterCountInSubtree -= 1 }
    prune(node)
  }

  private mutating func link(_ claim: ClaimIndex, to node: NodeIndex) {
    insertIntoList(claim, at: node)
    count(claim, in: node, by: 1)
  }

  private mutating func unlinkClaim(_ claim: ClaimIndex) -> NodeIndex {
    let node = claims[claim].node
    removeFromList(claim, at: node)
    count(claim, in: node, by: -1)
    return node
  }

  /// Newcomers go to the end at once; only a claim that was moved here has to look for its place.
  private mutating func insertIntoList(_ claim: ClaimIndex, at node: NodeIndex) {
    let isHeld = claims[claim].isHeld
    var previous = nodes[node][claims: isHeld].last
    while previous != ItemTree.none, claims[previous].sequence > claims[claim].sequence {
      previous = claims[previous].previous
    }
    let next = previous == ItemTree.none ? nodes[node][claims: isHeld].first : claims[previous].next
    claims[claim].previous = previous
    claims[claim].next = next
    connect(previous, next, claim, claim, isHeld: isHeld, at: node)
  }

  private mutating func removeFromList(_ claim: ClaimIndex, at node: NodeIndex) {
    let record = claims[claim]
    connect(record.previous, record.next, record.next, record.previous, isHeld: record.isHeld, at: node)
  }

  /// Lets what is before a gap point to `follower`, and what is behind it to `leader`.
  private mutating func connect(
    _ previous: ClaimIndex, _ next: ClaimIndex, _ follower: ClaimIndex, _ leader: ClaimIndex, isHeld: Bool,
    at node: NodeIndex
  ) {
    if previous == ItemTree.none {
      nodes[node][claims: isHeld].first = follower
    } else {
      claims[previous].next = follower
    }
    if next == ItemTree.none {
      nodes[node][claims: isHeld].last = leader
    } else {
      claims[next].previous = leader
    }
  }

  private mutating func count(_ claim: ClaimIndex, in node: NodeIndex, by change: Int32) {
    let mode = claims[claim].mode
    if !mode.isRead { nodes[node].writeClaimCount += change }
    if mode.isDeep { nodes[node].deepClaimCount += change }
    forEachAncestor(ofOrSame: node) { $0.claimCountInSubtree += change }
  }

  private mutating func forEachAncestor(ofOrSame node: NodeIndex, _ body: (inout Node) -> Void) {
    var current = node
    while current != ItemTree.none {
      body(&nodes[current])
      current = nodes[current].parent
    }
  }
}

// MARK: - Looking around

extension ItemTree {
  /// Calls `body` for the node's claims that wait, then for the held ones, newest first, until it answers `false`.
  /// - Returns: Whether `body` always answered `true`.
  func forEachClaim(at node: NodeIndex, _ body: (ClaimIndex, Claim) -> Bool) -> Bool {
    forEachClaim(from: nodes[node].waiting.last, body) && forEachClaim(from: nodes[node].held.last, body)
  }

  /// Calls `body` for those of the node's claims that wait before `claim`, which waits there too, then for the held ones.
  func forEachClaim(before claim: ClaimIndex, _ body: (ClaimIndex, Claim) -> Bool) -> Bool {
    forEachClaim(from: claims[claim].previous, body) && forEachClaim(from: nodes[claims[claim].node].held.last, body)
  }

  private func forEachClaim(from last: ClaimIndex, _ body: (ClaimIndex, Claim) -> Bool) -> Bool {
    var index = last
    while index != ItemTree.none {
      let claim = claims[index]
      if !body(index, claim) { return false }
      index = claim.previous
    }
    return true
  }

  /// Calls `body` for `top` and every node below it for which `isWorthVisiting` answers `true`, parents first.
  ///
  /// Subtrees that are not worth visiting are skipped whole. Needs no stack, whatever the depth.
  func forEachNode(
    inSubtreeOf top: NodeIndex, where isWorthVisiting: (Node) -> Bool, _ body: (NodeIndex) -> Bool
  ) -> Bool {
    guard isWorthVisiting(nodes[top]) else { return true }
    var current = top
    while true {
      if !body(current) { return false }
      var next = firstWorthy(from: nodes[current].firstChild, isWorthVisiting)
      while next == ItemTree.none {
        if current == top { return true }
        next = firstWorthy(from: nodes[current].nextSibling, isWorthVisiting)
        if next == ItemTree.none { current = nodes[current].parent }
      }
      current = next
    }
  }

  private func firstWorthy(from node: NodeIndex, _ isWorthVisiting: (Node) -> Bool) -> NodeIndex {
    var current = node
    while current != ItemTree.none, !isWorthVisiting(nodes[current]) { current = nodes[current].nextSibling }
    return current
  }
}
