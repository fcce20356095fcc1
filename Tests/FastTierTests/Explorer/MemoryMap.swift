@testable import FileCoordination

/// What is known about words beforehand, so that fewer orders of operations have to be looked at.
///
/// An operation that no other thread's operation can meet is done at once, together with the one before it. Each reason
/// for that is checked while exploring; a model without faults that breaks one is wrong.
struct MemoryMap {
  enum Role: UInt8 {
    case plain
    /// The state of a slot: only its shard's thread changes it while it's free.
    case slotState
    /// A word of a slot that nobody looks at but the holder, and whoever froze or adopted the claim.
    case note
    /// Written only under the host's lock.
    case guarded
    /// Never written again.
    case constant
  }

  var roles = [Role](repeating: .plain, count: ModelState.memoryWordCount)
  /// The thread whose shard a slot is in, and where the slot's state is.
  var owners = [UInt8](repeating: 0xff, count: ModelState.memoryWordCount)
  var states = [Int](repeating: 0, count: ModelState.memoryWordCount)

  static let plain = MemoryMap()

  init() {}

  /// What is known of the words of a fast tier.
  ///
  /// - Parameters:
  ///   - tier: The fast tier.
  ///   - isShardCountConstant: Whether all shards are in use from the start.
  init(_ tier: FastTier<ModelMemory>, isShardCountConstant: Bool) {
    for shard in 0..<tier.layout.shardCount {
      for slot in 0..<tier.layout.slotsPerShard {
        let state = tier.stateAddress(shard: shard, slot: slot) / 8
        let note = tier.noteAddress(shard: shard, slot: slot) / 8
        roles[state] = .slotState
        owners[state] = UInt8(shard)
        states[state] = state
        for word in note + 1...note + 4 {
          roles[word] = .note
          owners[word] = UInt8(shard)
          states[word] = state
        }
      }
    }
    // The table's header and all tables come after everything else.
    for word in tier.interests.header / 8..<ModelState.memoryWordCount { roles[word] = .guarded }
    roles[tier.interests.usedShards / 8] = isShardCountConstant ? .constant : .plain
  }
}
