/// The canonical, absolute path of an item: bytes, no `.`, no `..`, no doubled or trailing slash.
///
/// File names are bytes. Two spellings that Unicode calls equal are two items here, as they are for the kernel.
package struct ItemPath: Hashable, Comparable, Sendable {
  /// The bytes of the path, beginning with `/`; the root is `/` alone.
  package let bytes: [UInt8]

  /// Wraps bytes that are already canonical.
  package init(canonical bytes: [UInt8]) {
    assert(bytes.first == ItemPath.slash && (bytes.count == 1 || bytes.last != ItemPath.slash), "not canonical")
    self.bytes = bytes
  }

  static let slash = UInt8(ascii: "/")
  package static let root = ItemPath(canonical: [slash])

  package func hash(into hasher: inout Hasher) {
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }

  package static func < (left: Self, right: Self) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  package var isRoot: Bool { bytes.count == 1 }

  /// Whether `other` is this item or lies inside it.
  /// - Complexity: O(length of this path).
  package func isSameOrContains(_ other: ItemPath) -> Bool {
    if isRoot { return true }
    guard other.bytes.starts(with: bytes) else { return false }
    return other.bytes.count == bytes.count || other.bytes[bytes.count] == ItemPath.slash
  }

  /// Whether `other` lies inside this item, at any depth.
  package func contains(_ other: ItemPath) -> Bool {
    bytes.count < other.bytes.count && isSameOrContains(other)
  }

  /// This path as it is after `old`, which is this item or contains it, has become `new`.
  package func movedAlong(from old: ItemPath, to new: ItemPath) -> ItemPath {
    assert(old.isSameOrContains(self))
    if self == old { return new }
    let rest = old.isRoot ? bytes[...] : bytes[old.bytes.count...]
    return ItemPath(canonical: (new.isRoot ? [] : new.bytes) + rest)
  }

  /// Names an item by something that isn't its path, so that accesses by different paths meet.
  ///
  /// No file has such a path: it begins with `/`, a zero byte and another slash, and names of files have no zeros.
  ///
  /// - Parameters:
  ///   - name: A name on which the participants agree: one component.
  ///   - rest: Nothing, or a slash and the way to an item inside.
  package init(alias name: String, followedBy rest: some Sequence<UInt8>) {
    self.init(canonical: [ItemPath.slash, 0, ItemPath.slash] + name.utf8 + rest)
  }

  /// Whether this isn't the path of a file: such an item has no presenters, and none is notified of it.
  package var isAlias: Bool { ItemPath.isAlias(bytes) }

  /// The same of bytes that may be no canonical path.
  package static func isAlias(_ bytes: [UInt8]) -> Bool { bytes.count > 3 && bytes[1] == 0 && bytes[2] == slash }

  /// The position behind the component that starts at `start`.
  func endOfComponent(from start: Int) -> Int {
    var end = start
    while end < bytes.count, bytes[end] != ItemPath.slash { end += 1 }
    return end
  }
}

extension ItemPath: CustomStringConvertible, ExpressibleByStringLiteral {
  package init(stringLiteral value: String) { self.init(canonical: Array(value.utf8)) }
  package init(_ canonical: String) { self.init(canonical: Array(canonical.utf8)) }
  /// For people: bytes that are no UTF-8 are shown as replacement characters.
  package var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension ItemPath {
  /// The directory that the item is in; `nil` for the root.
  package var parent: ItemPath? {
    if isRoot { return nil }
    let slash = bytes.lastIndex(of: ItemPath.slash) ?? 0
    return slash == 0 ? .root : ItemPath(canonical: Array(bytes[..<slash]))
  }
}
