internal import CompactContainers

// The interests in an item, and the journal of their changes.

/// The places where interests in items have changed since the journal was last read.
struct InterestJournal: Sendable {
  let isKept: Bool
  /// Nodes to check, some of them perhaps removed since, and others in their place.
  var dirtyNodes: [ItemTree.NodeIndex] = []
  /// Of nodes that are no more.
  var removals: [InterestChange] = []

  var isEmpty: Bool { dirtyNodes.isEmpty && removals.isEmpty }
}

extension ItemTree.Branch {
  /// Made of all claims and presenters of this very item.
  var interest: ItemInterest {
    var interest: ItemInterest = hasPresenters ? .presenter : []
    if !held.isEmpty || !waiting.isEmpty { interest.insert(.blocksWriting) }
    if writeClaimCount > 0 { interest.insert(.blocksReading) }
    if deepClaimCount > 0 { interest.insert(.blocksWritingBelow) }
    if deepWriteClaimCount > 0 { interest.insert(.blocksReadingBelow) }
    return interest
  }
}

extension ItemTree {
  /// Whether no claim and no presenter of the item, or of a directory around it, keeps from such an access.
  ///
  /// Deep accesses, and packages with their contents, have more in their way than this checks: never admitted.
  ///
  /// - Complexity: O(length of the path), without allocation.
  func admits(_ access: ItemAccess, at path: ItemPath) -> Bool {
    let mode = LockMode(access)
    if mode.isDeep || isInPackage(path) { return false }
    var (node, end) = deepestNode(on: path)
    if end == path.bytes.count {
      if interest(at: node).contains(mode.isRead ? .blocksReading : .blocksWriting) { return false }
      node = nodes[node].parent
    }
    while node != ItemTree.none, !has(.adoptionIgnoresAround) {
      if interest(at: node).contains(mode.isRead ? .blocksReadingBelow : .blocksWritingBelow) { return false }
      node = nodes[node].parent
    }
    return true
  }

  /// A claim or presenter came to the node or left it.
  mutating func noteInterest(at node: NodeIndex) {
    if !journal.isKept || nodes[node].isInterestDirty { return }
    nodes[node].isInterestDirty = true
    journal.dirtyNodes.append(node)
  }

  /// The node is about to go: nothing is attached to it any more.
  mutating func journalRemoval(of node: NodeIndex) {
    let old = nodes[node].journalledInterest
    if old.isEmpty || has(.interestOfRemovedItemKept) { return }
    journal.removals.append(InterestChange(fingerprint: nodes[node].fingerprint, old: old, new: []))
  }

  /// The changes since the last call.
  ///
  /// Nodes that are gone come last: so an item always has its interest, also when it lost its node and got another one.
  mutating func takeInterestChanges() -> [InterestChange] {
    if journal.isEmpty { return [] }
    var changes: [InterestChange] = []
    for node in journal.dirtyNodes where nodes.contains(node) && nodes[node].isInterestDirty {
      let old = nodes[node].journalledInterest
      var new = interest(at: node)
      if has(.interestOfDeepClaimForgotten) { new.subtract([.blocksReadingBelow, .blocksWritingBelow]) }
      nodes[node].isInterestDirty = false
      if old == new { continue }
      nodes[node].journalledInterest = new
      changes.append(InterestChange(fingerprint: nodes[node].fingerprint, old: old, new: new))
    }
    changes += journal.removals
    // Room for the changes of a usual step is kept, room for a hundred thousand items is not.
    journal.dirtyNodes.removeAll(keepingCapacity: journal.dirtyNodes.count < 256)
    journal.removals.removeAll(keepingCapacity: journal.removals.count < 256)
    return changes
  }
}
