@testable import FileCoordination

/// Which word of a tier's memory is what.
struct TierPlaces {
  enum Place: Hashable {
    /// The state of a slot of this shard.
    case slotState(shard: Int)
    case strongCounter, shardCount, readingBelowCount, writingBelowCount, version
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
      }
    }
    for key in 0..<UInt64(tier.layout.strongCounterCount) { places[tier.strongCounter(key)] = .strongCounter }
    if memos != 0 {
      for item in ModelItem.allCases { places[memos + 8 * Int(item.rawValue)] = .memo }
    }
    places[tier.interests.usedShards] = .shardCount
    places[tier.interests.readingBelowCount] = .readingBelowCount
    places[tier.interests.writingBelowCount] = .writingBelowCount
    places[tier.interests.versionWord] = .version
  }

  func place(_ address: Int) -> Place {
    if let place = places[address] { return place }
    // Header and tables have an even number of words each; in a table these are the mask, a spare word, then pairs of
    // key and counts.
    let isTable = address >= header + 8 * InterestTable<ModelMemory>.headerWordCount
    return isTable && (address - header) / 8 % 2 == 1 ? .interestCounts : .other
  }
}
