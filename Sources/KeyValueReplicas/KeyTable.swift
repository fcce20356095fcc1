/// The text of a key, which is equal to another one if the bytes are.
@usableFromInline
struct KeyName: Hashable, Sendable {
  @usableFromInline let text: String

  @inlinable
  init(_ text: String) { self.text = text }

  @inlinable
  static func == (left: KeyName, right: KeyName) -> Bool {
    let isEqual = unsafe left.text.utf8.withContiguousStorageIfAvailable { left in
      unsafe right.text.utf8.withContiguousStorageIfAvailable { right in unsafe left.elementsEqual(right) }
    }
    return (isEqual ?? nil) ?? left.text.utf8.elementsEqual(right.text.utf8)
  }

  // Equal bytes are equal texts, and these have equal hashes.
  @inlinable
  func hash(into hasher: inout Hasher) { text.hash(into: &hasher) }
}

/// Something for each of several keys, which are different if their bytes are.
///
/// A dictionary of strings takes two spellings of a text for one key if they mean the same in Unicode; servers, and Apple's store, don't.
///
/// Other targets' code is specialized for it, see the step `benchmarks`: a store's reads are look-ups in one.
@usableFromInline
package struct KeyTable<Value>: Sequence {
  @usableFromInline var storage: [KeyName: Value] = [:]

  /// Nothing.
  @inlinable
  package init() {}

  /// The things of several keys; the last one if a key is there twice.
  package init(_ pairs: some Sequence<(key: String, value: Value)>) { for (key, value) in pairs { self[key] = value } }

  package var count: Int { storage.count }
  package var isEmpty: Bool { storage.isEmpty }
  package var keys: [String] { storage.keys.map(\.text) }
  package var values: some Sequence<Value> { storage.values }

  @inlinable
  package subscript(key: String) -> Value? {
    get { storage[KeyName(key)] }
    _modify { yield &storage[KeyName(key)] }
  }

  package subscript(key: String, default value: @autoclosure () -> Value) -> Value {
    get { storage[KeyName(key), default: value()] }
    _modify { yield &storage[KeyName(key), default: value()] }
  }

  @inlinable
  package func contains(_ key: String) -> Bool { storage[KeyName(key)] != nil }

  package func compactMapValues<Other>(_ transform: (Value) -> Other?) -> KeyTable<Other> {
    var table = KeyTable<Other>()
    for (key, value) in self { table[key] = transform(value) }
    return table
  }

  /// In the order of the keys' bytes.
  package func sorted() -> [(key: String, value: Value)] {
    sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  @usableFromInline
  package func makeIterator() -> AnyIterator<(key: String, value: Value)> {
    var iterator = storage.makeIterator()
    return AnyIterator { iterator.next().map { ($0.key.text, $0.value) } }
  }
}

extension KeyTable: Sendable where Value: Sendable {}
extension KeyTable: Equatable where Value: Equatable {}
extension KeyTable: Hashable where Value: Hashable {}

extension Dictionary where Key == String {
  /// One of those with keys that Swift's strings take for equal.
  package init(_ table: KeyTable<Value>) { self.init(table.map { ($0.key, $0.value) }) { $1 } }
}

extension KeyTable<StoredValue> {
  /// The keys whose values are others, in the order of their bytes.
  package func difference(to other: KeyTable) -> [StoreChange.Item] {
    var items: [StoreChange.Item] = []
    for (key, value) in self where other[key] != value {
      items.append(StoreChange.Item(key: key, old: value, new: other[key]))
    }
    for (key, value) in other where !contains(key) { items.append(StoreChange.Item(key: key, old: nil, new: value)) }
    return items.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}
