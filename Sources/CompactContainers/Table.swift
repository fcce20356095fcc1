// Public for the other targets of this package alone, which get specialized code for it; no product offers it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// The requirement of a ``Table`` to its values.
public protocol TableElement: HashedElement {
  associatedtype ID: TableKey
  var id: ID { get }
}

/// A number that names something.
public protocol TableKey: Hashable, Comparable, Sendable {
  var rawValue: UInt64 { get }
}

extension TableKey {
  /// Numbers of any pattern spread over the low bits, but sixteen neighbours stay together.
  ///
  /// Numbers are given out in order, so what comes next is looked up where memory is in the cache.
  @inlinable public var tableHash: UInt64 {
    let product = (rawValue >> 4) &* Mixing.goldenFactor
    return (product ^ (product >> 32)) << 4 | (rawValue & 15)
  }
}

extension TableElement {
  @inlinable public var hash: UInt64 { id.tableHash }
}

/// A dictionary whose keys are known to be there: a missing one is a broken invariant, not a case to handle.
public struct Table<Element: TableElement>: Sendable {
  public typealias Key = Element.ID
  @inlinable public static var none: Int32 { HashedSlab<Element>.none }

  @usableFromInline var elements = HashedSlab<Element>()
  /// The largest key so far: a larger one can't exist, which saves a look at strangers far away in memory.
  @usableFromInline var largest: Key?
  /// Where the element with that key is, or ``none`` if it has gone: most steps use the element that came last.
  @usableFromInline var newest = HashedSlab<Element>.none

  @inlinable public init() {}

  @inlinable public var count: Int { elements.count }
  @inlinable public var reservedByteCount: Int { elements.reservedByteCount }
  @inlinable public var isEmpty: Bool { elements.count == 0 }
  /// All keys in ascending order, so that nothing depends on the order of hashing.
  @inlinable public var sortedKeys: [Key] { elements.indices.map { elements[$0].id }.sorted() }

  @inlinable public subscript(key: Key) -> Element {
    @inline(__always) unsafeAddress { unsafe elements.address(of: present(key)) }
    @inline(__always) unsafeMutableAddress { unsafe elements.mutableAddress(of: present(key)) }
  }

  /// The element at an index that ``index(of:)`` found, until the table changes.
  @inlinable public subscript(at index: Int32) -> Element {
    @inline(__always) unsafeAddress { unsafe elements.address(of: index) }
    @inline(__always) unsafeMutableAddress { unsafe elements.mutableAddress(of: index) }
  }

  /// A copy of the element, which retains what it refers to: code that reads only a part of it uses ``index(of:)``.
  @inlinable public func find(_ key: Key) -> Element? {
    let index = index(of: key)
    return index == Self.none ? nil : elements[index]
  }

  @inlinable public func contains(_ key: Key) -> Bool { index(of: key) != Self.none }

  @inlinable public mutating func insert(_ value: Element) {
    if let largest, value.id <= largest {
      precondition(!contains(value.id), "\(value.id) exists already")
    } else {
      largest = value.id
    }
    let index = elements.insert(value)
    if value.id == largest { newest = index }
  }

  @discardableResult
  @inlinable public mutating func remove(_ key: Key) -> Element {
    remove(at: present(key))
  }

  /// Removes the element at an index that ``index(of:)`` found.
  @discardableResult
  @inlinable public mutating func remove(at index: Int32) -> Element {
    let value = elements[index]
    elements.remove(index)
    if index == newest { newest = Self.none }
    return value
  }

  /// Where the element is, or ``none``.
  @inlinable public func index(of key: Key) -> Int32 {
    if newest != Self.none, key == largest { return newest }
    return olderIndex(of: key)
  }

  @inlinable func olderIndex(of key: Key) -> Int32 { elements.first(withHash: key.tableHash) { $0.id == key } }

  /// Where the element is, which has to be there.
  @inlinable public func present(_ key: Key) -> Int32 {
    let index = index(of: key)
    precondition(index != Self.none, "no \(key)")
    return index
  }
}
