package import FileAccessArbiter

/// The delegations of a process: where it may grant itself plain accesses.
///
/// The service delegates a directory while requests of the process may be under way, and grants those that the
/// directory covers as if they had been granted under the delegation. So the process grants itself nothing beside them,
/// see ``Held/companions``. A later request in the way of a delegation is sent after the delegation has been returned,
/// see ``inTheWay(of:)``.
package struct DelegationTable: Sendable {
  /// A directory about which the process decides alone for now.
  package struct Held: Hashable, Sendable {
    package let root: ItemPath
    package let mode: DelegationMode
    /// Accesses of the process that the service had, or was about to receive, when it delegated this, until they end.
    package fileprivate(set) var companions: [AccessID: [AccessRequest.Item]]

    fileprivate func covers(_ path: ItemPath, isWrite: Bool) -> Bool {
      (mode == .writing || !isWrite) && root.isSameOrContains(path)
        && !companions.values.joined().contains { $0.concerns(path, isWrite: isWrite) }
    }

    /// Whether the arbiter keeps such an access waiting as long as this is delegated.
    fileprivate func conflicts(with item: AccessRequest.Item) -> Bool {
      if mode == .reading, !item.access.isWrite { return false }
      return root.isSameOrContains(item.path) || item.access.includesContents && item.path.contains(root)
    }
  }

  private var held: [DelegationID: Held] = [:]
  /// The latest delegation of each directory.
  private var idsByRoot: [ItemPath: DelegationID] = [:]
  /// Delegations that have companions: few, however many there are.
  private var accompanied: Set<DelegationID> = []

  package init() {}

  package var isEmpty: Bool { held.isEmpty }

  /// All delegations in the order in which they came.
  package var sorted: [(id: DelegationID, delegation: Held)] {
    held.sorted { $0.key < $1.key }.map { (id: $0.key, delegation: $0.value) }
  }

  package subscript(id: DelegationID) -> Held? { held[id] }

  /// The service has delegated a directory.
  ///
  /// - Parameters:
  ///   - id: The delegation.
  ///   - root: The directory.
  ///   - mode: The accesses that may be granted alone inside.
  ///   - known: The accesses of the process that the service has or has been sent, wherever they are.
  package mutating func add(
    _ id: DelegationID, _ root: ItemPath, _ mode: DelegationMode, beside known: some Sequence<(AccessID, AccessRequest)>
  ) {
    var delegation = Held(root: root, mode: mode, companions: [:])
    for (access, request) in known {
      let items: [AccessRequest.Item] = request.items.filter {
        root.isSameOrContains($0.path) || $0.path.contains(root)
      }
      if !items.isEmpty { delegation.companions[access] = items }
    }
    if !delegation.companions.isEmpty { accompanied.insert(id) }
    held[id] = delegation
    idsByRoot[root] = id
  }

  /// An access that the service had has ended.
  package mutating func accessEnded(_ access: AccessID) {
    for id in accompanied {
      held[id]?.companions[access] = nil
      if held[id]?.companions.isEmpty != false { accompanied.remove(id) }
    }
  }

  /// The delegation under which the process may grant itself such a claim.
  ///
  /// - Complexity: O(depth of the path), however much was delegated.
  package func delegation(for path: ItemPath, isWrite: Bool) -> DelegationID? {
    if held.isEmpty { return nil }
    var root: ItemPath? = path
    while let candidate = root {
      if let id = idsByRoot[candidate], held[id]?.covers(path, isWrite: isWrite) == true { return id }
      root = candidate.parent
    }
    return nil
  }

  /// The delegations to be given back before the service is asked for an access that they'd keep waiting.
  ///
  /// - Complexity: O(depths of the paths); for items with all that is inside them, also the number of held.
  package func inTheWay(of request: AccessRequest) -> [DelegationID] {
    if held.isEmpty || request.isPreparation { return [] }
    var found: Set<DelegationID> = []
    for item in request.items {
      if item.access.includesContents {
        for (id, delegation) in held where delegation.conflicts(with: item) { found.insert(id) }
        continue
      }
      var root: ItemPath? = item.path
      while let candidate = root {
        if let id = idsByRoot[candidate], held[id]?.conflicts(with: item) == true { found.insert(id) }
        root = candidate.parent
      }
    }
    return found.sorted()
  }

  @discardableResult
  package mutating func remove(_ id: DelegationID) -> Held? {
    guard let delegation = held.removeValue(forKey: id) else { return nil }
    if idsByRoot[delegation.root] == id { idsByRoot[delegation.root] = nil }
    accompanied.remove(id)
    return delegation
  }

  package mutating func removeAll() { self = DelegationTable() }
}

extension AccessRequest.Item {
  /// Whether a plain access of the path by the same process has to wait until this one ends.
  fileprivate func concerns(_ path: ItemPath, isWrite: Bool) -> Bool {
    (isWrite || access.isWrite) && (self.path == path || access.includesContents && self.path.contains(path))
  }
}
