import FileAccessArbiter

@testable import FileCoordination

// Mistakes in the order of things: a step is replaced by another that is made of the same parts.

extension FastTierFault {
  static let orders: [FastTierFault] = [
    // A reader looks for obstacles before it shows its claim.
    FastTierFault("checkBeforePublish", .readerAndWriter) { steps in
      steps.read = { tier, path, shard, note throws(TurnOver) in
        guard let slot = try tier.freeSlot(in: shard) else { return .refused(.noSlot) }
        try tier.fill(slot.address, key: path.item, note)
        let table = try tier.interests.currentTable()
        if let refusal = try tier.obstacleToReading(path, path.item, in: table) { return .refused(refusal) }
        try tier.announceUse(of: slot)
        let claim = slot.claim(SlotState.isPublished)
        try tier.show(claim)
        return .granted(claim)
      }
    },
    // A reader asks a table of obstacles that has been replaced.
    FastTierFault("staleTable", .rebuild) { steps in
      steps.read = { tier, path, shard, note throws(TurnOver) in
        guard let slot = try tier.freeSlot(in: shard) else { return .refused(.noSlot) }
        try tier.fill(slot.address, key: path.item, note)
        let table = try tier.interests.currentTable()
        try tier.announceUse(of: slot)
        let claim = slot.claim(SlotState.isPublished)
        try tier.show(claim)
        if let refusal = try tier.obstacleToReading(path, path.item, in: table) {
          return try tier.retreat(claim, refusal)
        }
        return try tier.isUntouchedOrAdopted(claim) ? .granted(claim) : .contested(claim, .busy)
      }
    },
    // A thread lets others know that it has claims only after it has looked for obstacles to the first.
    FastTierFault("lateAnnouncement", .announcement) { steps in
      steps.read = { tier, path, shard, note throws(TurnOver) in
        guard let slot = try tier.freeSlot(in: shard) else { return .refused(.noSlot) }
        try tier.fill(slot.address, key: path.item, note)
        let claim = slot.claim(SlotState.isPublished)
        try tier.show(claim)
        let table = try tier.interests.currentTable()
        if let refusal = try tier.obstacleToReading(path, path.item, in: table) {
          return try tier.retreat(claim, refusal)
        }
        try tier.announceUse(of: slot)
        return try tier.isUntouchedOrAdopted(claim) ? .granted(claim) : .contested(claim, .busy)
      }
    },
    // A reader that fails to retreat doesn't wait to learn why.
    FastTierFault("frozenTakenForAdopted", .readerTwoHostWriters) { steps in
      let read = steps.read
      steps.read = { tier, path, shard, note throws(TurnOver) in
        let answer = try read(tier, path, shard, note)
        if case .contested(let claim, .interest) = answer { return .granted(claim) }
        return answer
      }
    },
    // A writer looks for readers before it lets them know of itself.
    FastTierFault("strongRaisedLate", .readerAndWriter) { steps in
      steps.write = { tier, path, shard, note throws(TurnOver) in
        guard let slot = try tier.freeSlot(in: shard) else { return .refused(.noSlot) }
        try tier.fill(slot.address, key: path.item, note)
        try tier.announceUse(of: slot)
        let confirmed = slot.claim(SlotState.isPublished | SlotState.isWrite)
        let tentative = slot.claim(SlotState.isPublished | SlotState.isWrite | SlotState.isTentative)
        try tier.show(tentative)
        var obstacle = try tier.obstacleToWriting(path)
        if obstacle == nil, try tier.claims(of: path.item, besides: slot.address) == .ofItem { obstacle = .busy }
        if obstacle == nil, StrongCounter(try tier.memory.add(1, at: tier.strongCounter(path.item))).hasWriters {
          _ = try tier.memory.add(~0, at: tier.strongCounter(path.item))
          obstacle = .busy
        }
        if let obstacle {
          try tier.hide(tentative)
          return .refused(obstacle)
        }
        return try tier.confirm(tentative, as: confirmed)
          ? .granted(confirmed) : tier.giveUp(tentative, path.item, .busy)
      }
    },
    // A writer's claim can be seen after it has let readers in.
    FastTierFault("strongLoweredFirst", .readerWriterHostWriter) { steps in
      steps.end = { tier, claim, key throws(TurnOver) in
        try tier.lowerStrongCounter(key, of: claim)
        return try tier.hideIfUntouched(claim)
      }
      steps.free = { tier, claim, key throws(TurnOver) in try tier.hide(claim) }
    },
  ]

  static let biases: [FastTierFault] = [
    // A writer keeps readers of all items of its counter out, though one of another item was there.
    FastTierFault("biasedBesideReader", .counterMates) { steps in
      steps.end = { tier, claim, key throws(TurnOver) in
        if try !tier.hideIfUntouched(claim) { return false }
        try tier.lowerStrongCounter(key, of: claim.givingBias)
        return true
      }
    },
    // A writer that found a reader gives up, and keeps readers out from then on.
    FastTierFault("biasedOnRetreat", .readerAndPatientWriter) { steps in
      let write = steps.write
      steps.write = { tier, path, shard, note throws(TurnOver) in
        let answer = try write(tier, path, shard, note)
        if case .refused(.busy) = answer {
          _ = try tier.memory.compareExchange(0, StrongCounter.bias, at: tier.strongCounter(path.item))
        }
        return answer
      }
    },
  ]

  static let tables: [FastTierFault] = [
    // An obstacle that goes takes those with it that are behind it in the table.
    FastTierFault("brokenChain", .chain) { steps in
      steps.step = ModelSteps.step { tier, key, old, new, ledger throws(TurnOver) in
        try tier.changeInterest(key, from: old, to: new, &ledger)
        let entry = try tier.interests.entry(of: key, in: tier.interests.currentTable())
        try tier.interests.removeKeys(upTo: entry, &ledger)
      }
    },
    // A table of obstacles is freed as soon as it's replaced.
    FastTierFault("tableFreedAtOnce", .rebuild) { steps in
      steps.step = ModelSteps.step { tier, key, old, new, ledger throws(TurnOver) in
        if let table = try tier.interests.change(key, from: old, to: new, &ledger) {
          try tier.interests.freeTable(table)
        }
      }
    },
    // The thread that replaces the table of obstacles looks before, not after, for claims that may still read the
    // former one.
    FastTierFault("earlyWitnesses", .rebuild) { steps in
      steps.step = ModelSteps.step { tier, key, old, new, ledger throws(TurnOver) in
        let witnesses = try tier.shownClaims()
        if let table = try tier.interests.change(key, from: old, to: new, &ledger) {
          ledger.retire(table, witnesses: witnesses)
        }
        try tier.freeRetiredTables(&ledger)
      }
    },
  ]

  static let hosts: [FastTierFault] = [
    // An obstacle is raised after the look at the claims that are there.
    FastTierFault("scanBeforeRaise", .readerAndHostWriter) { steps in
      steps.step = { tier, obstacles, host, adopt, body throws(TurnOver) in
        for obstacle in obstacles { try tier.adoptClaims(under: obstacle, &host, adopt) }
        for obstacle in obstacles { try tier.raise(obstacle, &host.ledger) }
        try body(&host)
        try tier.publishInterest(of: &host)
        for obstacle in obstacles { try tier.lower(obstacle, &host.ledger) }
      }
    },
    // Reads are offered for adoption before writes.
    FastTierFault("readsFirst", .readerWriterHostWriter) { steps in
      steps.step = { tier, obstacles, host, adopt, body throws(TurnOver) in
        for obstacle in obstacles { try tier.raise(obstacle, &host.ledger) }
        for obstacle in obstacles {
          try tier.adoptClaims(under: obstacle.part([.blocksReading, .blocksReadingBelow]), &host, adopt)
          try tier.adoptClaims(under: obstacle.part([.blocksWriting, .blocksWritingBelow]), &host, adopt)
        }
        try body(&host)
        try tier.publishInterest(of: &host)
        for obstacle in obstacles { try tier.lower(obstacle, &host.ledger) }
      }
    },
    // An obstacle that was raised for a step is lowered before the arbiter's own interest is raised.
    FastTierFault("loweredEarly", .readerAndHostWriter) { steps in
      steps.step = { tier, obstacles, host, adopt, body throws(TurnOver) in
        for obstacle in obstacles { try tier.raise(obstacle, &host.ledger) }
        for obstacle in obstacles { try tier.adoptClaims(under: obstacle, &host, adopt) }
        try body(&host)
        for obstacle in obstacles { try tier.lower(obstacle, &host.ledger) }
        try tier.publishInterest(of: &host)
      }
    },
    // The arbiter steps before it knows the claims that are there.
    FastTierFault("adoptedLate", .readerAndHostWriter) { steps in
      steps.step = { tier, obstacles, host, adopt, body throws(TurnOver) in
        for obstacle in obstacles { try tier.raise(obstacle, &host.ledger) }
        try body(&host)
        for obstacle in obstacles { try tier.adoptClaims(under: obstacle, &host, adopt) }
        try tier.publishInterest(of: &host)
        for obstacle in obstacles { try tier.lower(obstacle, &host.ledger) }
      }
    },
    // A reader that is about to retreat counts as granted.
    FastTierFault("doomedAdopted", .readerTwoHostWriters) { steps in steps.admits = { _, _ in true } },
    // A claim ends before the step that registers its holder's presenter.
    FastTierFault("endedBeforeRegistration", .readerRegisters) { steps in steps.ending = .beforeStep },
    // It ends in that step, which raises no obstacle.
    FastTierFault("registeredWithoutObstacle", .readerRegisters) { steps in steps.ending = .withoutObstacle },
    // It counts as ended though it was adopted before.
    FastTierFault("registeredThoughAdopted", .readerRegistersAndMove) { steps in steps.ending = .thoughAdopted },
  ]
}

extension ModelSteps {
  /// The host's step, with another way to change an interest.
  fileprivate static func step(
    changingInterestBy change:
      @escaping (Tier, UInt64, ItemInterest, ItemInterest, inout InterestLedger) throws(TurnOver) -> Void
  ) -> Step {
    { tier, obstacles, host, adopt, body throws(TurnOver) in
      for obstacle in obstacles { try change(tier, obstacle.key, [], obstacle.interest, &host.ledger) }
      for obstacle in obstacles { try tier.adoptClaims(under: obstacle, &host, adopt) }
      try body(&host)
      for one in host.takeInterestChanges() {
        try change(tier, one.fingerprint.rawValue, one.old, one.new, &host.ledger)
      }
      for obstacle in obstacles { try change(tier, obstacle.key, obstacle.interest, [], &host.ledger) }
    }
  }
}

extension Obstacle {
  fileprivate func part(_ interest: ItemInterest) -> Obstacle {
    Obstacle(item: item, key: key, interest: self.interest.intersection(interest))
  }
}

extension ClaimToken {
  /// The claim of a writer as if it had found no other claim.
  fileprivate var givingBias: ClaimToken {
    state.has(SlotState.isWrite) ? ClaimToken(slot: slot, state: state.with(SlotState.givesBias)) : self
  }
}
