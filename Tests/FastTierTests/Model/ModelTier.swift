import FileAccessArbiter

@testable import FileCoordination

/// What the threads and the host of a model do in one go, so that a mistake can replace it.
struct ModelSteps {
  typealias Tier = FastTier<ModelMemory>
  typealias Adopt = (Int) throws(TurnOver) -> AdoptionDecision

  // Of the tier.
  var read: (Tier, ClaimPath, _ shard: Int, ClaimNote) throws(TurnOver) -> FastTierAnswer = {
    tier, path, shard, note throws(TurnOver) in try tier.read(path, shard: shard, note)
  }
  var write: (Tier, ClaimPath, _ shard: Int, ClaimNote) throws(TurnOver) -> FastTierAnswer = {
    tier, path, shard, note throws(TurnOver) in try tier.write(path, shard: shard, note)
  }
  var end: (Tier, ClaimToken, _ key: UInt64) throws(TurnOver) -> Bool = { tier, claim, key throws(TurnOver) in
    try tier.end(claim, key)
  }
  var free: (Tier, ClaimToken, _ key: UInt64) throws(TurnOver) -> Void = { tier, claim, key throws(TurnOver) in
    try tier.free(claim, key)
  }
  var changeInterest:
    (Tier, _ key: UInt64, _ old: ItemInterest, _ new: ItemInterest, inout InterestLedger) throws(TurnOver) -> Void = {
      tier, key, old, new, ledger throws(TurnOver) in try tier.changeInterest(key, from: old, to: new, &ledger)
    }
  var adoptClaims: (Tier, ClaimScope, _ reads: Bool, _ writes: Bool, Adopt) throws(TurnOver) -> Void = {
    tier, scope, reads, writes, adopt throws(TurnOver) in
    try tier.adoptClaims(scope, reads: reads, writes: writes, adopt)
  }

  // Of the host.
  /// Raises what a claim is about to make known, and adopts what that covers.
  var obstruct: (ModelProcedures, ModelClaim, inout ModelHost) throws(TurnOver) -> Void = {
    procedures, claim, host throws(TurnOver) in
    try procedures.raise(claim.kind.interest, at: claim.item, &host)
    try procedures.adoptClaims(under: claim, &host)
  }
  /// Whether a claim of the tier can have been granted: nothing that is known was in its way.
  var admits: (ModelProcedures, ModelClaim, ModelHost) -> Bool = { procedures, claim, host in
    procedures.admits(claim, host)
  }
}

/// The fast tier as the threads and the host of a model call it.
///
/// Tells the memory what each operation is for, and takes steps with mistakes if there are any.
struct ModelTier {
  private let tier: FastTier<ModelMemory>
  private let steps: ModelSteps

  init(_ tier: FastTier<ModelMemory>, _ steps: ModelSteps) {
    self.tier = tier
    self.steps = steps
  }

  func read(_ path: ClaimPath, shard: Int, _ note: ClaimNote) throws(TurnOver) -> FastTierAnswer {
    try during(.read) { () throws(TurnOver) in try steps.read(tier, path, shard, note) }
  }

  func write(_ path: ClaimPath, shard: Int, _ note: ClaimNote) throws(TurnOver) -> FastTierAnswer {
    try during(.write) { () throws(TurnOver) in try steps.write(tier, path, shard, note) }
  }

  func mayClaim(_ path: ClaimPath, isWrite: Bool, shard: Int) throws(TurnOver) -> Bool {
    try during(.look) { () throws(TurnOver) in try tier.mayClaim(path, isWrite: isWrite, shard: shard) }
  }

  func settle(_ claim: ClaimToken) throws(TurnOver) -> Bool {
    try during(.settle) { () throws(TurnOver) in try tier.settle(claim) }
  }

  func end(_ claim: ClaimToken, _ key: UInt64) throws(TurnOver) -> Bool {
    try during(.end) { () throws(TurnOver) in try steps.end(tier, claim, key) }
  }

  func free(_ claim: ClaimToken, _ key: UInt64) throws(TurnOver) {
    try during(.free) { () throws(TurnOver) in try steps.free(tier, claim, key) }
  }

  func state(at slot: Int) throws(TurnOver) -> SlotState { try tier.state(at: slot) }

  func note(at slot: Int) throws(TurnOver) -> ClaimNote { try ClaimNote(at: slot, in: tier.memory) }

  func changeInterest(
    _ key: UInt64, from old: ItemInterest, to new: ItemInterest, _ ledger: inout InterestLedger
  ) throws(TurnOver) {
    try during(.changeInterest) { () throws(TurnOver) in try steps.changeInterest(tier, key, old, new, &ledger) }
  }

  func adoptClaims(
    _ scope: ClaimScope, reads: Bool, writes: Bool, _ adopt: ModelSteps.Adopt
  ) throws(TurnOver) {
    try during(.adoptClaims) { () throws(TurnOver) in try steps.adoptClaims(tier, scope, reads, writes, adopt) }
  }

  func adoptClaim(_ claim: ClaimToken, _ adopt: (Int) throws(TurnOver) -> Bool) throws(TurnOver) -> Bool {
    try during(.adoptClaim) { () throws(TurnOver) in try tier.adoptClaim(claim, adopt) }
  }

  /// Of two steps one in the other, operations belong to the inner one.
  private func during<Result>(_ step: TierStep, _ body: () throws(TurnOver) -> Result) throws(TurnOver) -> Result {
    let memory = tier.memory
    let outer = memory.step
    memory.step = step
    let result = try body()
    memory.step = outer
    return result
  }
}
