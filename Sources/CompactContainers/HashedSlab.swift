// Public for the other targets of this package alone, which get specialized code for it; no product offers it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// The requirements of a ``HashedSlab`` to its elements.
public protocol HashedElement: Sendable {
  /// Depends on what the element is looked up by, and never changes.
  var hash: UInt64 { get }
  /// The next element with the same bucket; of the table.
  var link: Int32 { get set }
}

/// A slab whose elements can be found by a hash: linear hashing with chains.
///
/// The table grows and shrinks by a bucket or two with each element that comes or goes, and never all at once. So no step
/// has to pay for a million others, and the memory goes with the elements.
public struct HashedSlab<Element: HashedElement>: Sendable {
  @inlinable public static var none: Int32 { -1 }

  @usableFromInline var slab = Slab<Element>()
  @usableFromInline var buckets = BucketArray()

  @inlinable public init() {}

  @inlinable public var count: Int { slab.count }
  @inlinable public var indices: [Int32] { slab.indices }
  @inlinable public func contains(_ index: Int32) -> Bool { slab.contains(index) }

  @inlinable public subscript(index: Int32) -> Element {
    @inline(__always) unsafeAddress { unsafe slab.address(of: index) }
    @inline(__always) unsafeMutableAddress { unsafe slab.mutableAddress(of: index) }
  }

  /// Where the element is until the slab changes.
  @inline(__always)
  @inlinable public func address(of index: Int32) -> UnsafePointer<Element> { unsafe slab.address(of: index) }

  @inline(__always)
  @inlinable public mutating func mutableAddress(of index: Int32) -> UnsafeMutablePointer<Element> {
    unsafe slab.mutableAddress(of: index)
  }

  /// The element for which `isMatch` answers `true`, which must have this hash, or ``none``.
  ///
  /// Elements with other hashes are offered too.
  /// - Complexity: O(1) on average.
  @inline(__always)
  @inlinable public func first(withHash hash: UInt64, where isMatch: (borrowing Element) -> Bool) -> Int32 {
    var index = buckets[buckets.bucket(of: hash)]
    while index != Self.none {
      let element = unsafe slab.address(of: index)
      if isMatch(unsafe element.pointee) { return index }
      index = unsafe element.pointee.link
    }
    return Self.none
  }

  /// - Complexity: O(1) on average.
  @inlinable public mutating func insert(_ element: Element) -> Int32 {
    let index = slab.insert(element)
    if slab.count > buckets.count { split() }
    push(index, buckets.bucket(of: element.hash))
    return index
  }

  /// - Complexity: O(1) on average.
  @inlinable public mutating func remove(_ index: Int32) {
    precondition(contains(index), "slab index \(index) is free already")
    let bucket = buckets.bucket(of: slab[index].hash)
    let next = slab[index].link
    if buckets[bucket] == index {
      buckets[bucket] = next
    } else {
      var previous = buckets[bucket]
      while slab[previous].link != index { previous = slab[previous].link }
      slab[previous].link = next
    }
    slab.remove(index)
    // Two at a time, so that the table keeps up when everything goes.
    for _ in 0..<2 where buckets.count > BucketArray.countMin && buckets.count > 2 * slab.count { merge() }
  }

  /// How much memory it has, used or not, without what the elements refer to.
  @inlinable public var reservedByteCount: Int { slab.reservedByteCount + buckets.reservedByteCount }

  @inlinable public mutating func push(_ index: Int32, _ bucket: Int) {
    slab[index].link = buckets[bucket]
    buckets[bucket] = index
  }

  /// Adds a bucket and gives it its share of the one that has done its work so far.
  @inlinable public mutating func split() {
    var index = buckets[buckets.buddyOfNext]
    buckets[buckets.buddyOfNext] = Self.none
    buckets.append()
    while index != Self.none {
      let next = slab[index].link
      push(index, buckets.bucket(of: slab[index].hash))
      index = next
    }
  }

  @inlinable public mutating func merge() {
    var index = buckets.removeLast()
    while index != Self.none {
      let next = slab[index].link
      push(index, buckets.bucket(of: slab[index].hash))
      index = next
    }
  }
}

/// The heads of the chains.
public struct BucketArray: Sendable {
  @inlinable public static var countMin: Int { 16 }

  @usableFromInline var heads = ContiguousArray<Int32>(repeating: -1, count: BucketArray.countMin)
  /// The largest power of two that is at most `count`.
  @usableFromInline var half = BucketArray.countMin

  @inlinable public init() {}

  @inlinable public var count: Int { heads.count }

  @inlinable public var reservedByteCount: Int { heads.capacity * MemoryLayout<Int32>.stride }

  @inlinable public subscript(bucket: Int) -> Int32 {
    get { heads[bucket] }
    set { heads[bucket] = newValue }
  }

  @inline(__always)
  @inlinable public func bucket(of hash: UInt64) -> Int {
    let wide = Int(truncatingIfNeeded: hash) & (2 &* half &- 1)
    return wide < heads.count ? wide : wide &- half
  }

  /// The bucket that does the work of the next one to be added.
  @inlinable public var buddyOfNext: Int { heads.count - half }

  @inlinable public mutating func append() {
    heads.append(-1)
    if heads.count == 2 * half { half = heads.count }
  }

  @inlinable public mutating func removeLast() -> Int32 {
    let head = heads.removeLast()
    if heads.count < half { half /= 2 }
    // Four bytes each: to copy a million of them takes less than a millisecond.
    if heads.capacity > 4 * heads.count { heads = unsafe heads.withUnsafeBufferPointer { unsafe ContiguousArray($0) } }
    return head
  }
}
