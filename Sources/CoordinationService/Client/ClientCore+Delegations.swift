package import FileAccessArbiter

// The accesses that this process may decide alone.

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
  /// Called before any other event: the process may have been stopped, and may not have received the state of the
  /// others.
  ///
  /// - Parameter revocation: The rights that were taken.
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

  /// Returns the delegations that would keep a request waiting, before the request is sent to the service.
  ///
  /// It saves the service the recall, and shows the service that a request which comes while a delegation lasts was
  /// under way before the delegation.
  mutating func makeWay(for request: AccessRequest) {
    if has(.delegationKeptDespiteRequest) { return }
    for id in delegations.inTheWay(of: request) { giveBack(id) }
  }

  /// Returns a delegation, after reporting the accesses that were granted under it and still last.
  mutating func giveBack(_ id: DelegationID) {
    if revocation != nil { return effects.append(.collectClaims(inside: .root, .revocation)) }
    guard let delegation = delegations[id] else { return }
    effects.append(.forbidClaims)
    effects.append(.collectClaims(inside: delegation.root, .delegation(id)))
  }

  /// Claims of the fast tier have been reported by `ArbiterEvent.accessAdopted`, as far as they lasted.
  ///
  /// - Parameter purpose: The purpose for which they were collected.
  /// - Returns: The effects that come before all others.
  package mutating func claimsCollected(_ purpose: ClaimCollection) -> [ClientEffect] {
    switch purpose {
    case .delegation(let id):
      if !has(.delegationKept) { delegations.remove(id) }
      tell(.delegationReturned(id))
    case .revocation:
      // This process was stopped when the service recalled something, and others don't wait for that any more.
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
