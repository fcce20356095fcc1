@testable import FileCoordination

/// Which word of a tier's memory is what.
struct TierPlaces {
  enum Place: Hashable {
    /// The state of a slot of this shard.
    case slotState(shard: Int)
    /// The fingerprint in a slot of this shard.
    case slotKey(shard: Int)
    /// How many slots of this shard have ever been used.
    case usedSlots(shard: Int)
    case strongCounter, shardCount, readingBelowCount, writingBelowCount, version
    /// Where the current table of interests is.
    case tablePointer
    /// A fingerprint in whichever table, or the mask before them.
    case interestKey
    /// How many items of a fingerprint have which interest, in whichever table.
    case interestCounts
    /// Where a path notes that nothing is above its item.
    case memo
    case other
  }

  private var places: [Int: Place] = [:]
  /// Where the header of the table of interests begins; all tables are behind it.
  private let header: Int
  /// Where the version of the table of interests is.
  let version: Int

  /// - Parameters:
  ///   - tier: The tier.
  ///   - memos: Where the words of all items begin, or zero.
  init(_ tier: FastTier<ModelMemory>, memos: Int) {
    header = tier.interests.header
    version = tier.interests.versionWord
    for shard in 0..<tier.layout.shardCount {
      for slot in 0..<tier.layout.slotsPerShard {
        places[tier.address(shard: shard, slot: slot)] = .slotState(shard: shard)
        places[tier.address(shard: shard, slot: slot) + ClaimNote.keyOffset] = .slotKey(shard: shard)
      }
      places[tier.usedSlots(of: shard)] = .usedSlots(shard: shard)
    }
    for key in 0..<UInt64(tier.layout.strongCounterCount) { places[tier.strongCounter(key)] = .strongCounter }
    if memos != 0 {
      for item in ModelItem.allCases { places[memos + 8 * Int(item.rawValue)] = .memo }
    }
    places[tier.interests.header] = .tablePointer
    places[tier.interests.usedShards] = .shardCount
    places[tier.interests.readingBelowCount] = .readingBelowCount
    places[tier.interests.writingBelowCount] = .writingBelowCount
    places[tier.interests.versionWord] = .version
  }

  func place(_ address: Int) -> Place {
    if let place = places[address] { return place }
    // Header and tables have an even number of words each; in a table these are the mask, a spare word, then pairs of
    // key and counts.
    if address < header + 8 * InterestTable<ModelMemory>.headerWordCount { return .other }
    return (address - header) / 8 % 2 == 1 ? .interestCounts : .interestKey
  }
}
