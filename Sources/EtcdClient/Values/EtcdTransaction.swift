/// Operations that are made together, depending on comparisons.
public struct EtcdTransaction: Hashable, Sendable {
  /// The comparisons, of which all must hold for `success`.
  public var compares: [EtcdCompare]
  /// The operations if all comparisons hold.
  public var success: [EtcdOperation]
  /// The operations if one doesn't hold.
  public var failure: [EtcdOperation]

  /// How many operations a branch may have, and how many comparisons there may be; nested ones count.
  public static let operationCountMax = 128

  /// Creates a transaction.
  ///
  /// - Parameters:
  ///   - compares: The comparisons.
  ///   - success: The operations if all hold.
  ///   - failure: The operations if one doesn't.
  public init(if compares: [EtcdCompare] = [], then success: [EtcdOperation], else failure: [EtcdOperation] = []) {
    self.compares = compares
    self.success = success
    self.failure = failure
  }
}

/// A comparison of a key, or of all keys of a range.
public struct EtcdCompare: Hashable, Sendable {
  /// A property and the value to compare it with.
  public enum Target: Hashable, Sendable {
    /// The revision of the creation; 0 for a key that isn't there.
    case createRevision(Int64)
    /// The revision of the last change; 0 for a key that isn't there.
    case modRevision(Int64)
    /// How often it was written; 0 for a key that isn't there.
    case version(Int64)
    /// The value; never holds for a key that isn't there.
    case value(EtcdBytes)
    /// The lease; `nil` for none.
    case lease(EtcdLeaseID?)
  }

  /// The relation of the property to the value.
  public enum Relation: String, Hashable, Sendable {
    /// They're equal.
    case equal = "EQUAL"
    /// They differ.
    case notEqual = "NOT_EQUAL"
    /// The property is greater.
    case greater = "GREATER"
    /// The property is less.
    case less = "LESS"
  }

  /// The keys.
  public var keys: EtcdKeyRange
  /// The property and the value.
  public var target: Target
  /// Their relation.
  public var relation: Relation

  /// Creates a comparison.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - relation: The relation.
  ///   - target: The property and the value.
  public init(_ keys: EtcdKeyRange, _ relation: Relation, _ target: Target) {
    self.keys = keys
    self.relation = relation
    self.target = target
  }

  /// The key isn't there.
  ///
  /// - Parameter key: The key.
  /// - Returns: The comparison.
  public static func isAbsent(_ key: EtcdBytes) -> EtcdCompare { EtcdCompare(.key(key), .equal, .createRevision(0)) }

  /// The key was created at a revision and not again since, as a fencing token is checked.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - revision: The revision.
  /// - Returns: The comparison.
  public static func isCreated(_ key: EtcdBytes, at revision: Int64) -> EtcdCompare {
    EtcdCompare(.key(key), .equal, .createRevision(revision))
  }

  /// The key wasn't changed since a revision.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - revision: The revision.
  /// - Returns: The comparison.
  public static func isUnchanged(_ key: EtcdBytes, since revision: Int64) -> EtcdCompare {
    EtcdCompare(.key(key), .equal, .modRevision(revision))
  }
}

/// An operation of a transaction.
public indirect enum EtcdOperation: Hashable, Sendable {
  /// Reads keys.
  case range(EtcdKeyRange, limit: Int64 = 0)
  /// Writes a key.
  case put(EtcdBytes, EtcdBytes, lease: EtcdLeaseID? = nil)
  /// Removes keys.
  case delete(EtcdKeyRange)
  /// Makes a transaction.
  case transaction(EtcdTransaction)
}

/// The result of an operation of a transaction.
public indirect enum EtcdOperationResult: Hashable, Sendable {
  /// The keys that were read.
  case range(EtcdRangeResult)
  /// The key was written.
  case put
  /// So many keys were removed.
  case delete(count: Int64)
  /// The result of the transaction.
  case transaction(EtcdTransactionResult)
}

/// The result of a transaction.
public struct EtcdTransactionResult: Hashable, Sendable {
  /// The revision of the store after it; that of its changes if it made any.
  public var revision: Int64
  /// Whether the comparisons held.
  public var succeeded: Bool
  /// The results of the operations of the branch, in their order; none if an earlier attempt was found to have been made.
  public var results: [EtcdOperationResult]
  /// Whether an attempt whose answer was lost had made it, and this one found that out.
  public var wasRepeated = false
}

/// The name of a write, by which an attempt whose answer was lost is recognised.
///
/// The transaction also writes a small key, below `prefix`, and every attempt first checks whether it's there. So the client may repeat the
/// write at any endpoint, and it's made once at most. The key stays: bind it to a lease that outlives the call.
public struct EtcdOperationName: Hashable, Sendable {
  /// The key that's written.
  public let key: EtcdBytes
  /// The lease of that key.
  public let lease: EtcdLeaseID?

  /// Creates a name that no other write has.
  ///
  /// - Parameters:
  ///   - prefix: The start of the key.
  ///   - lease: The lease of the key.
  public init(below prefix: EtcdBytes, lease: EtcdLeaseID?) {
    var generator = SystemRandomNumberGenerator()
    let digits = (0..<2).map { _ in String(generator.next() as UInt64, radix: 36) }.joined(separator: ".")
    self.init(key: prefix + EtcdBytes(digits), lease: lease)
  }

  /// Creates a name from its key.
  package init(key: EtcdBytes, lease: EtcdLeaseID?) {
    self.key = key
    self.lease = lease
  }
}
