internal import FileAccessArbiter

/// Claims that meet no obstacle, granted without the arbiter: a few atomic operations, no lock, no allocation, no
/// system call.
///
/// A claimant shows its claim first and searches for obstacles then; a thread that makes an obstacle raises it first
/// and searches for claims then. So at least one of two that meet sees the other (Dekker's pattern); that one gives
/// way, or takes the other into account. That needs sequential consistency: a claim must have left the store buffer
/// before the search.
///
/// An obstacle is anything that the arbiter has at an item or around it: claims held or waited for, and presenters. The
/// thread that raises one holds the host's lock, and *adopts* the claims that it finds: from then on they are accesses
/// of the arbiter like all others, and end through the host. So everything contended is decided in one place.
///
/// | words | written by | read by | why that is safe |
/// | --- | --- | --- | --- |
/// | a slot's state | its shard's thread from free; its holder to free; the host's lock holder between | all | each change but the first is a compare-and-exchange, or follows from one |
/// | a slot's other words | its shard's thread while it's free | the host's lock holder while it's frozen or adopted | a frozen slot is never freed |
/// | strong counters | writers of this tier | all | raised before the scan of the slots, lowered after the slot is free |
/// | interests | the host's lock holder | all | raised before the scan of the slots |
///
/// Equal fingerprints of different paths make a claim give way without need: then it goes through the arbiter, which
/// compares paths.
package struct FastTier<Memory: AtomicMemory>: Sendable {
  package let memory: Memory
  let layout: FastTierLayout
  /// The slots, one cache line each: the state, the fingerprint of the item, the note.
  let shards: Memory.Address
  /// The counters of this tier's writers, one for each ending of a fingerprint.
  let strongCounters: Memory.Address
  /// The arbiter's interests at items, and the number of shards in use.
  let interests: InterestTable<Memory>

  /// Creates a tier without claims.
  ///
  /// - Parameters:
  ///   - memory: Where its words are.
  ///   - layout: The numbers of its shards, slots and counters.
  ///   - number: Distinguishes it from other tiers that claim the same paths; below 2²⁴.
  /// - Throws: The errors of the memory: none in a process.
  package init(memory: Memory, layout: FastTierLayout = .standard, number: UInt64 = 0) throws(Memory.Failure) {
    self.memory = memory
    self.layout = layout
    shards = try memory.allocate(wordCount: layout.shardCount * layout.shardStride)
    strongCounters = try memory.allocate(wordCount: layout.strongCounterCount)
    interests = try InterestTable(memory: memory, capacity: layout.interestCapacityMin, number: number)
  }

  /// Frees the memory; no thread may claim any more.
  func deallocate() throws(Memory.Failure) {
    try memory.free(shards, wordCount: layout.shardCount * layout.shardStride)
    try memory.free(strongCounters, wordCount: layout.strongCounterCount)
    try interests.deallocate()
  }
}

/// The numbers of the parts of a tier.
package struct FastTierLayout: Hashable, Sendable {
  /// Threads beyond this number claim through the arbiter.
  package var shardCount: Int
  /// How many claims of one thread can be under way; further ones go through the arbiter.
  package var slotsPerShard: Int
  package var strongCounterCount: Int
  package var interestCapacityMin: Int

  package init(shardCount: Int, slotsPerShard: Int, strongCounterCount: Int, interestCapacityMin: Int) {
    self.shardCount = shardCount
    self.slotsPerShard = slotsPerShard
    self.strongCounterCount = strongCounterCount
    self.interestCapacityMin = interestCapacityMin
  }

  /// About 50 KiB.
  package static let standard = FastTierLayout(
    shardCount: 64, slotsPerShard: 8, strongCounterCount: 1024, interestCapacityMin: 64)

  static let slotStride = 8
  /// In words.
  var shardStride: Int { slotsPerShard * Self.slotStride }
}

/// Why a claim isn't granted here.
package enum FastTierRefusal: Hashable, Sendable {
  /// Another claim of this tier is in the way, perhaps only for a moment.
  case busy
  /// The arbiter has an interest at the item or around it.
  case interest(InterestCounts)
  /// No slot is free, or the thread has no shard.
  case noSlot
}

/// The result of an attempt to claim.
package enum FastTierAnswer: Sendable {
  case granted(ClaimToken)
  case refused(FastTierRefusal)
  /// The claim was being examined when it was to retreat, or it was refused: ask ``FastTier/settle(_:)`` under the
  /// host's lock.
  case unsettled(ClaimToken, FastTierRefusal)
}

// MARK: - Slots

extension FastTier {
  @inline(__always)
  func address(shard: Int, slot: Int) -> Memory.Address {
    shards &+ (shard &* layout.shardStride &+ slot &* FastTierLayout.slotStride) &* 8
  }

  /// How many slots of a shard have ever been used: the last word of its first slot.
  @inline(__always)
  func usedSlots(of shard: Int) -> Memory.Address { address(shard: shard, slot: 0) &+ ClaimNote.spareOffset }

  /// A free slot of this thread's shard.
  @inline(__always)
  private func freeSlot(in shard: Int) throws(Memory.Failure) -> (
    address: Memory.Address, index: Int, state: SlotState
  )? {
    var slot = 0
    while slot < layout.slotsPerShard {
      let address = address(shard: shard, slot: slot)
      // Only this thread takes a slot of this shard; the thread that freed it has read it before.
      let state = SlotState(try memory.load(address))
      if state.isFree { return (address, slot, state) }
      slot &+= 1
    }
    return nil
  }

  @inline(__always)
  private func fill(_ slot: Memory.Address, key: UInt64, _ note: ClaimNote) throws(Memory.Failure) {
    // A thread may have seen the state of the former claim and pass over this slot on account of its new key. It must
    // know then that the former claim is over: everything that its holder did comes before.
    try memory.storeReleasing(key, at: slot &+ ClaimNote.keyOffset)
    try memory.storeRelaxed(UInt64(note.item), at: slot &+ ClaimNote.itemOffset)
    try memory.storeRelaxed(UInt64(note.holder), at: slot &+ ClaimNote.holderOffset)
    try memory.storeRelaxed(UInt64(note.outer), at: slot &+ ClaimNote.outerOffset)
    try memory.storeRelaxed(UInt64(note.task), at: slot &+ ClaimNote.taskOffset)
    try memory.storeRelaxed(UInt64(note.access), at: slot &+ ClaimNote.accessOffset)
  }

  package func state(at slot: Memory.Address) throws(Memory.Failure) -> SlotState { SlotState(try memory.load(slot)) }

  @inline(__always)
  func strongCounter(_ key: UInt64) -> Memory.Address {
    strongCounters &+ Int(truncatingIfNeeded: key & UInt64(layout.strongCounterCount &- 1)) &* 8
  }
}

// MARK: - Reading

extension FastTier {
  /// Claims an item for reading.
  ///
  /// - Parameters:
  ///   - path: The item.
  ///   - shard: The number of the calling thread, which no other thread has.
  ///   - note: The words to write into the slot.
  /// - Returns: Whether it's granted, and if not, why.
  /// - Throws: The errors of the memory: none in a process.
  @inline(__always)
  package func read(_ path: ClaimPath, shard: Int, _ note: ClaimNote) throws(Memory.Failure) -> FastTierAnswer {
    guard shard < layout.shardCount, let (slot, index, free) = try freeSlot(in: shard) else { return .refused(.noSlot) }
    let key = path.item
    try fill(slot, key: key, note)
    if memory.has(.checkBeforePublish), let refusal = try obstacleToReading(path, key, in: interests.currentTable()) {
      return .refused(refusal)
    }
    let earlyTable = memory.has(.staleTable) ? try interests.currentTable() : 0
    let claim = ClaimToken(slot: slot, state: free.with(SlotState.isPublished))
    if !memory.has(.lateAnnouncement) { try announceUse(of: shard, index) }
    if memory.has(.missingFence) {
      try memory.storeReleasing(claim.state.rawValue, at: slot)
    } else {
      try memory.exchange(claim.state.rawValue, at: slot)
    }
    if memory.has(.checkBeforePublish) { return .granted(claim) }
    // Only now, when the claim is shown: a table that was replaced before is never read.
    let table = memory.has(.staleTable) ? earlyTable : try interests.currentTable()
    if let refusal = try obstacleToReading(path, key, in: table) { return try retreat(claim, refusal) }
    if memory.has(.lateAnnouncement) { try announceUse(of: shard, index) }
    if memory.has(.challengeIgnored) { return .granted(claim) }
    // Obstacles are checked one after the other: while one was still there another thread may have refused this claim
    // on account of it, and raised an obstacle where this reader had checked before.
    let state = SlotState(try memory.load(slot))
    if state == claim.state || state.has(SlotState.isAdopted) { return .granted(claim) }
    return .unsettled(claim, .busy)
  }

  @inline(__always)
  private func obstacleToReading(
    _ path: ClaimPath, _ key: UInt64, in table: Memory.Address
  ) throws(Memory.Failure) -> FastTierRefusal? {
    if try memory.load(strongCounter(key)) != 0 { return .busy }
    let here = try interests.find(key, in: table)
    if here.blocksReading { return .interest(here) }
    if try !interests.anyBlocksReadingBelow() { return nil }
    return try interest(above: path, in: InterestCounts(.blocksReadingBelow))
  }

  @inline(never)
  private func interest(above path: ClaimPath, in wanted: InterestCounts) throws(Memory.Failure) -> FastTierRefusal? {
    for index in 0..<(path.count &- 1) {
      let found = try interests.find(unsafe path.fingerprints[index])
      if found.meets(wanted) { return .interest(found) }
    }
    return nil
  }

  /// Takes back a claim that met an obstacle.
  private func retreat(_ claim: ClaimToken, _ refusal: FastTierRefusal) throws(Memory.Failure) -> FastTierAnswer {
    if try memory.compareExchange(claim.state.rawValue, claim.state.freed.rawValue, at: claim.slot) {
      return .refused(refusal)
    }
    if memory.has(.frozenTakenForAdopted) { return .granted(claim) }
    return .unsettled(claim, refusal)
  }

  /// Settles a claim that couldn't be taken back, or that was examined: it was adopted, and so is granted; or it
  /// wasn't, and now it's taken back.
  ///
  /// Under the host's lock, so that no other thread examines it any more.
  package func settle(_ claim: ClaimToken) throws(Memory.Failure) -> Bool {
    let state = SlotState(try memory.load(claim.slot))
    if state.has(SlotState.isAdopted), !memory.has(.adoptedTakenBack) { return true }
    try memory.storeReleasing(claim.state.freed.rawValue, at: claim.slot)
    return false
  }
}

// MARK: - Writing

extension FastTier {
  /// Claims an item for writing in place.
  ///
  /// The writer that raises the item's strong counter first is the only one that goes on; then it searches for readers,
  /// and can't miss their claims any more. It's granted once it has confirmed its claim: until then it isn't adopted,
  /// because a reader that it's about to meet may be granted.
  @inline(__always)
  package func write(_ path: ClaimPath, shard: Int, _ note: ClaimNote) throws(Memory.Failure) -> FastTierAnswer {
    guard shard < layout.shardCount, let (slot, index, free) = try freeSlot(in: shard) else { return .refused(.noSlot) }
    let key = path.item
    let counter = strongCounter(key)
    if try memory.add(1, at: counter) != 0 {
      try memory.add(~0, at: counter)
      return .refused(.busy)
    }
    try fill(slot, key: key, note)
    let confirmed = free.with(SlotState.isPublished | SlotState.isWrite)
    let tentative = confirmed.with(SlotState.isTentative)
    try announceUse(of: shard, index)
    try memory.exchange(tentative.rawValue, at: slot)
    if let refusal = try obstacleToWriting(path, key, own: slot) {
      return try retreat(tentative, slot, counter, refusal)
    }
    if memory.has(.unconfirmedWrite) {
      try memory.exchange(confirmed.rawValue, at: slot)
    } else if try !memory.compareExchange(tentative.rawValue, confirmed.rawValue, at: slot) {
      return try retreat(tentative, slot, counter, .busy)
    }
    return .granted(ClaimToken(slot: slot, state: confirmed))
  }

  @inline(__always)
  private func obstacleToWriting(
    _ path: ClaimPath, _ key: UInt64, own: Memory.Address
  ) throws(Memory.Failure) -> FastTierRefusal? {
    let here = try interests.find(key)
    if here.blocksWriting { return .interest(here) }
    if try interests.anyBlocksWritingBelow(), let refusal = try obstacleToWritingAbove(path) { return refusal }
    if memory.has(.readersIgnored) { return nil }
    return try hasClaim(of: key, besides: own) ? .busy : nil
  }

  /// Writes below the item of a presenter must ask it, and there may be a million presenters elsewhere.
  ///
  /// So a path records the version of the table in which there was nothing of that kind above it, until such an
  /// interest is raised anywhere.
  @inline(__always)
  private func obstacleToWritingAbove(_ path: ClaimPath) throws(Memory.Failure) -> FastTierRefusal? {
    let version = try interests.version()
    if path.memo != 0, try memory.loadRelaxed(path.memo) == version { return nil }
    if let refusal = try interest(above: path, in: InterestCounts(.blocksWritingBelow)) { return refusal }
    if path.memo != 0 {
      // The version from before the check: an interest that was raised since may have been missed.
      try memory.storeRelaxed(memory.has(.lateVersion) ? interests.version() : version, at: path.memo)
    }
    return nil
  }

  @inline(__always)
  private func hasClaim(of key: UInt64, besides own: Memory.Address) throws(Memory.Failure) -> Bool {
    let used = Int(try memory.load(interests.usedShards))
    var shard = 0
    while shard < used {
      let usedSlots = Int(try memory.load(usedSlots(of: shard)))
      var slot = 0
      while slot < usedSlots {
        let address = address(shard: shard, slot: slot)
        let state = SlotState(try memory.load(address))
        if !state.isFree, address != own, try memory.load(address &+ ClaimNote.keyOffset) == key { return true }
        slot &+= 1
      }
      shard &+= 1
    }
    return false
  }

  private func retreat(
    _ tentative: SlotState, _ slot: Memory.Address, _ counter: Memory.Address, _ refusal: FastTierRefusal
  ) throws(Memory.Failure) -> FastTierAnswer {
    // Tentative or challenged: only the writer goes on from there.
    try memory.exchange(tentative.freed.rawValue, at: slot)
    try memory.add(~0, at: counter)
    return .refused(refusal)
  }
}

// MARK: - Looking

extension FastTier {
  /// Whether a claim would be granted right now, judged by the item alone.
  ///
  /// The check claims nothing and keeps no other claim out. It's shown in a slot all the same while it lasts, so that
  /// the table of interests that it reads isn't freed under it.
  ///
  /// - Parameters:
  ///   - path: The item.
  ///   - isWrite: Whether it's to be claimed for writing.
  ///   - shard: The number of the calling thread, which no other thread has.
  /// - Returns: Whether an attempt is worth it; also `true` when no slot is free, which the attempt finds too.
  /// - Throws: The errors of the memory: none in a process.
  package func mayClaim(_ path: ClaimPath, isWrite: Bool, shard: Int) throws(Memory.Failure) -> Bool {
    if try memory.load(strongCounter(path.item)) != 0 { return false }
    guard shard < layout.shardCount, let (slot, index, free) = try freeSlot(in: shard) else { return true }
    if memory.has(.unshownLook) { return try !isBlocked(path, isWrite) }
    // No item's fingerprint: writers that search for claims pass over the slot.
    try memory.storeReleasing(0, at: slot &+ ClaimNote.keyOffset)
    let looking = free.with(SlotState.isLooking)
    try announceUse(of: shard, index)
    try memory.exchange(looking.rawValue, at: slot)
    let isBlocked = try isBlocked(path, isWrite)
    try memory.exchange(looking.freed.rawValue, at: slot)
    return !isBlocked
  }

  private func isBlocked(_ path: ClaimPath, _ isWrite: Bool) throws(Memory.Failure) -> Bool {
    let here = try interests.find(path.item)
    if !isWrite { return here.blocksReading }
    if here.blocksWriting { return true }
    return try hasClaim(of: path.item, besides: 0)
  }
}

// MARK: - Ending

extension FastTier {
  /// Ends a claim, on any thread.
  ///
  /// - Returns: `false` when the claim was adopted, or is being examined: then it ends through the host.
  @inline(__always)
  package func end(_ claim: ClaimToken, _ key: UInt64) throws(Memory.Failure) -> Bool {
    if memory.has(.adoptionIgnored) {
      try memory.exchange(claim.state.freed.rawValue, at: claim.slot)
    } else {
      if memory.has(.strongLoweredFirst), claim.state.has(SlotState.isWrite) {
        try memory.add(~0, at: strongCounter(key))
      }
      if try !memory.compareExchange(claim.state.rawValue, claim.state.freed.rawValue, at: claim.slot) { return false }
      if memory.has(.strongLoweredFirst) { return true }
    }
    if claim.state.has(SlotState.isWrite) { try memory.add(~0, at: strongCounter(key)) }
    return true
  }

  /// Frees the slot of a claim that ended through the host: one that was adopted, after the arbiter forgot it, or one
  /// that was only examined.
  ///
  /// Under the host's lock if it wasn't adopted.
  package func free(_ claim: ClaimToken, _ key: UInt64) throws(Memory.Failure) {
    try memory.exchange(claim.state.freed.rawValue, at: claim.slot)
    if memory.has(.strongLoweredFirst) { return }
    if claim.state.has(SlotState.isWrite) { try memory.add(~0, at: strongCounter(key)) }
  }

  /// Makes scans of the slots include this one, from before its first claim is shown.
  @inline(__always)
  private func announceUse(of shard: Int, _ slot: Int) throws(Memory.Failure) {
    if try memory.loadRelaxed(usedSlots(of: shard)) <= UInt64(slot) { try announceFirstUse(of: shard, slot) }
  }

  @inline(never)
  private func announceFirstUse(of shard: Int, _ slot: Int) throws(Memory.Failure) {
    // Only this thread writes it.
    try memory.exchange(UInt64(slot) &+ 1, at: usedSlots(of: shard))
    let count = UInt64(shard) &+ 1
    while true {
      let current = try memory.load(interests.usedShards)
      if current >= count { return }
      if try memory.compareExchange(current, count, at: interests.usedShards) { return }
    }
  }
}
