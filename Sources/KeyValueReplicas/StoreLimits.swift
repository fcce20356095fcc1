/// The limits of a key-value store; as they are, those of Apple's (KV-6).
package struct StoreLimits: Hashable, Sendable {
  package var keyCountMax = 1024
  /// The bytes of all values together; keys don't count.
  package var byteCountMax = 1 << 20
  /// In UTF-16 code units.
  package var keyLengthMax = 128
  /// In bytes of UTF-8, for stores that older systems share; `nil` for no such limit.
  package var keyByteCountMax: Int?
  /// How deep arrays and dictionaries may be nested in each other.
  package var depthMax = 64
  /// How many keys can be written at once.
  ///
  /// They're uploaded in one transaction, of which a server takes 128 operations (E-5).
  package var keysOfTransactionMax = 100

  package init() {}

  /// The reason why a key can't be used, if there's one.
  package func refusal(of key: String) -> WriteRefusal? {
    if key.isEmpty { return .emptyKey }
    if key.utf16.count > keyLengthMax { return .keyTooLong(key, lengthMax: keyLengthMax) }
    if let max = keyByteCountMax, key.utf8.count > max { return .keyTooLong(key, lengthMax: max) }
    return nil
  }
}

/// The reason why a store took nothing of a write.
package enum WriteRefusal: Error, Hashable, Sendable {
  case emptyKey
  /// The limit is in UTF-16 code units, or in bytes if the store has such a limit.
  case keyTooLong(String, lengthMax: Int)
  /// One key twice in one transaction.
  case keyRepeated(String)
  case nestedTooDeep(String, depthMax: Int)
  case tooManyKeys(countMax: Int)
  case tooManyBytes(byteCountMax: Int)
  case tooManyKeysAtOnce(countMax: Int)

  /// Whether a notification with the reason `quotaViolation` belongs to it (KV-7).
  package var isQuotaViolation: Bool {
    switch self {
    case .tooManyKeys, .tooManyBytes: true
    case .emptyKey, .keyTooLong, .keyRepeated, .nestedTooDeep, .tooManyKeysAtOnce: false
    }
  }
}
