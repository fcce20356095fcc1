/// A set of pairs of words, each two independent hashes of 64 bits of a state: that two of a few million states have the
/// same pair is as good as impossible.
///
/// A hash table with open addressing; the second word of an entry that is taken isn't zero.
struct DigestSet {
  // The mask, the count, the address of the pairs.
  private let header = Words(count: 3)

  init() {
    header[0] = 4095
    header[2] = UInt64(UInt(bitPattern: Self.makePairs(4096)))
  }

  private static func makePairs(_ count: Int) -> UnsafeMutablePointer<UInt64> {
    let pairs = UnsafeMutablePointer<UInt64>.allocate(capacity: 2 * count)
    pairs.initialize(repeating: 0, count: 2 * count)
    return pairs
  }

  @inline(__always)
  private var pairs: UnsafeMutablePointer<UInt64> {
    UnsafeMutablePointer(bitPattern: UInt(truncatingIfNeeded: header[2])).unsafelyUnwrapped
  }

  func deallocate() {
    pairs.deallocate()
    header.deallocate()
  }

  var count: Int { Int(truncatingIfNeeded: header[1]) }

  /// - Returns: Whether it's new.
  func insert(_ first: UInt64, _ second: UInt64) -> Bool {
    let pairs = pairs
    let mask = header[0]
    let second = second | 1
    var index = first & mask
    while true {
      let entry = Int(truncatingIfNeeded: 2 &* index)
      let found = pairs[entry &+ 1]
      if found == second, pairs[entry] == first { return false }
      if found == 0 {
        pairs[entry] = first
        pairs[entry &+ 1] = second
        break
      }
      index = (index &+ 1) & mask
    }
    header[1] = header[1] &+ 1
    if header[1] &* 2 > mask { grow() }
    return true
  }

  private func grow() {
    let old = pairs
    let oldCount = Int(header[0]) + 1
    header[0] = UInt64(2 * oldCount - 1)
    header[1] = 0
    header[2] = UInt64(UInt(bitPattern: Self.makePairs(2 * oldCount)))
    var source = 0
    while source < oldCount {
      if old[2 &* source &+ 1] != 0 { _ = insert(old[2 &* source], old[2 &* source &+ 1]) }
      source &+= 1
    }
    old.deallocate()
  }
}
