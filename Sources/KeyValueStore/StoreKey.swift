public import KeyValueReplicas

/// A key whose values are of one type.
///
/// ```swift
/// let launchCount = StoreKey<Int>("launchCount", default: 0, mergedBy: .counter)
/// try store.set(try store.value(for: launchCount) + 1, for: launchCount)
/// ```
public struct StoreKey<Value: Codable & Sendable>: Sendable {
  /// The key in the store.
  public let name: String
  /// The value of a key that has none.
  public let defaultValue: Value
  /// How two devices' values are merged.
  public let policy: MergePolicy

  /// Defines a key.
  ///
  /// A name that no store takes is a mistake in the program, and ends it.
  ///
  /// - Parameters:
  ///   - name: The key in the store: 1 to 128 UTF-16 code units.
  ///   - defaultValue: The value of a key that has none.
  ///   - policy: How two devices' values are merged. A value of a structure is merged as a whole.
  public init(_ name: StaticString, default defaultValue: Value, mergedBy policy: MergePolicy = .lastWriter) {
    let refusal = StoreLimits().refusal(of: "\(name)")
    precondition(refusal == nil, "a key needs 1 to 128 UTF-16 code units: '\(name)'")
    (self.name, self.defaultValue, self.policy) = ("\(name)", defaultValue, policy)
  }

  /// Defines a key whose name the program doesn't know beforehand.
  ///
  /// - Parameters:
  ///   - name: The key in the store.
  ///   - defaultValue: The value of a key that has none.
  ///   - policy: How two devices' values are merged.
  /// - Throws: ``KeyValueStoreError`` with the code `emptyKey` or `keyTooLong`.
  public init(
    checking name: String, default defaultValue: Value, mergedBy policy: MergePolicy = .lastWriter
  ) throws(KeyValueStoreError) {
    if let refusal = StoreLimits().refusal(of: name) { throw KeyValueStoreError(refusal) }
    (self.name, self.defaultValue, self.policy) = (name, defaultValue, policy)
  }
}

extension KeyValueStore {
  /// The value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or the key's default if there's none.
  /// - Throws: ``KeyValueStoreError`` with the code `typeMismatch` if the value there is of another type, or `notSealed` if it can't be opened.
  /// - Complexity: O(size of the value), without a system call.
  public func value<Value>(for key: StoreKey<Value>) throws(KeyValueStoreError) -> Value {
    guard let stored = self[key.name] else {
      if let failure = engine.openingFailure(of: key.name) { throw failure }
      return key.defaultValue
    }
    return try Value(stored, of: key.name)
  }

  /// The value of a key; its default also where another type's value is.
  public subscript<Value>(key: StoreKey<Value>) -> Value { (try? value(for: key)) ?? key.defaultValue }

  /// Sets the value of a key, and states how it's merged.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: ``KeyValueStoreError``: `typeMismatch` for a value that isn't made of property-list values; otherwise as for
  ///   ``set(_:for:)-(StoredValue?,_)``.
  public func set<Value>(_ value: Value?, for key: StoreKey<Value>) throws(KeyValueStoreError) {
    let stored = try value.map { (value) throws(KeyValueStoreError) in try StoredValue(encoding: value, as: key.name) }
    try engine.define(key.name, key.policy)
    try set(stored, for: key.name)
  }
}
