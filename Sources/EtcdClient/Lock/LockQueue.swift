/// The place of an access in the queue of a lock: whether others may read at the same time.
public enum EtcdLockMode: Hashable, Sendable {
  /// Others may read at the same time.
  case reading
  /// Nobody else has the lock.
  case writing

  /// The part of a queue key that says so.
  var letter: UInt8 { self == .reading ? UInt8(ascii: "r") : UInt8(ascii: "w") }
}

/// The names of the keys in the queue of a lock: `<prefix>/<r or w>/<number of the lease>`.
package struct LockNames: Hashable, Sendable {
  /// All keys of the queue begin with it.
  package let prefix: EtcdBytes

  /// The names of the lock with a prefix, which ends without a slash.
  package init(_ prefix: EtcdBytes) { self.prefix = prefix + "/" }

  /// The key of an access, which is bound to the lease in its name.
  package func key(_ mode: EtcdLockMode, _ lease: EtcdLeaseID) -> EtcdBytes {
    prefix + EtcdBytes([mode.letter, UInt8(ascii: "/")]) + EtcdBytes(lease.description)
  }

  /// The mode of an access; `nil` for a key that's no access of this lock, for example of a lock whose prefix begins with this one's.
  package func mode(of key: EtcdBytes) -> EtcdLockMode? {
    let rest = key.bytes.dropFirst(prefix.bytes.count)
    guard key.bytes.starts(with: prefix.bytes), rest.count > 2, rest.dropFirst().first == UInt8(ascii: "/"),
      rest.dropFirst(2).allSatisfy(Self.isDigit)
    else { return nil }
    return [EtcdLockMode.reading, .writing].first { $0.letter == rest.first }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}

/// The queue of a lock at one revision.
package struct LockQueue: Hashable, Sendable {
  /// An access that waits for the lock or has it.
  package struct Entry: Hashable, Sendable {
    package var key: EtcdBytes
    package var mode: EtcdLockMode
    /// The revision at which it was created: its place in the queue, and the token of its holder.
    package var createRevision: Int64

    package init(_ key: EtcdBytes, _ mode: EtcdLockMode, createRevision: Int64) {
      self.key = key
      self.mode = mode
      self.createRevision = createRevision
    }
  }

  package var revision: Int64
  /// In any order.
  package var entries: [Entry]

  package init(revision: Int64, entries: [Entry]) {
    self.revision = revision
    self.entries = entries
  }

  /// The queue from the keys below its prefix.
  package init(_ keys: EtcdRangeResult, at revision: Int64, _ names: LockNames) {
    self.init(
      revision: revision,
      entries: keys.keyValues.compactMap { keyValue in
        names.mode(of: keyValue.key).map { Entry(keyValue.key, $0, createRevision: keyValue.createRevision) }
      })
  }
}

/// The right to write on behalf of a lock, as long as the access hasn't ended.
///
/// Its number is greater than that of every earlier holder's, also after servers were started again (CE-02). A place outside etcd keeps the
/// greatest number that it has seen and refuses writes with smaller ones. Inside etcd, ``EtcdClient/transact(_:guardedBy:name:)`` checks it.
public struct EtcdLockToken: Hashable, Sendable {
  /// The key that's there as long as the lock is held or waited for.
  public let key: EtcdBytes
  /// The revision at which the key was created.
  public let number: Int64

  package init(key: EtcdBytes, number: Int64) {
    self.key = key
    self.number = number
  }

  /// The comparison that holds as long as the lock is held with this token, for transactions that a program puts together itself.
  public var isHeld: EtcdCompare { .isCreated(key, at: number) }
}
