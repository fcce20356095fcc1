package import FileAccessArbiter

// The slow side: everything here runs under the host's lock.

/// The claims to examine.
package enum ClaimScope: Hashable, Sendable {
  /// Claims of items with this fingerprint.
  case item(UInt64)
  /// All claims; the decision compares paths.
  case all
}

/// The decision about a claim, made under the host's lock.
package enum AdoptionDecision: Hashable, Sendable {
  /// The arbiter has it now among the claims that are held.
  case adopted
  /// The arbiter already had an obstacle to the claim: the claim can't be granted, and has to retreat.
  case refused
  /// The claim has nothing to do with the matter.
  case unconcerned
}

extension FastTier {
  /// Changes the interest in items with a fingerprint.
  ///
  /// Every claim shown from now on meets the raised interest; ``adoptClaims(_:reads:writes:_:)`` finds the others.
  package func changeInterest(
    _ key: UInt64, from old: ItemInterest, to new: ItemInterest, _ ledger: inout InterestLedger
  ) throws(Memory.Failure) {
    if let table = try interests.change(key, from: old, to: new, &ledger) {
      ledger.retire(table, witnesses: try shownClaims())
    }
    if !ledger.retired.isEmpty { try freeRetiredTables(&ledger) }
  }

  /// Offers all claims in a scope for adoption: first the writes, then the reads.
  ///
  /// In this order, because a reader that met a writer of this tier and is about to retreat must be recognised by the
  /// writer's access, which must be in the arbiter by then.
  ///
  /// - Parameters:
  ///   - scope: Which claims.
  ///   - reads: Whether reads are offered. Only together with writes.
  ///   - writes: Whether writes are offered.
  ///   - adopt: Decides about the claim in this slot, and enters it into the arbiter if that admits it. A claim must be
  ///     refused only on account of something whose interest meets it.
  /// - Throws: The error of an operation on the memory, or of `adopt`.
  package func adoptClaims(
    _ scope: ClaimScope, reads: Bool, writes: Bool,
    _ adopt: (Memory.Address) throws(Memory.Failure) -> AdoptionDecision
  ) throws(Memory.Failure) {
    let used = Int(try memory.load(interests.usedShards))
    if writes { try offer(scope, SlotState.isWrite, used, adopt) }
    if reads { try offer(scope, 0, used, adopt) }
  }

  private func offer(
    _ scope: ClaimScope, _ kind: UInt64, _ used: Int,
    _ adopt: (Memory.Address) throws(Memory.Failure) -> AdoptionDecision
  ) throws(Memory.Failure) {
    for shard in 0..<used {
      for slot in 0..<Int(try memory.load(usedSlots(of: shard))) {
        let address = address(shard: shard, slot: slot)
        while try !offer(address, scope, kind, adopt) {}
      }
    }
  }

  /// - Returns: Whether the slot is dealt with; if not, it changed meanwhile.
  private func offer(
    _ address: Memory.Address, _ scope: ClaimScope, _ kind: UInt64,
    _ adopt: (Memory.Address) throws(Memory.Failure) -> AdoptionDecision
  ) throws(Memory.Failure) -> Bool {
    let state = SlotState(try memory.load(address))
    guard state.has(SlotState.isPublished), !state.has(SlotState.isAdopted | SlotState.isChallenged),
      state.rawValue & SlotState.isWrite == kind
    else { return true }
    if case .item(let key) = scope, try memory.load(address &+ ClaimNote.keyOffset) != key { return true }
    if state.has(SlotState.isTentative) {
      return try memory.compareExchange(state.rawValue, state.with(SlotState.isChallenged).rawValue, at: address)
    }
    let frozen = state.with(SlotState.isFrozen)
    if try !memory.compareExchange(state.rawValue, frozen.rawValue, at: address) { return false }
    let decided =
      switch try adopt(address) {
      case .adopted: state.with(SlotState.isAdopted)
      // The obstacle may be gone when the claimant checks: the slot has to record the refusal.
      case .refused: state.with(SlotState.isChallenged)
      case .unconcerned: state
      }
    try memory.storeReleasing(decided.rawValue, at: address)
    return true
  }

  /// Adopts one claim at the request of its holder, or of code that is nested in it.
  ///
  /// - Returns: Whether it's adopted now, or was before; `false` if it has ended.
  package func adoptClaim(
    _ claim: ClaimToken, _ adopt: (Memory.Address) throws(Memory.Failure) -> Bool
  ) throws(Memory.Failure) -> Bool {
    let state = SlotState(try memory.load(claim.slot))
    if state.use != claim.state.use || state.isFree { return false }
    if state.has(SlotState.isAdopted) { return true }
    let frozen = claim.state.with(SlotState.isFrozen)
    if try !memory.compareExchange(claim.state.rawValue, frozen.rawValue, at: claim.slot) { return false }
    let isAdopted = try adopt(claim.slot)
    try memory.storeReleasing(
      (isAdopted ? claim.state.with(SlotState.isAdopted) : claim.state).rawValue, at: claim.slot)
    return isAdopted
  }

  /// Every slot that shows a claim or a look, and its use.
  func shownClaims() throws(Memory.Failure) -> [(slot: Int, use: UInt64)] {
    var result: [(slot: Int, use: UInt64)] = []
    for shard in 0..<Int(try memory.load(interests.usedShards)) {
      for slot in 0..<Int(try memory.load(usedSlots(of: shard))) {
        let address = address(shard: shard, slot: slot)
        let state = SlotState(try memory.load(address))
        if !state.isFree { result.append((address, state.use)) }
      }
    }
    return result
  }

  /// Frees replaced tables that nobody can read any more: every claim and look that was shown when one was replaced is
  /// over.
  func freeRetiredTables(_ ledger: inout InterestLedger) throws(Memory.Failure) {
    for index in ledger.retired.indices.reversed() {
      while let witness = ledger.retired[index].witnesses.last {
        let state = SlotState(try memory.load(witness.slot))
        if state.use == witness.use, !state.isFree { break }
        ledger.retired[index].witnesses.removeLast()
      }
      if ledger.retired[index].witnesses.isEmpty { try interests.freeTable(ledger.retired.remove(at: index).table) }
    }
  }

  /// Frees all tables; no thread may claim any more.
  package func deallocate(_ ledger: inout InterestLedger) throws(Memory.Failure) {
    for retired in ledger.retired { try interests.freeTable(retired.table) }
    ledger.retired = []
    try deallocate()
  }
}
