package import FileAccessArbiter

/// What a process was lent: where it may grant itself plain accesses.
///
/// The service lends a directory while requests of the process may be under way, and grants those that the directory covers
/// as if they had been granted under the loan. So the process grants itself nothing beside them, see ``Loan/companions``.
/// Whatever it requests later in the way of a loan it requests after having given the loan back, see ``inTheWay(of:)``.
package struct LoanTable: Sendable {
  /// A directory about which the process decides alone for now.
  package struct Loan: Hashable, Sendable {
    package let root: ItemPath
    package let mode: DelegationMode
    /// Accesses of the process that the service knew, or was about to know, when it lent this, until they end.
    package fileprivate(set) var companions: [AccessID: [AccessRequest.Item]]

    fileprivate func covers(_ path: ItemPath, isWrite: Bool) -> Bool {
      (mode == .writing || !isWrite) && root.isSameOrContains(path)
        && !companions.values.joined().contains { $0.concerns(path, isWrite: isWrite) }
    }

    /// Whether the arbiter keeps such an access waiting as long as this is lent.
    fileprivate func conflicts(with item: AccessRequest.Item) -> Bool {
      if mode == .reading, !item.access.isWrite { return false }
      return root.isSameOrContains(item.path) || item.access.includesContents && item.path.contains(root)
    }
  }

  private var loans: [DelegationID: Loan] = [:]
  /// The latest loan of each directory.
  private var loansByRoot: [ItemPath: DelegationID] = [:]
  /// Loans that have companions: few, however many there are.
  private var accompanied: Set<DelegationID> = []

  package init() {}

  package var isEmpty: Bool { loans.isEmpty }

  /// All loans in the order in which they were lent.
  package var sorted: [(id: DelegationID, loan: Loan)] {
    loans.sorted { $0.key < $1.key }.map { (id: $0.key, loan: $0.value) }
  }

  package subscript(id: DelegationID) -> Loan? { loans[id] }

  /// The service has lent something.
  ///
  /// - Parameters:
  ///   - id: The loan.
  ///   - root: The directory.
  ///   - mode: What may be done alone inside.
  ///   - known: The accesses of the process that the service knows or has been told of, wherever they are.
  package mutating func borrow(
    _ id: DelegationID, _ root: ItemPath, _ mode: DelegationMode, beside known: some Sequence<(AccessID, AccessRequest)>
  ) {
    var loan = Loan(root: root, mode: mode, companions: [:])
    for (access, request) in known {
      let items = request.items.filter { root.isSameOrContains($0.path) || $0.path.contains(root) }
      if !items.isEmpty { loan.companions[access] = items }
    }
    if !loan.companions.isEmpty { accompanied.insert(id) }
    loans[id] = loan
    loansByRoot[root] = id
  }

  /// An access that the service knew has ended.
  package mutating func accessEnded(_ access: AccessID) {
    for id in accompanied {
      loans[id]?.companions[access] = nil
      if loans[id]?.companions.isEmpty != false { accompanied.remove(id) }
    }
  }

  /// The loan under which the process may grant itself such a claim.
  ///
  /// - Complexity: O(depth of the path), however much was lent.
  package func loan(for path: ItemPath, isWrite: Bool) -> DelegationID? {
    if loans.isEmpty { return nil }
    var root: ItemPath? = path
    while let candidate = root {
      if let id = loansByRoot[candidate], loans[id]?.covers(path, isWrite: isWrite) == true { return id }
      root = candidate.parent
    }
    return nil
  }

  /// The loans to be given back before the service is asked for an access that they'd keep waiting.
  ///
  /// - Complexity: O(depths of the paths); for items with all that is inside them, also the number of loans.
  package func inTheWay(of request: AccessRequest) -> [DelegationID] {
    if loans.isEmpty || request.isPreparation { return [] }
    var found: Set<DelegationID> = []
    for item in request.items {
      if item.access.includesContents {
        for (id, loan) in loans where loan.conflicts(with: item) { found.insert(id) }
        continue
      }
      var root: ItemPath? = item.path
      while let candidate = root {
        if let id = loansByRoot[candidate], loans[id]?.conflicts(with: item) == true { found.insert(id) }
        root = candidate.parent
      }
    }
    return found.sorted()
  }

  @discardableResult
  package mutating func giveBack(_ id: DelegationID) -> Loan? {
    guard let loan = loans.removeValue(forKey: id) else { return nil }
    if loansByRoot[loan.root] == id { loansByRoot[loan.root] = nil }
    accompanied.remove(id)
    return loan
  }

  package mutating func forgetAll() { self = LoanTable() }
}

extension AccessRequest.Item {
  /// Whether a plain access of the path by the same process has to wait until this one ends.
  fileprivate func concerns(_ path: ItemPath, isWrite: Bool) -> Bool {
    (isWrite || access.isWrite) && (self.path == path || access.includesContents && self.path.contains(path))
  }
}
