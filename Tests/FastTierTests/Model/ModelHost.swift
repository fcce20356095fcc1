import FileAccessArbiter

@testable import FileCoordination

/// The state under the host's lock: a small arbiter, and the bookkeeping of the table of interests.
struct ModelHost: Hashable, CustomStringConvertible {
  struct KnownClaim: Hashable {
    var number: Int
    var isHeld: Bool
  }

  /// Held ones by number, then those that wait, the oldest first.
  var claims: [KnownClaim] = []
  var presenters: [ModelPresenter] = []
  var ledger: InterestLedger

  init(layout: FastTierLayout) {
    ledger = InterestLedger(layout: layout)
  }

  static func == (one: ModelHost, two: ModelHost) -> Bool {
    one.claims == two.claims && one.presenters == two.presenters && one.ledgerWords == two.ledgerWords
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(claims)
    hasher.combine(presenters)
    hasher.combine(ledgerWords)
  }

  private var ledgerWords: [UInt64] {
    var words = [UInt64(ledger.usedCount), UInt64(ledger.liveCount), UInt64(ledger.capacity)]
    for retired in ledger.retired {
      words += [UInt64(retired.table), UInt64(retired.witnesses.count)]
      for witness in retired.witnesses { words += [UInt64(witness.slot), witness.use] }
    }
    return words
  }

  var description: String {
    let known =
      claims.map { "\($0.isHeld ? "held" : "waiting") \($0.number)" } + presenters.map { "presenter \($0.number)" }
    return "[\(known.joined(separator: ", "))]"
  }

  mutating func enter(_ number: Int, isHeld: Bool) {
    if isHeld {
      let index = claims.firstIndex { !$0.isHeld || $0.number > number } ?? claims.count
      claims.insert(KnownClaim(number: number, isHeld: true), at: index)
    } else {
      claims.append(KnownClaim(number: number, isHeld: false))
    }
  }
}

/// The procedures of the host, step by step as the real one does them.
struct ModelProcedures {
  let memory: ModelMemory
  let tier: ModelTier
  let steps: ModelSteps
  let rules: ClaimRules
  let mailboxes: Int
  let memos: Int

  private func claim(_ number: Int) -> ModelClaim { rules.claims[number] }

  // MARK: Requests

  /// Asks the host for a claim.
  ///
  /// - Returns: Whether it's granted; if not, its thread sleeps until it is.
  /// - Parameters:
  ///   - request: The claim.
  ///   - host: The state under the lock, which the caller holds; it's free afterwards.
  ///   - outer: Claims of the fast tier that this one is nested in.
  /// - Throws: That the thread's turn is over.
  func request(
    _ request: ModelClaim, _ host: consuming ModelHost, outer: [ClaimToken]
  ) throws(TurnOver) -> Bool {
    var host = host
    for token in outer {
      _ = try tier.adoptClaim(token) { slot throws(TurnOver) in
        try adopt(slot, &host)
        return true
      }
    }
    try steps.obstruct(self, request, &host)
    let isGranted = !isBlocked(request, by: host.claims[...])
    host.enter(request.number, isHeld: isGranted)
    try memory.unlock(host)
    return isGranted
  }

  /// A waiting claim is in the way as well; but a nested claim passes the queue, or the claims that wait for the one
  /// around it would wait for ever.
  private func isBlocked(_ claim: ModelClaim, by others: ArraySlice<ModelHost.KnownClaim>) -> Bool {
    others.contains { (!claim.isNested || $0.isHeld) && claim.conflicts(with: self.claim($0.number)) }
  }

  func raise(_ interest: ItemInterest, at item: ModelItem, _ host: inout ModelHost) throws(TurnOver) {
    try tier.changeInterest(item.fingerprint, from: [], to: interest, &host.ledger)
  }

  private func lower(_ interest: ItemInterest, at item: ModelItem, _ host: inout ModelHost) throws(TurnOver) {
    try tier.changeInterest(item.fingerprint, from: interest, to: [], &host.ledger)
  }

  // MARK: Adoption

  /// Adopts what a claim is in the way of.
  func adoptClaims(under claim: ModelClaim, _ host: inout ModelHost) throws(TurnOver) {
    let scope = claim.kind == .deepWrite ? ClaimScope.all : .item(claim.item.fingerprint)
    try adoptClaims(scope, reads: claim.kind != .read, claim.kind.interest, at: claim.item, &host)
  }

  private func adoptClaims(
    _ scope: ClaimScope, reads: Bool, _ interest: ItemInterest, at item: ModelItem, _ host: inout ModelHost
  ) throws(TurnOver) {
    var changed = host
    try tier.adoptClaims(scope, reads: reads, writes: true) { slot throws(TurnOver) in
      let candidate = claim(Int(try tier.note(at: slot).holder))
      guard candidate.isCovered(by: interest, at: item) else { return .unconcerned }
      guard steps.admits(self, candidate, changed) else { return .refused }
      try adopt(slot, &changed)
      return .adopted
    }
    host = changed
  }

  /// Whether the claim can have been granted: nothing that is known was in its way.
  func admits(_ candidate: ModelClaim, _ host: ModelHost) -> Bool {
    !host.claims.contains { candidate.conflicts(with: claim($0.number)) }
      && !host.presenters.contains { $0.concerns(candidate) }
  }

  private func adopt(_ slot: Int, _ host: inout ModelHost) throws(TurnOver) {
    let number = Int(try tier.note(at: slot).holder)
    if host.claims.contains(where: { $0.number == number }) { try memory.violation("a claim is adopted twice") }
    host.enter(number, isHeld: true)
    try raise(claim(number).kind.interest, at: claim(number).item, &host)
  }

  // MARK: The end of claims

  /// Ends a claim that the fast tier granted, and that was adopted or examined.
  func endThroughHost(_ claim: ModelClaim, _ token: ClaimToken) throws(TurnOver) {
    let key = claim.item.fingerprint
    let host = try memory.lock()
    if try tier.state(at: token.slot).has(SlotState.isAdopted) {
      try release(claim, host)
      try tier.free(token, key)
    } else {
      try tier.free(token, key)
      try memory.unlock(host)
    }
  }

  /// Ends a claim that the host granted.
  func end(_ claim: ModelClaim) throws(TurnOver) { try release(claim, memory.lock()) }

  private func release(_ claim: ModelClaim, _ host: consuming ModelHost) throws(TurnOver) {
    var host = host
    guard let index = host.claims.firstIndex(where: { $0.number == claim.number && $0.isHeld }) else {
      return try memory.violation("a claim ends that the host doesn't know")
    }
    host.claims.remove(at: index)
    try lower(claim.kind.interest, at: claim.item, &host)
    let granted = grantWaiters(&host)
    try memory.unlock(host)
    for number in granted { try memory.wake(self.claim(number).thread) }
  }

  private func grantWaiters(_ host: inout ModelHost) -> [Int] {
    var granted: [Int] = []
    var index = 0
    while index < host.claims.count {
      let known = host.claims[index]
      if !known.isHeld, !isBlocked(claim(known.number), by: host.claims[..<index]) {
        host.claims.remove(at: index)
        host.enter(known.number, isHeld: true)
        granted.append(known.number)
      }
      index += 1
    }
    return granted
  }

  // MARK: Presenters and snapshots

  func register(_ presenter: ModelPresenter) throws(TurnOver) {
    var host = try memory.lock()
    try raise(ModelPresenter.interest, at: presenter.item, &host)
    try adoptClaims(.all, reads: true, ModelPresenter.interest, at: presenter.item, &host)
    host.presenters.append(presenter)
    try memory.unlock(host)
    try memory.say(.registered, UInt64(presenter.number))
  }

  func deregister(_ presenter: ModelPresenter) throws(TurnOver) {
    try memory.say(.deregisters, UInt64(presenter.number))
    var host = try memory.lock()
    host.presenters.removeAll { $0 == presenter }
    try lower(ModelPresenter.interest, at: presenter.item, &host)
    try memory.unlock(host)
  }

  func snapshot() throws(TurnOver) {
    let interest: ItemInterest = [.blocksReadingBelow, .blocksWritingBelow]
    var host = try memory.lock()
    try memory.say(.snapshotBegins, 0)
    try raise(interest, at: .root, &host)
    try adoptClaims(.all, reads: true, interest, at: .root, &host)
    try lower(interest, at: .root, &host)
    try memory.say(.snapshotEnds, host.claims.reduce(0) { $0 | 1 << UInt64($1.number) })
    try memory.unlock(host)
  }
}
