/// Resolved items by key, shared by all threads of a domain.
///
/// Bounded: an item not asked for since the hand of the clock last came by makes room for the next.
struct ResolutionTable {
  static let itemCountMax = 4096

  private struct Slot {
    let item: ResolvedItem
    var isUsed: Bool
  }

  private let countMax: Int
  /// By the hash of kind and key.
  ///
  /// Of two keys with one hash only the later is remembered.
  private var slots: [UInt64: Slot] = [:]
  private var ring: [UInt64] = []
  private var hand = 0

  init(countMax: Int = ResolutionTable.itemCountMax) { self.countMax = countMax }

  var count: Int { slots.count }

  mutating func item(_ hash: UInt64, _ key: UnsafeBufferPointer<UInt8>) -> ResolvedItem? {
    guard let position = slots.index(forKey: hash) else { return nil }
    let item = slots.values[position].item
    guard unsafe ResolutionKey.areSame(item.key, key) else { return nil }
    slots.values[position].isUsed = true
    return item
  }

  /// Remembers an item; returns the one it takes the place of, to be released outside of the lock.
  mutating func insert(_ item: ResolvedItem, _ hash: UInt64) -> ResolvedItem? {
    if let old = slots.updateValue(Slot(item: item, isUsed: false), forKey: hash) { return old.item }
    let evicted = slots.count > countMax ? evictOne() : nil
    ring.append(hash)
    return evicted
  }

  private mutating func evictOne() -> ResolvedItem? {
    while true {
      if hand >= ring.count { hand = 0 }
      let hash = ring[hand]
      if let slot = slots[hash], slot.isUsed, slot.item.validity.isKept {
        slots[hash]?.isUsed = false
        hand += 1
        continue
      }
      ring.swapAt(hand, ring.count - 1)
      ring.removeLast()
      return slots.removeValue(forKey: hash)?.item
    }
  }
}
