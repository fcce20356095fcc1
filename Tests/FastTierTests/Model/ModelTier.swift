import FileAccessArbiter

@testable import FileCoordination

/// The steps that the threads and the host of a model do in one go, so that a mistake can replace them.
struct ModelSteps {
  typealias Tier = FastTier<ModelMemory>
  typealias Adopt = (Int, Obstacle<ModelItem>, inout ModelHost) throws(TurnOver) -> AdoptionDecision
  typealias Body = (inout ModelHost) throws(TurnOver) -> Void
  typealias Step = (Tier, [Obstacle<ModelItem>], inout ModelHost, Adopt, Body) throws(TurnOver) -> Void

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

  // Of the host.
  var step: Step = { tier, obstacles, host, adopt, body throws(TurnOver) in
    try tier.step(raising: obstacles, &host, adopt: adopt, body)
  }
  /// Whether a claim of the tier can have been granted: nothing that is known was in its way.
  var admits: (ModelHost, ModelClaim) -> Bool = { host, claim in host.admits(claim) }
  var ending = Ending.inStep

  /// How a claim ends with the registration of a presenter.
  enum Ending {
    /// In the step, after the obstacle was raised.
    case inStep
    // Mistakes: before the step; in a step that raises no obstacle; and without a look at whether it was adopted.
    case beforeStep, withoutObstacle, thoughAdopted
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

  func conclude(_ claim: ClaimToken) throws(TurnOver) -> Bool {
    try during(.conclude) { () throws(TurnOver) in try tier.conclude(claim) }
  }

  func end(_ claim: ClaimToken, _ key: UInt64) throws(TurnOver) -> Bool {
    try during(.end) { () throws(TurnOver) in try steps.end(tier, claim, key) }
  }

  func free(_ claim: ClaimToken, _ key: UInt64) throws(TurnOver) {
    try during(.free) { () throws(TurnOver) in try steps.free(tier, claim, key) }
  }

  func state(at slot: Int) throws(TurnOver) -> SlotState { try tier.state(at: slot) }

  func note(at slot: Int) throws(TurnOver) -> ClaimNote { try ClaimNote(at: slot, in: tier.memory) }

  func step(
    raising obstacles: [Obstacle<ModelItem>], _ host: inout ModelHost, adopt: ModelSteps.Adopt,
    _ body: ModelSteps.Body
  ) throws(TurnOver) {
    try during(.arbiterStep) { () throws(TurnOver) in try steps.step(tier, obstacles, &host, adopt, body) }
  }

  /// Inside a step.
  func adoptClaim(
    _ claim: ClaimToken, _ host: inout ModelHost,
    _ adopt: (Int, inout ModelHost) throws(TurnOver) -> AdoptionDecision
  ) throws(TurnOver) -> Bool {
    try tier.adoptClaim(claim, &host, adopt)
  }

  private func during<Result>(_ step: TierStep, _ body: () throws(TurnOver) -> Result) throws(TurnOver) -> Result {
    let memory = tier.memory
    let outer = memory.step
    memory.step = step
    let result = try body()
    memory.step = outer
    return result
  }
}
