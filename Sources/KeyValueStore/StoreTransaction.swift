public import KeyValueReplicas

/// Reads and writes of several keys that count together: see ``KeyValueStore/transaction(_:)``.
public struct StoreTransaction {
  private let read: (String) -> StoredValue?
  /// The values that were read, and that must still be so.
  private(set) var reads = KeyTable<StoredValue?>()
  private(set) var writes = KeyTable<StoredValue?>()

  init(reading read: @escaping (String) -> StoredValue?) { self.read = read }

  /// The value of a key, with what the transaction has written so far.
  public subscript(key: String) -> StoredValue? {
    mutating get {
      if let written = writes[key] { return written }
      if let value = reads[key] { return value }
      let value = read(key)
      reads[key] = .some(value)
      return value
    }
    set { writes[key] = .some(newValue) }
  }
}

extension KeyValueStore {
  private static let attemptCountMax = 1_000

  /// Writes several keys together, depending on what they are.
  ///
  /// Others see all of the writes or none, as one change (CK-18). If another thread or process has written a key meanwhile that `body` has
  /// read, nothing is written and `body` runs again.
  ///
  /// - Parameter body: Reads and writes keys; may run several times, and must not do anything else that lasts.
  /// - Returns: The result of the last run.
  /// - Throws: The error of `body` or a ``KeyValueStoreError``; the store is unchanged then. `contended` after a thousand runs,
  ///   `notSealed` if `body` has read a key whose value can't be opened, and has written something.
  @discardableResult
  public func transaction<Result>(
    _ body: (inout StoreTransaction) throws(KeyValueStoreError) -> Result
  ) throws(KeyValueStoreError) -> Result {
    for _ in 0..<Self.attemptCountMax {
      // At one moment: values that don't belong together aren't seen.
      let values = engine.table
      var transaction = StoreTransaction { values[$0] }
      let result = try body(&transaction)
      let writes = transaction.writes.sorted().map { KeyWrite($0.key, $0.value) }
      if writes.isEmpty { return result }
      if try engine.write(writes, expecting: transaction.reads) { return result }
    }
    throw KeyValueStoreError(.contended, "others write the same keys all the time; nothing was written")
  }
}
