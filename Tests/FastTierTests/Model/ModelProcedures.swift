import FileAccessArbiter

@testable import FileCoordination

/// The host's work for a model's threads: the steps of the tier that the real one takes, with a small arbiter.
struct ModelProcedures {
  let memory: ModelMemory
  let tier: ModelTier
  let steps: ModelSteps
  let rules: ClaimRules
  let mailboxes: Int
  let memos: Int

  /// Lets the arbiter step, which makes something known at these items.
  private func step(
    raising obstacles: [Obstacle<ModelItem>], sparing endingSlot: Int? = nil, _ host: inout ModelHost,
    _ step: (inout ModelHost) throws(TurnOver) -> Void
  ) throws(TurnOver) {
    try tier.step(
      raising: obstacles, &host,
      adopt: { slot, obstacle, host throws(TurnOver) in
        slot == endingSlot ? .unconcerned : try adopt(slot, under: obstacle, &host)
      }, step)
  }

  // MARK: Requests

  /// Asks the host for a claim.
  ///
  /// - Returns: Whether it's granted; if not, its thread sleeps until it is.
  /// - Parameters:
  ///   - request: The claim.
  ///   - host: The state that the lock guards. The caller holds the lock; it's free afterwards.
  ///   - outer: Claims of the fast tier that this one is nested in.
  /// - Throws: That the thread's turn is over.
  func request(
    _ request: ModelClaim, _ host: consuming ModelHost, outer: [ClaimToken]
  ) throws(TurnOver) -> Bool {
    var host = host
    var isGranted = false
    try step(raising: [request.item.obstacle(request.kind.interest)], &host) { host throws(TurnOver) in
      for token in outer {
        _ = try tier.adoptClaim(token, &host) { slot, host throws(TurnOver) in
          try adopt(slot, under: nil, &host)
        }
      }
      isGranted = host.request(request)
    }
    try memory.unlock(host)
    return isGranted
  }

  // MARK: Adoption

  private func adopt(
    _ slot: Int, under obstacle: Obstacle<ModelItem>?, _ host: inout ModelHost
  ) throws(TurnOver) -> AdoptionDecision {
    let candidate = rules.claims[Int(try tier.note(at: slot).holder)]
    if let obstacle, !obstacle.covers(candidate.item, isWrite: candidate.kind != .read) { return .unconcerned }
    guard steps.admits(host, candidate) else { return .refused }
    if host.claims.contains(where: { $0.claim == candidate }) { try memory.violation("a claim is adopted twice") }
    host.enter(candidate, isHeld: true)
    return .adopted
  }

  // MARK: The end of claims

  /// Ends a claim that the fast tier granted, and that was adopted or looked at.
  ///
  /// As in the real host, the lock is free between the look and the end of what was adopted.
  func endThroughHost(_ claim: ModelClaim, _ token: ClaimToken) throws(TurnOver) {
    let key = claim.item.fingerprint
    let host = try memory.lock()
    let isAdopted = try tier.state(at: token.slot).has(SlotState.isAdopted)
    if !isAdopted { try tier.free(token, key) }
    try memory.unlock(host)
    if !isAdopted { return }
    try end(claim)
    try tier.free(token, key)
  }

  /// Ends a claim that the host granted.
  func end(_ claim: ModelClaim) throws(TurnOver) { try release(claim, memory.lock()) }

  private func release(_ claim: ModelClaim, _ host: consuming ModelHost) throws(TurnOver) {
    var host = host
    if !host.isHeld(claim) { try memory.violation("a claim ends that the host doesn't know") }
    var granted: [ModelClaim] = []
    try step(raising: [], &host) { host throws(TurnOver) in granted = host.end(claim) }
    try memory.unlock(host)
    for claim in granted { try memory.wake(claim.thread) }
  }

  // MARK: Presenters and snapshots

  func register(_ presenter: ModelPresenter) throws(TurnOver) {
    var host = try memory.lock()
    try step(raising: [presenter.item.obstacle(ModelPresenter.interest)], &host) { host throws(TurnOver) in
      host.presenters.append(presenter)
    }
    try memory.unlock(host)
    try memory.say(.registered, UInt64(presenter.number))
  }

  /// Registers a presenter in the step that ends a claim of its item: nobody writes that in between (C-193).
  ///
  /// - Returns: Whether the claim has ended; if not, it was adopted before.
  func register(
    _ presenter: ModelPresenter, ending claim: ModelClaim, _ token: ClaimToken
  ) throws(TurnOver) -> Bool {
    let key = claim.item.fingerprint
    var hasEnded = false
    if steps.ending == .beforeStep { hasEnded = try tier.end(token, key) }
    var host = try memory.lock()
    let obstacle = presenter.item.obstacle(ModelPresenter.interest)
    let obstacles = steps.ending == .withoutObstacle ? [] : [obstacle]
    try step(raising: obstacles, sparing: token.slot, &host) { host throws(TurnOver) in
      host.presenters.append(presenter)
      try memory.say(.registered, UInt64(presenter.number), UInt64(claim.number) + 1)
      if steps.ending != .beforeStep, try !tier.state(at: token.slot).has(SlotState.isAdopted) {
        try memory.say(.ends, UInt64(claim.number))
        hasEnded = try tier.end(token, key)
        if !hasEnded { try memory.violation("a claim that isn't adopted can't be ended under the lock") }
      } else if hasEnded {
        try memory.say(.ends, UInt64(claim.number))
      }
    }
    try memory.unlock(host)
    return hasEnded || steps.ending == .thoughAdopted
  }

  func deregister(_ presenter: ModelPresenter) throws(TurnOver) {
    try memory.say(.deregisters, UInt64(presenter.number))
    var host = try memory.lock()
    try step(raising: [], &host) { host throws(TurnOver) in host.presenters.removeAll { $0 == presenter } }
    try memory.unlock(host)
  }

  func snapshot() throws(TurnOver) {
    var host = try memory.lock()
    try memory.say(.snapshotBegins, 0)
    try step(raising: [ModelItem.root.obstacle(.everything)], &host) { host throws(TurnOver) in
      try memory.say(.snapshotEnds, host.claims.reduce(0) { $0 | 1 << UInt64($1.claim.number) })
    }
    try memory.unlock(host)
  }
}
