/// A key, its value and its revisions.
public struct EtcdKeyValue: Hashable, Sendable {
  /// The key.
  public var key: EtcdBytes
  /// The value.
  public var value: EtcdBytes
  /// The revision at which the key was created, the last time.
  public var createRevision: Int64
  /// The revision of its last change.
  public var modRevision: Int64
  /// How often it was written since it was created.
  public var version: Int64
  /// The lease it's bound to; `nil` without one.
  public var lease: EtcdLeaseID?

  /// Creates a value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value.
  ///   - createRevision: The revision of its creation.
  ///   - modRevision: The revision of its last change.
  ///   - version: How often it was written.
  ///   - lease: The lease it's bound to.
  public init(
    key: EtcdBytes, value: EtcdBytes, createRevision: Int64, modRevision: Int64, version: Int64,
    lease: EtcdLeaseID? = nil
  ) {
    self.key = key
    self.value = value
    self.createRevision = createRevision
    self.modRevision = modRevision
    self.version = version
    self.lease = lease
  }
}

/// The number of a lease.
public struct EtcdLeaseID: Hashable, Sendable, CustomStringConvertible {
  /// The number; not 0.
  public let number: Int64

  /// Creates the number of a lease.
  ///
  /// - Parameter number: The number.
  public init(_ number: Int64) { self.number = number }

  /// In hexadecimal, as `etcdctl` writes it.
  public var description: String { String(UInt64(bitPattern: number), radix: 16) }
}

/// The keys of a range at a revision.
public struct EtcdRangeResult: Hashable, Sendable {
  /// The revision of the store when it was read.
  public var revision: Int64
  /// The keys in ascending order, at most as many as asked for.
  public var keyValues: [EtcdKeyValue]
  /// Whether there are more.
  public var hasMore: Bool
  /// How many keys are in the range.
  public var count: Int64
}

/// A change of a key.
public enum EtcdChange: Hashable, Sendable {
  /// It was written; the value before is there only if it was asked for.
  case put(EtcdKeyValue, previous: EtcdKeyValue?)
  /// It was removed, or its lease has ended, at a revision.
  case delete(EtcdBytes, revision: Int64, previous: EtcdKeyValue?)

  /// The key.
  public var key: EtcdBytes {
    switch self {
    case .put(let keyValue, _): keyValue.key
    case .delete(let key, _, _): key
    }
  }

  /// The revision of the change.
  public var revision: Int64 {
    switch self {
    case .put(let keyValue, _): keyValue.modRevision
    case .delete(_, let revision, _): revision
    }
  }
}

/// Changes that were made up to a revision.
public struct EtcdWatchBatch: Hashable, Sendable {
  /// The revision up to which the reader has all changes of its range.
  public var revision: Int64
  /// The changes in the order of their revisions, those of one transaction together; none if only other keys have changed.
  public var changes: [EtcdChange]
}
