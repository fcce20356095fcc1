// Public for the other targets of this package alone, which get specialized code for it; no product offers it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// A hash table with linear probing over elements that lead to their own key.
///
/// It takes the size of an optional element for each place, at most three quarters of which are in use, and gives memory
/// back when elements leave. The other hash tables of the package are special for a reason that stands beside each of them.
///
/// Hashes are of the caller's making. They are mixed here, so that successive numbers and addresses may be hashes.
public struct ProbingTable<Element> {
  @usableFromInline var places: [Element?]
  @usableFromInline var elementCount = 0
  @inlinable public var count: Int { elementCount }

  @inlinable public static var capacityMin: Int { 16 }

  /// Creates an empty table.
  @inlinable public init() { places = [Element?](repeating: nil, count: Self.capacityMin) }

  /// All elements, in no order.
  ///
  /// - Complexity: O(capacity).
  @inlinable public var elements: [Element] { places.compactMap(\.self) }

  /// The element for which `isMatch` answers `true`, which must have this hash.
  ///
  /// Elements with other hashes are offered too.
  /// - Complexity: O(1) on average.
  @inlinable
  public func first(withHash hash: UInt64, where isMatch: (Element) -> Bool) -> Element? {
    var place = home(of: hash)
    while let element = places[place] {
      if isMatch(element) { return element }
      place = next(place)
    }
    return nil
  }

  /// Inserts an element whose key isn't in the table.
  ///
  /// - Parameters:
  ///   - element: The element.
  ///   - hash: Its hash.
  ///   - hashOf: The hash of any element, for a table that has to grow.
  /// - Complexity: O(1) amortized.
  @inlinable
  public mutating func insert(_ element: Element, hash: UInt64, hashOf: (Element) -> UInt64) {
    if (elementCount + 1) * 4 > places.count * 3 { rebuild(places.count * 2, hashOf) }
    put(element, hash)
    elementCount += 1
  }

  /// Removes the element for which `isMatch` answers `true`, which must be there and have this hash.
  ///
  /// - Complexity: O(1) amortized.
  @inlinable
  public mutating func remove(withHash hash: UInt64, where isMatch: (Element) -> Bool, hashOf: (Element) -> UInt64) {
    var gap = home(of: hash)
    while let element = places[gap], !isMatch(element) { gap = next(gap) }
    precondition(places[gap] != nil, "an element that isn't in the table")
    fill(gap, hashOf)
    elementCount -= 1
    if places.count > Self.capacityMin, elementCount * 8 < places.count { rebuild(places.count / 2, hashOf) }
  }

  /// Moves elements of the same run up, so that none is cut off from its home by the gap.
  @inlinable
  public mutating func fill(_ gap: Int, _ hashOf: (Element) -> UInt64) {
    var gap = gap
    var place = next(gap)
    while let element = places[place] {
      let home = home(of: hashOf(element))
      let mask = places.count - 1
      if (place - home) & mask >= (place - gap) & mask {
        places[gap] = element
        gap = place
      }
      place = next(place)
    }
    places[gap] = nil
  }

  @inlinable
  public mutating func rebuild(_ capacity: Int, _ hashOf: (Element) -> UInt64) {
    let old = places
    places = Array(repeating: nil, count: capacity)
    for case .some(let element) in old { put(element, hashOf(element)) }
  }

  @inlinable
  public mutating func put(_ element: Element, _ hash: UInt64) {
    var place = home(of: hash)
    while places[place] != nil { place = next(place) }
    places[place] = element
  }

  @inlinable
  public func home(of hash: UInt64) -> Int { Int(truncatingIfNeeded: Mixing.spread(hash)) & (places.count - 1) }

  @inlinable
  public func next(_ place: Int) -> Int { (place + 1) & (places.count - 1) }
}

extension ProbingTable: Sendable where Element: Sendable {}
