internal import FileAccessArbiter

// The steps that keep the tier and the arbiter in agreement. Only a thread with the host's lock takes them.

/// Items that may lie inside each other.
protocol NestedItem: Equatable, Sendable {
  /// Whether another item lies inside this one, at any depth.
  func contains(_ other: Self) -> Bool
}

/// Something that a step of the arbiter is about to make known at an item.
struct Obstacle<Item: NestedItem>: Sendable {
  let item: Item
  /// The fingerprint of the item.
  let key: UInt64
  let interest: ItemInterest

  /// Whether it keeps the tier from granting a claim.
  func covers(_ claimed: Item, isWrite: Bool) -> Bool {
    if claimed == item { return interest.contains(isWrite ? .blocksWriting : .blocksReading) }
    return interest.contains(isWrite ? .blocksWritingBelow : .blocksReadingBelow) && item.contains(claimed)
  }

  /// Where the claims are that it may cover.
  var scope: ClaimScope {
    interest.isDisjoint(with: [.blocksReadingBelow, .blocksWritingBelow]) ? .item(key) : .all
  }
  var coversReads: Bool { !interest.isDisjoint(with: [.blocksReading, .blocksReadingBelow]) }
  var coversWrites: Bool { !interest.isDisjoint(with: [.blocksWriting, .blocksWritingBelow]) }
}

/// The arbiter as the tier sees it, guarded by the host's lock.
protocol TierArbiter {
  /// The bookkeeping of the table of interests.
  var ledger: InterestLedger { get set }

  /// Returns the changes of interests at items since the last call.
  mutating func takeInterestChanges() -> [InterestChange]
}

extension FastTier {
  /// Runs a step of the arbiter that makes something known.
  ///
  /// The obstacles are raised first; the claims that they cover are adopted; the arbiter steps; its own interests take
  /// the place of those that were raised for the step.
  ///
  /// - Parameters:
  ///   - obstacles: The obstacles that the step raises.
  ///   - arbiter: The arbiter.
  ///   - adopt: Decides about the claim in a slot that an obstacle may cover, and enters it into the arbiter if that
  ///     admits it.
  ///   - step: The step.
  /// - Returns: The result of `step`.
  /// - Throws: The error of an operation on the memory, or of a closure.
  func step<Item, Arbiter: TierArbiter, Result>(
    raising obstacles: some Collection<Obstacle<Item>>, _ arbiter: inout Arbiter,
    adopt: (Memory.Address, Obstacle<Item>, inout Arbiter) throws(Memory.Failure) -> AdoptionDecision,
    _ step: (inout Arbiter) throws(Memory.Failure) -> Result
  ) throws(Memory.Failure) -> Result {
    for obstacle in obstacles { try raise(obstacle, &arbiter.ledger) }
    for obstacle in obstacles { try adoptClaims(under: obstacle, &arbiter, adopt) }
    let result = try step(&arbiter)
    try publishInterest(of: &arbiter)
    for obstacle in obstacles { try lower(obstacle, &arbiter.ledger) }
    return result
  }

  func raise<Item>(_ obstacle: Obstacle<Item>, _ ledger: inout InterestLedger) throws(Memory.Failure) {
    try changeInterest(obstacle.key, from: [], to: obstacle.interest, &ledger)
  }

  func lower<Item>(_ obstacle: Obstacle<Item>, _ ledger: inout InterestLedger) throws(Memory.Failure) {
    try changeInterest(obstacle.key, from: obstacle.interest, to: [], &ledger)
  }

  /// Offers the claims that an obstacle may cover for adoption.
  func adoptClaims<Item, Arbiter: TierArbiter>(
    under obstacle: Obstacle<Item>, _ arbiter: inout Arbiter,
    _ adopt: (Memory.Address, Obstacle<Item>, inout Arbiter) throws(Memory.Failure) -> AdoptionDecision
  ) throws(Memory.Failure) {
    try adoptClaims(obstacle.scope, reads: obstacle.coversReads, writes: obstacle.coversWrites) {
      slot throws(Memory.Failure) in
      let decision = try adopt(slot, obstacle, &arbiter)
      // The claim counts from here on, not only when its slot says so.
      try publishInterest(of: &arbiter)
      return decision
    }
  }

  /// Adopts one claim that its holder, or an access nested in it, needs in the arbiter.
  ///
  /// - Returns: Whether it's adopted now, or was before; `false` if it has ended.
  func adoptClaim<Arbiter: TierArbiter>(
    _ claim: ClaimToken, _ arbiter: inout Arbiter,
    _ adopt: (Memory.Address, inout Arbiter) throws(Memory.Failure) -> AdoptionDecision
  ) throws(Memory.Failure) -> Bool {
    try adoptClaim(claim) { slot throws(Memory.Failure) in
      let decision = try adopt(slot, &arbiter)
      try publishInterest(of: &arbiter)
      return decision == .adopted
    }
  }

  /// Lets the tier know what the arbiter knows now.
  func publishInterest<Arbiter: TierArbiter>(of arbiter: inout Arbiter) throws(Memory.Failure) {
    for change in arbiter.takeInterestChanges() {
      try changeInterest(change.fingerprint.rawValue, from: change.old, to: change.new, &arbiter.ledger)
    }
  }
}
