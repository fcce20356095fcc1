/// The limits of a key-value store; as they are, those of Apple's (KV-6).
public struct StoreLimits: Hashable, Sendable {
  /// How many keys may have a value.
  public var keyCountMax = 1024
  /// The bytes of all values together; keys don't count.
  public var byteCountMax = 1 << 20
  /// How long a key may be, in UTF-16 code units.
  public var keyLengthMax = 128
  /// How long a key may be in bytes of UTF-8, for stores that older systems share; `nil` for no such limit.
  public var keyByteCountMax: Int?
  /// How deep arrays and dictionaries may be nested in each other; at most 256.
  public var depthMax = 64
  /// How many keys can be written at once; at most 126.
  ///
  /// They're uploaded in one transaction, of which a server takes 128 operations (E-5), and two are the store's own.
  public var keysOfTransactionMax = 100

  /// Apple's limits.
  public init() {}

  private static let keysOfTransactionRange = 1...126

  /// The sentence that says which limit can't be one, if there's one.
  package var mistake: String? {
    if !(0...StoredValue.depthMax).contains(depthMax) {
      return "depthMax is \(depthMax); values can be nested \(StoredValue.depthMax) deep"
    }
    if !Self.keysOfTransactionRange.contains(keysOfTransactionMax) {
      let most = Self.keysOfTransactionRange.upperBound
      return "keysOfTransactionMax is \(keysOfTransactionMax); a transaction can have 1 to \(most) keys"
    }
    if keyCountMax < 0 { return "keyCountMax is \(keyCountMax); it can't be negative" }
    if byteCountMax < 0 { return "byteCountMax is \(byteCountMax); it can't be negative" }
    return nil
  }

  /// The reason why a key can't be used, if there's one.
  package func refusal(of key: String) -> WriteRefusal? {
    if key.isEmpty { return .emptyKey }
    let length = key.utf16.count
    if length > keyLengthMax {
      return .keyTooLong(key, length: length, lengthMax: keyLengthMax, unit: "UTF-16 code units")
    }
    let byteCount = key.utf8.count
    if let max = keyByteCountMax, byteCount > max {
      return .keyTooLong(key, length: byteCount, lengthMax: max, unit: "bytes")
    }
    return nil
  }
}

/// The reason why a store took nothing of a write.
package enum WriteRefusal: Error, Hashable, Sendable {
  case emptyKey
  /// The limit is in UTF-16 code units, or in bytes if the store has such a limit.
  case keyTooLong(String, length: Int, lengthMax: Int, unit: String)
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
