/// Words in memory that grows; nothing but words, so that it's fast without an optimizer, too.
final class WordPool {
  private(set) var words: UnsafeMutablePointer<UInt64>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int = 1024) {
    self.capacity = capacity
    words = .allocate(capacity: capacity)
  }

  deinit { words.deallocate() }

  func append(_ word: UInt64) {
    if count == capacity { grow() }
    words[count] = word
    count &+= 1
  }

  func truncate(to count: Int) { self.count = count }

  private func grow() {
    let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: 2 * capacity)
    larger.moveInitialize(from: words, count: count)
    words.deallocate()
    words = larger
    capacity *= 2
  }
}

/// Two independent hashes of 64 bits: that two of a few million states have the same is as good as impossible.
struct Digest {
  var first: UInt64 = 0
  var second: UInt64 = 0

  /// Adds or takes away a word; the order doesn't matter.
  @inline(__always)
  mutating func toggle(_ index: Int, _ word: UInt64) {
    var mixed = (word ^ (UInt64(truncatingIfNeeded: index) &* 0x9e37_79b9_7f4a_7c15)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 29) ^ UInt64(truncatingIfNeeded: index)) &* 0x94d0_49bb_1331_11eb
    first ^= mixed ^ (mixed >> 32)
    mixed = (mixed ^ (mixed >> 31)) &* 0xd6e8_feb8_6659_fd93
    second ^= mixed ^ (mixed >> 28)
  }
}

/// A set of digests: a hash table with open addressing.
final class DigestSet {
  private var pairs: UnsafeMutablePointer<UInt64>
  private var mask: Int
  private(set) var count = 0

  init() {
    mask = 4095
    pairs = .allocate(capacity: 2 * 4096)
    pairs.initialize(repeating: 0, count: 2 * 4096)
  }

  deinit { pairs.deallocate() }

  /// - Returns: Whether it's new.
  func insert(_ digest: Digest) -> Bool {
    let first = digest.first
    let second = digest.second | 1
    var index = Int(truncatingIfNeeded: first) & mask
    while pairs[2 &* index &+ 1] != 0 {
      if pairs[2 &* index] == first, pairs[2 &* index &+ 1] == second { return false }
      index = (index &+ 1) & mask
    }
    pairs[2 &* index] = first
    pairs[2 &* index &+ 1] = second
    count &+= 1
    if 2 &* count > mask { grow() }
    return true
  }

  private func grow() {
    let old = pairs
    let oldCount = mask + 1
    mask = 2 * oldCount - 1
    pairs = .allocate(capacity: 4 * oldCount)
    pairs.initialize(repeating: 0, count: 4 * oldCount)
    var source = 0
    while source < oldCount {
      if old[2 &* source &+ 1] != 0 {
        var index = Int(truncatingIfNeeded: old[2 &* source]) & mask
        while pairs[2 &* index &+ 1] != 0 { index = (index &+ 1) & mask }
        pairs[2 &* index] = old[2 &* source]
        pairs[2 &* index &+ 1] = old[2 &* source &+ 1]
      }
      source &+= 1
    }
    old.deallocate()
  }
}
