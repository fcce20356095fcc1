import FileAccessArbiter

@testable import FileCoordination

/// A small arbiter, and the known state of the table of interests; the host's lock guards both.
struct ModelHost: Hashable, CustomStringConvertible, TierArbiter {
  struct KnownClaim: Hashable {
    var claim: ModelClaim
    var isHeld: Bool
  }

  /// Held ones by number, then those that wait, the oldest first.
  var claims: [KnownClaim] = []
  var presenters: [ModelPresenter] = []
  var ledger: InterestLedger
  /// For each item the interest that the tier was told of.
  private var toldInterests = ModelItem.allCases.map { _ in ItemInterest() }

  init(layout: FastTierLayout) {
    ledger = InterestLedger(layout: layout)
  }

  static func == (one: ModelHost, two: ModelHost) -> Bool {
    one.claims == two.claims && one.presenters == two.presenters && one.toldInterests == two.toldInterests
      && one.ledgerWords == two.ledgerWords
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(claims)
    hasher.combine(presenters)
    hasher.combine(toldInterests)
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
    let claims = claims.map { "\($0.isHeld ? "held" : "waiting") \($0.claim.number)" }
    let presenters = presenters.map { "presenter \($0.number)" }
    return "[\((claims + presenters).joined(separator: ", "))]"
  }
}

// MARK: - Claims

extension ModelHost {
  func isHeld(_ claim: ModelClaim) -> Bool { claims.contains(KnownClaim(claim: claim, isHeld: true)) }

  mutating func enter(_ claim: ModelClaim, isHeld: Bool) {
    let index = isHeld ? claims.firstIndex { !$0.isHeld || $0.claim.number > claim.number } : nil
    claims.insert(KnownClaim(claim: claim, isHeld: isHeld), at: index ?? claims.count)
  }

  /// - Returns: Whether it's granted at once.
  mutating func request(_ claim: ModelClaim) -> Bool {
    let isGranted = !Self.isBlocked(claim, by: claims[...])
    enter(claim, isHeld: isGranted)
    return isGranted
  }

  /// - Returns: The claims that are granted now.
  mutating func end(_ claim: ModelClaim) -> [ModelClaim] {
    claims.removeAll { $0 == KnownClaim(claim: claim, isHeld: true) }
    var granted: [ModelClaim] = []
    for index in claims.indices where !claims[index].isHeld {
      let claim = claims[index].claim
      if Self.isBlocked(claim, by: claims[..<index]) { continue }
      claims.remove(at: index)
      enter(claim, isHeld: true)
      granted.append(claim)
    }
    return granted
  }

  /// Waiting claims are in the way as well; but a nested claim passes the queue, because otherwise the claims that wait
  /// for its outer claim would wait for ever.
  private static func isBlocked(_ claim: ModelClaim, by others: ArraySlice<KnownClaim>) -> Bool {
    others.contains { (!claim.isNested || $0.isHeld) && claim.conflicts(with: $0.claim) }
  }

  /// Whether a claim of the tier can have been granted: nothing that is known was in its way.
  func admits(_ candidate: ModelClaim) -> Bool {
    !claims.contains { candidate.conflicts(with: $0.claim) } && !presenters.contains { $0.concerns(candidate) }
  }
}

// MARK: - Interest

extension ModelHost {
  /// As with the arbiter: one change for each item, whatever the number of its claims and presenters.
  mutating func takeInterestChanges() -> [InterestChange] {
    var changes: [InterestChange] = []
    for (index, item) in ModelItem.allCases.enumerated() {
      let old = toldInterests[index]
      let new = interest(in: item)
      if old == new { continue }
      toldInterests[index] = new
      changes.append(InterestChange(fingerprint: item.pathFingerprint, old: old, new: new))
    }
    return changes
  }

  private func interest(in item: ModelItem) -> ItemInterest {
    var interest = ItemInterest()
    for known in claims where known.claim.item == item { interest.formUnion(known.claim.kind.interest) }
    for presenter in presenters where presenter.item == item { interest.formUnion(ModelPresenter.interest) }
    return interest
  }
}
