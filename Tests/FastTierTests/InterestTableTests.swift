import FileAccessArbiter
import SeededRandom
import Testing

@testable import FileCoordination

@Suite("The table of interests, compared with a dictionary")
struct InterestTableTests {
  /// A fast tier on counted memory, and the expected contents of its table.
  private struct Comparison {
    let memory = CountingMemory()
    let tier: FastTier<CountingMemory>
    var ledger: InterestLedger
    /// The interest of each item with a fingerprint.
    var items: [UInt64: [ItemInterest]] = [:]

    init(capacityMin: Int) {
      let layout = FastTierLayout(
        shardCount: 2, slotsPerShard: 2, strongCounterCount: 2, interestCapacityMin: capacityMin)
      tier = FastTier(memory: memory, layout: layout)
      ledger = InterestLedger(layout: layout)
    }

    mutating func change(_ key: UInt64, from old: ItemInterest, to new: ItemInterest) {
      tier.changeInterest(key, from: old, to: new, &ledger)
      var interests = items[key] ?? []
      if !old.isEmpty, let index = interests.firstIndex(of: old) { interests.remove(at: index) }
      if !new.isEmpty { interests.append(new) }
      items[key] = interests.isEmpty ? nil : interests
    }

    func expected(_ key: UInt64) -> InterestCounts {
      InterestCounts(rawValue: (items[key] ?? []).reduce(0) { $0 + InterestCounts($1).rawValue })
    }

    /// The difference from the dictionary, if any.
    func difference(_ keys: some Sequence<UInt64>) -> String? {
      for key in keys where tier.interests.find(key) != expected(key) { return "the interest in \(key)" }
      let all = items.values.joined()
      if tier.interests.anyBlocksReadingBelow() != all.contains(where: { $0.contains(.blocksReadingBelow) }) {
        return "whether reading below is blocked"
      }
      if tier.interests.anyBlocksWritingBelow() != all.contains(where: { $0.contains(.blocksWritingBelow) }) {
        return "whether writing below is blocked"
      }
      if ledger.liveCount != items.count { return "how many items have interest" }
      return nil
    }

    mutating func clear() {
      for (key, interests) in items { for interest in interests { change(key, from: interest, to: []) } }
    }
  }

  /// Keys are few and end alike, so that they collide.
  @Test("Random changes", arguments: [1, 2, 8, 64], [UInt64(1), 2, 3])
  func randomChanges(capacityMin: Int, seed: UInt64) {
    var numbers = SplitMix(state: seed)
    var comparison = Comparison(capacityMin: capacityMin)
    let keys: [UInt64] = (1...40).map { (number: UInt64) in number << 32 | number % 3 | 8 }
    for step in 0..<3000 {
      let key = keys[Int.random(in: 0..<keys.count, using: &numbers)]
      let old = comparison.items[key]?.randomElement(using: &numbers)
      let isRaised = Int.random(in: 0..<(step / 500 % 2 == 0 ? 3 : 6), using: &numbers) == 0
      let new = isRaised ? ItemInterest(rawValue: .random(in: 1...15, using: &numbers)) : []
      if isRaised, Bool.random(using: &numbers) {
        comparison.change(key, from: [], to: new)
      } else {
        comparison.change(key, from: old ?? [], to: new)
      }
      if let difference = comparison.difference(keys) {
        Issue.record("step \(step): \(difference) is wrong")
        return
      }
    }
    comparison.clear()
    #expect(comparison.difference(keys) == nil)
    comparison.tier.deallocate(&comparison.ledger)
    #expect(comparison.memory.wordCount == 0)
  }

  @Test("The table grows with the items, and shrinks with them")
  func growth() {
    var comparison = Comparison(capacityMin: 8)
    let before = comparison.memory.wordCount
    let keys = UInt64(1)...5000
    for key in keys { comparison.change(key &* 0x9e37_79b9_7f4a_7c15, from: [], to: .blocksWriting) }
    #expect(comparison.difference(keys.map { $0 &* 0x9e37_79b9_7f4a_7c15 }) == nil)
    #expect(comparison.ledger.capacity >= 10_000)
    #expect(comparison.ledger.capacity <= 40_000)
    comparison.clear()
    #expect(comparison.difference(keys.map { $0 &* 0x9e37_79b9_7f4a_7c15 }) == nil)
    // At most eight times the least capacity stays, two words for each entry.
    #expect(comparison.memory.wordCount - before <= 2 * 8 * 8)
    comparison.tier.deallocate(&comparison.ledger)
    #expect(comparison.memory.wordCount == 0)
  }

  @Test("A replaced table stays until the claims that were shown then are over")
  func replacedTable() {
    var comparison = Comparison(capacityMin: 8)
    let note = ClaimNote(item: 1, holder: 1, outer: 0, task: 0, access: 0)
    guard case .granted(let claim) = comparison.tier.read(ModelItem.file.claimPath, shard: 0, note) else {
      Issue.record("nothing is in the way")
      return
    }
    let before = comparison.memory.regionCount
    for key in UInt64(100)..<106 { comparison.change(key, from: [], to: .blocksReading) }
    #expect(comparison.memory.regionCount > before)
    #expect(comparison.tier.end(claim, ModelItem.file.fingerprint))
    comparison.change(100, from: .blocksReading, to: .blocksWriting)
    #expect(comparison.memory.regionCount == before)
    comparison.tier.deallocate(&comparison.ledger)
  }

  /// Interest comes and goes at ever new items, as with presenters of short-lived files, while one claim lasts.
  @Test("A claim that lasts doesn't make replaced tables pile up")
  func churn() {
    var comparison = Comparison(capacityMin: 64)
    let note = ClaimNote(item: 1, holder: 1, outer: 0, task: 0, access: 0)
    guard case .granted(let claim) = comparison.tier.read(ModelItem.file.claimPath, shard: 0, note) else {
      Issue.record("nothing is in the way")
      return
    }
    var regionCountMax = 0
    for key in UInt64(1)...20_000 {
      let key = key &* 0x9e37_79b9_7f4a_7c15
      comparison.change(key, from: [], to: .blocksReading)
      comparison.change(key, from: .blocksReading, to: [])
      regionCountMax = max(regionCountMax, comparison.memory.regionCount)
    }
    #expect(regionCountMax <= 8)
    #expect(comparison.tier.end(claim, ModelItem.file.fingerprint))
    comparison.tier.deallocate(&comparison.ledger)
  }
}
