@testable import FileCoordination

/// Facts about words that are known beforehand, so that fewer orders of operations have to be explored.
///
/// An operation that no other thread's operation can meet is done at once, together with the one before it. Each reason
/// for that is checked while exploring; a model without faults that breaks one is wrong.
struct MemoryMap {
  enum Role: UInt8 {
    case plain
    /// The state of a slot: only its shard's thread changes it while it's free.
    case slotState
    /// A word of a slot that only the holder reads, and the thread that froze or adopted the claim.
    case note
    /// Written only under the host's lock.
    case guarded
    /// Never written again.
    case constant
  }

  /// For each word its role, the thread whose shard a slot is in, where the slot's state is, and the slot's number.
  private let words = Words(count: 4 * ModelState.memoryWordCount)
  /// The word where the first table of interests begins; after it come only others.
  let firstTable: Int

  @inline(__always)
  func role(_ word: Int) -> Role { Role(rawValue: UInt8(truncatingIfNeeded: words[4 &* word])) ?? .plain }
  @inline(__always)
  func owner(_ word: Int) -> Int { Int(truncatingIfNeeded: words[4 &* word &+ 1]) }
  @inline(__always)
  func state(_ word: Int) -> Int { Int(truncatingIfNeeded: words[4 &* word &+ 2]) }

  @inline(__always)
  func number(_ word: Int) -> Int { Int(truncatingIfNeeded: words[4 &* word &+ 3]) }

  private func set(_ word: Int, _ role: Role, owner: Int = 0, state: Int = 0, number: Int = 0) {
    words[4 * word] = UInt64(role.rawValue)
    words[4 * word + 1] = UInt64(owner)
    words[4 * word + 2] = UInt64(state)
    words[4 * word + 3] = UInt64(number)
  }

  func deallocate() { words.deallocate() }

  /// Without any facts.
  init() { firstTable = .max }

  /// The known facts about the words of a fast tier.
  ///
  /// - Parameters:
  ///   - tier: The fast tier.
  ///   - isShardCountConstant: Whether all shards are in use from the start.
  init(_ tier: FastTier<ModelMemory>, isShardCountConstant: Bool) {
    firstTable = tier.interests.header / 8 + InterestTable<ModelMemory>.headerWordCount
    for shard in 0..<tier.layout.shardCount {
      for slot in 0..<tier.layout.slotsPerShard {
        let number = shard * tier.layout.slotsPerShard + slot
        let state = tier.address(shard: shard, slot: slot) / 8
        set(state, .slotState, owner: shard, state: state)
        for word in state + 2...state + 6 { set(word, .note, owner: shard, state: state, number: number) }
      }
    }
    // The table's header and all tables come after everything else.
    for word in tier.interests.header / 8..<ModelState.memoryWordCount { set(word, .guarded) }
    set(tier.interests.usedShards / 8, isShardCountConstant ? .constant : .plain)
    for shard in 0..<tier.layout.shardCount {
      set(tier.usedSlots(of: shard) / 8, isShardCountConstant ? .constant : .plain)
    }
  }
}
