internal import FileAccessArbiter

/// Claims that nobody objects to, granted without the arbiter: a few atomic operations, no lock, no allocation, no
/// system call.
///
/// A thread that claims shows its claim first, and looks for obstacles then. A thread that makes an obstacle raises it
/// first, and looks for claims then. So at least one of two that meet sees the other (Dekker's pattern); that one gives
/// way, or takes the other into account. That needs sequential consistency: a claim must have left the store buffer
/// before the look.
///
/// Obstacles are what the arbiter has at an item or around it: claims held or waited for, and presenters. The thread
/// that raises one holds the host's lock, and *adopts* the claims that it finds: from then on they are accesses of the
/// arbiter like all others, and end through the host. So everything contended is decided in one place.
///
/// | words | written by | read by | why that is safe |
/// | --- | --- | --- | --- |
/// | a slot's state | its shard's thread from free; its holder to free; the host's lock holder between | all | each change but the first is a compare-and-exchange, or follows from one |
/// | a slot's other words | its shard's thread while it's free | the host's lock holder while it's frozen or adopted | a frozen slot is never freed |
/// | strong counters | writers of this tier; readers, their bias | all | raised before the scan of the slots, lowered after the slot is free; see ``StrongCounter`` |
/// | interests | the host's lock holder | all | raised before the scan of the slots |
///
/// If fingerprints are equal by chance, a claim may retreat although no claim conflicts with it: then it goes through
/// the arbiter, which compares paths.
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
  /// Another thread examined the claim when it was to retreat, or has refused it: ask ``FastTier/conclude(_:)`` under
  /// the host's lock.
  case contested(ClaimToken, FastTierRefusal)
}

// The parts of a claim below aren't private: tests put them together in a wrong order, to show that it would be found.

// MARK: - Slots

/// A slot that holds no claim, of the calling thread's shard: no other thread takes it.
struct FreeSlot {
  /// The address of the state word.
  let address: Int
  let shard: Int
  /// Which slot of the shard it is.
  let index: Int
  let state: SlotState

  /// The claim, or the look, that the slot shows when its state has these flags.
  @inline(__always)
  func claim(_ flags: UInt64) -> ClaimToken { ClaimToken(slot: address, state: state.with(flags)) }
}

extension FastTier {
  @inline(__always)
  func address(shard: Int, slot: Int) -> Memory.Address {
    shards &+ (shard &* layout.shardStride &+ slot &* FastTierLayout.slotStride) &* 8
  }

  /// How many slots of a shard have ever been used: the last word of its first slot.
  @inline(__always)
  func usedSlots(of shard: Int) -> Memory.Address { address(shard: shard, slot: 0) &+ ClaimNote.spareOffset }

  package func state(at slot: Memory.Address) throws(Memory.Failure) -> SlotState { SlotState(try memory.load(slot)) }

  /// A free slot of this thread's shard, if it has a shard and not all are in use.
  @inline(__always)
  func freeSlot(in shard: Int) throws(Memory.Failure) -> FreeSlot? {
    if shard >= layout.shardCount { return nil }
    var index = 0
    while index < layout.slotsPerShard {
      let address = address(shard: shard, slot: index)
      // Only this thread takes slots of this shard, and the thread that freed this one has read it before.
      let state = SlotState(try memory.load(address))
      if state.isFree { return FreeSlot(address: address, shard: shard, index: index, state: state) }
      index &+= 1
    }
    return nil
  }

  @inline(__always)
  func fill(_ slot: Memory.Address, key: UInt64, _ note: ClaimNote) throws(Memory.Failure) {
    // A thread may have seen the state of the former claim, and pass over this slot because of the new key. For that
    // thread the former claim is over: all that its holder did comes before the key.
    try memory.storeReleasing(key, at: slot &+ ClaimNote.keyOffset)
    try memory.storeRelaxed(UInt64(note.item), at: slot &+ ClaimNote.itemOffset)
    try memory.storeRelaxed(UInt64(note.holder), at: slot &+ ClaimNote.holderOffset)
    try memory.storeRelaxed(UInt64(note.outer), at: slot &+ ClaimNote.outerOffset)
    try memory.storeRelaxed(UInt64(note.task), at: slot &+ ClaimNote.taskOffset)
    try memory.storeRelaxed(UInt64(note.access), at: slot &+ ClaimNote.accessOffset)
  }

  /// Lets everybody see a claim or a look, before the calling thread loads anything else.
  @inline(__always)
  func show(_ claim: ClaimToken) throws(Memory.Failure) { try memory.exchange(claim.state.rawValue, at: claim.slot) }

  /// Frees the slot of a claim or a look that nobody but the caller ends.
  @inline(__always)
  func hide(_ claim: ClaimToken) throws(Memory.Failure) {
    try memory.exchange(claim.state.freed.rawValue, at: claim.slot)
  }

  /// Frees the slot of a claim unless somebody challenged, froze or adopted it.
  ///
  /// - Returns: Whether it did.
  @inline(__always)
  func hideIfUntouched(_ claim: ClaimToken) throws(Memory.Failure) -> Bool {
    try memory.compareExchange(claim.state.rawValue, claim.state.freed.rawValue, at: claim.slot)
  }

  /// Includes this slot in all looks at the slots, from before its first claim is shown.
  @inline(__always)
  func announceUse(of slot: FreeSlot) throws(Memory.Failure) {
    if try memory.loadRelaxed(usedSlots(of: slot.shard)) <= UInt64(slot.index) {
      try announceFirstUse(of: slot.shard, slot.index)
    }
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
    guard let slot = try freeSlot(in: shard) else { return .refused(.noSlot) }
    let key = path.item
    try fill(slot.address, key: key, note)
    try announceUse(of: slot)
    let claim = slot.claim(SlotState.isPublished)
    try show(claim)
    // Only now, when the claim is shown: a table that was replaced before is never looked at.
    let table = try interests.currentTable()
    if let refusal = try obstacleToReading(path, key, in: table) { return try retreat(claim, refusal) }
    return try isUntouchedOrAdopted(claim) ? .granted(claim) : .contested(claim, .busy)
  }

  @inline(__always)
  func obstacleToReading(
    _ path: ClaimPath, _ key: UInt64, in table: Memory.Address
  ) throws(Memory.Failure) -> FastTierRefusal? {
    let strong = StrongCounter(try memory.load(strongCounter(key)))
    if !strong.isZero, try !regain(strong, key) { return .busy }
    let here = try interests.find(key, in: table)
    if here.blocksReading { return .interest(here) }
    if try !interests.anyBlocksReadingBelow() { return nil }
    return try interest(above: path, in: InterestCounts(.blocksReadingBelow))
  }

  /// Takes the bias of writers away, if no writer is there.
  ///
  /// - Returns: Whether readers may claim: the next writer searches for them.
  @inline(never)
  func regain(_ strong: StrongCounter, _ key: UInt64) throws(Memory.Failure) -> Bool {
    if strong.hasWriters { return false }
    if try memory.compareExchange(strong.rawValue, 0, at: strongCounter(key)) { return true }
    // By another reader, or a writer has come.
    return try memory.load(strongCounter(key)) == 0
  }

  @inline(never)
  private func interest(above path: ClaimPath, in wanted: InterestCounts) throws(Memory.Failure) -> FastTierRefusal? {
    for index in 0..<(path.count &- 1) {
      let found = try interests.find(unsafe path.fingerprints[index])
      if found.meets(wanted) { return .interest(found) }
    }
    return nil
  }

  /// Whether the claim of a reader that found no obstacle holds: no thread has refused it, or is about to.
  ///
  /// Obstacles are looked at one after the other: while one was still there somebody may have refused this claim on
  /// account of it, and raised an obstacle where this reader had looked before.
  @inline(__always)
  func isUntouchedOrAdopted(_ claim: ClaimToken) throws(Memory.Failure) -> Bool {
    let state = SlotState(try memory.load(claim.slot))
    return state == claim.state || state.has(SlotState.isAdopted)
  }

  /// Takes back a reader's claim that met an obstacle.
  func retreat(_ claim: ClaimToken, _ refusal: FastTierRefusal) throws(Memory.Failure) -> FastTierAnswer {
    try hideIfUntouched(claim) ? .refused(refusal) : .contested(claim, refusal)
  }

  /// Finds out the fate of a claim that couldn't be taken back, or that somebody had looked at: it was adopted, and so is
  /// granted; or it wasn't, and now it's taken back.
  ///
  /// Under the host's lock, so that no other thread examines it any more.
  package func conclude(_ claim: ClaimToken) throws(Memory.Failure) -> Bool {
    if try state(at: claim.slot).has(SlotState.isAdopted) { return true }
    try memory.storeReleasing(claim.state.freed.rawValue, at: claim.slot)
    return false
  }
}

// MARK: - Writing

extension FastTier {
  /// Claims an item for writing in place.
  ///
  /// The writer that raises the item's strong counter first is the only one that goes on; then it looks for readers,
  /// whose claims it may have missed no longer, unless readers have been kept out since the last writer. It's granted once it has confirmed its claim: until then nobody adopts
  /// it, because a reader that it's about to meet may be granted.
  @inline(__always)
  package func write(_ path: ClaimPath, shard: Int, _ note: ClaimNote) throws(Memory.Failure) -> FastTierAnswer {
    guard let slot = try freeSlot(in: shard) else { return .refused(.noSlot) }
    let key = path.item
    let strong = StrongCounter(try memory.add(1, at: strongCounter(key)))
    if strong.hasWriters {
      try memory.add(~0, at: strongCounter(key))
      return .refused(.busy)
    }
    try fill(slot.address, key: key, note)
    try announceUse(of: slot)
    var confirmed = slot.claim(SlotState.isPublished | SlotState.isWrite)
    let tentative = slot.claim(SlotState.isPublished | SlotState.isWrite | SlotState.isTentative)
    try show(tentative)
    if let refusal = try obstacleToWriting(path) { return try giveUp(tentative, key, refusal) }
    if !strong.keepsReadersOut {
      switch try claims(of: key, besides: slot.address) {
      case .none: confirmed = slot.claim(SlotState.isPublished | SlotState.isWrite | SlotState.givesBias)
      case .besideItem: break
      case .ofItem: return try giveUp(tentative, key, .busy)
      }
    }
    return try confirm(tentative, as: confirmed) ? .granted(confirmed) : giveUp(tentative, key, .busy)
  }

  @inline(__always)
  func strongCounter(_ key: UInt64) -> Memory.Address {
    strongCounters &+ Int(truncatingIfNeeded: key & UInt64(layout.strongCounterCount &- 1)) &* 8
  }

  /// Lets others in again if the claim is a writer's; its slot is free by then.
  @inline(__always)
  func lowerStrongCounter(_ key: UInt64, of claim: ClaimToken) throws(Memory.Failure) {
    if !claim.state.has(SlotState.isWrite) { return }
    try memory.add(claim.state.has(SlotState.givesBias) ? StrongCounter.bias &- 1 : ~0, at: strongCounter(key))
  }

  @inline(__always)
  func obstacleToWriting(_ path: ClaimPath) throws(Memory.Failure) -> FastTierRefusal? {
    let here = try interests.find(path.item)
    if here.blocksWriting { return .interest(here) }
    return try interests.anyBlocksWritingBelow() ? obstacleToWritingAbove(path) : nil
  }

  /// Writes below the item of a presenter must ask it, and there may be a million presenters elsewhere.
  ///
  /// So a path remembers the state of the table in which there was nothing above it, until something like that is
  /// raised anywhere.
  @inline(__always)
  private func obstacleToWritingAbove(_ path: ClaimPath) throws(Memory.Failure) -> FastTierRefusal? {
    let version = try interests.version()
    if path.memo != 0, try memory.loadRelaxed(path.memo) == version { return nil }
    if let refusal = try interest(above: path, in: InterestCounts(.blocksWritingBelow)) { return refusal }
    // The version from before the look: an obstacle that was raised since may have been missed.
    if path.memo != 0 { try memory.storeRelaxed(version, at: path.memo) }
    return nil
  }

  /// The claims that a search finds.
  enum FoundClaims {
    case none
    /// Of other items that have the same strong counter.
    case besideItem
    case ofItem
  }

  @inline(__always)
  func claims(of key: UInt64, besides own: Memory.Address) throws(Memory.Failure) -> FoundClaims {
    var result = FoundClaims.none
    let used = Int(try memory.load(interests.usedShards))
    var shard = 0
    while shard < used {
      let usedSlots = Int(try memory.load(usedSlots(of: shard)))
      var slot = 0
      while slot < usedSlots {
        let address = address(shard: shard, slot: slot)
        let state = SlotState(try memory.load(address))
        if !state.isFree, address != own {
          let found = try memory.load(address &+ ClaimNote.keyOffset)
          if found == key { return .ofItem }
          if strongCounter(found) == strongCounter(key) { result = .besideItem }
        }
        slot &+= 1
      }
      shard &+= 1
    }
    return result
  }

  /// - Returns: Whether the claim is granted: nobody has challenged it.
  @inline(__always)
  func confirm(_ tentative: ClaimToken, as confirmed: ClaimToken) throws(Memory.Failure) -> Bool {
    try memory.compareExchange(tentative.state.rawValue, confirmed.state.rawValue, at: tentative.slot)
  }

  /// Takes back a writer's claim, which is tentative or challenged: nobody but the writer goes on from there.
  func giveUp(
    _ tentative: ClaimToken, _ key: UInt64, _ refusal: FastTierRefusal
  ) throws(Memory.Failure) -> FastTierAnswer {
    try hide(tentative)
    try lowerStrongCounter(key, of: tentative)
    return .refused(refusal)
  }
}

// MARK: - Looking

extension FastTier {
  /// Whether a claim would be granted right now, judged by the item alone.
  ///
  /// The look claims nothing and keeps nobody out. It's shown in a slot all the same while it lasts, so that the table
  /// of interests that it reads isn't freed under it.
  ///
  /// - Parameters:
  ///   - path: The item.
  ///   - isWrite: Whether it's to be claimed for writing.
  ///   - shard: The number of the calling thread, which no other thread has.
  /// - Returns: Whether an attempt is worth it; also `true` when no slot is free, which the attempt finds too.
  /// - Throws: The errors of the memory: none in a process.
  package func mayClaim(_ path: ClaimPath, isWrite: Bool, shard: Int) throws(Memory.Failure) -> Bool {
    let strong = StrongCounter(try memory.load(strongCounter(path.item)))
    if strong.hasWriters { return false }
    guard let slot = try freeSlot(in: shard) else { return true }
    // No item's fingerprint: writers that look for claims pass over the slot.
    try memory.storeReleasing(0, at: slot.address &+ ClaimNote.keyOffset)
    try announceUse(of: slot)
    let look = slot.claim(SlotState.isLooking)
    try show(look)
    let isBlocked = try isBlocked(path, isWrite, strong)
    try hide(look)
    return !isBlocked
  }

  private func isBlocked(
    _ path: ClaimPath, _ isWrite: Bool, _ strong: StrongCounter
  ) throws(Memory.Failure) -> Bool {
    let here = try interests.find(path.item)
    if !isWrite { return here.blocksReading }
    if here.blocksWriting { return true }
    if strong.keepsReadersOut { return false }
    return try claims(of: path.item, besides: 0) == .ofItem
  }
}

// MARK: - Ending

extension FastTier {
  /// Ends a claim, on any thread.
  ///
  /// - Returns: `false` when the claim was adopted, or is being examined: then it ends through the host.
  @inline(__always)
  package func end(_ claim: ClaimToken, _ key: UInt64) throws(Memory.Failure) -> Bool {
    if try !hideIfUntouched(claim) { return false }
    try lowerStrongCounter(key, of: claim)
    return true
  }

  /// Frees the slot of a claim that ended through the host: one that was adopted, after the arbiter forgot it, or one
  /// that somebody had only looked at.
  ///
  /// Under the host's lock if it wasn't adopted.
  package func free(_ claim: ClaimToken, _ key: UInt64) throws(Memory.Failure) {
    try hide(claim)
    try lowerStrongCounter(key, of: claim)
  }
}
