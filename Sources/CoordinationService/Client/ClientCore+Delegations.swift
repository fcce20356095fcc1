package import FileAccessArbiter

// What this process may decide alone.

extension ClientCore {
  /// Whether this process may grant such a claim to itself.
  ///
  /// - Complexity: O(depth of the path), however much was delegated.
  package func covers(_ path: ItemPath, isWrite: Bool) -> Bool {
    delegations.delegation(for: path, isWrite: isWrite) != nil
  }

  /// The token of a claim that this process grants to itself: that of the delegation.
  package func token(for path: ItemPath, isWrite: Bool) -> FencingToken? {
    delegations.delegation(for: path, isWrite: isWrite).map { FencingToken(epoch: epoch, sequence: $0.rawValue) }
  }

  /// The delegations of this process, in the order in which it got them.
  package var heldDelegations: [DelegationID] { delegations.sorted.map(\.id) }

  /// The service has written into this process's memory that rights are taken from it.
  ///
  /// Told before any other event: the process may have been stopped, and know less than others do.
  ///
  /// - Parameter revocation: What was taken.
  package mutating func rightsRevoked(_ revocation: Revocation) {
    if self.revocation != .everything { self.revocation = revocation }
  }

  mutating func take(_ id: DelegationID, _ root: ItemPath, _ mode: DelegationMode) {
    if accesses.count > Self.companionCountMax { return tell(.delegationReturned(id)) }
    delegations.add(
      id, root, mode,
      beside: has(.companionsForgotten)
        ? [:].lazy.map { ($0.key, $0.value) } : accesses.lazy.map { ($0.key, $0.value.request) })
  }

  /// Gives back what would keep a request waiting that the service is about to be told of.
  ///
  /// It saves that the service asks for it, and lets the service know that a request which comes while a delegation lasts was
  /// under way before the delegation.
  mutating func makeWay(for request: AccessRequest) {
    if has(.delegationKeptDespiteRequest) { return }
    for id in delegations.inTheWay(of: request) { giveBack(id) }
  }

  /// Gives back what was delegated, after telling what was granted under it and still lasts.
  mutating func giveBack(_ id: DelegationID) {
    if revocation != nil { return effects.append(.collectClaims(inside: .root, .revocation)) }
    guard let delegation = delegations[id] else { return }
    effects.append(.forbidClaims)
    effects.append(.collectClaims(inside: delegation.root, .delegation(id)))
  }

  /// Claims of the fast tier have been told by `ArbiterEvent.accessAdopted`, as far as they lasted.
  ///
  /// - Parameter purpose: What they were collected for.
  /// - Returns: What to do before anything else.
  package mutating func claimsCollected(_ purpose: ClaimCollection) -> [ClientEffect] {
    switch purpose {
    case .delegation(let id):
      if !has(.delegationKept) { delegations.remove(id) }
      tell(.delegationReturned(id))
    case .revocation:
      // This process was stopped when the service wanted something back, and others don't wait for that any more.
      for (id, _) in delegations.sorted { tell(.delegationReturned(id)) }
      delegations.removeAll()
      effects.append(.acknowledgeRevocation)
      if revocation == .delegations { revocation = nil }
    case .survey(let number): tell(.surveyed(number))
    case .disconnection: suspend()
    case .unreachability: giveUp()
    }
    return takeEffects()
  }
}
