internal import EtcdClient
internal import KeyValueReplicas
internal import SystemInterface

/// How many bytes and keys the values of all replicas are.
struct StoreTotals: Hashable, Sendable {
  var byteCount: Int64 = 0
  var keyCount: Int64 = 0

  /// Counts a value of `new` bytes instead of one of `old` bytes; `nil` for no value.
  mutating func replace(_ old: Int64?, by new: Int64?) {
    byteCount += (new ?? 0) - (old ?? 0)
    keyCount += (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
  }

  /// Whether they're more than a store may have, and more than before: removals are always possible.
  func isTooMuch(after old: StoreTotals, _ limits: StoreLimits) -> Bool {
    byteCount > max(Int64(limits.byteCountMax), old.byteCount)
      || keyCount > max(Int64(limits.keyCountMax), old.keyCount)
  }
}

/// The things that an upload replaces at etcd: the keys, the replica's acknowledgement and the totals, each with its revision.
struct UploadGround: Hashable, Sendable {
  /// A key of the store that's at etcd.
  struct Entry: Hashable, Sendable {
    /// The revision of its last change.
    var revision: Int64
    /// How many bytes its value is; `nil` if the key was removed, of which a record is left.
    var byteCount: Int64?

    init(_ value: StoredValue?, at revision: Int64) {
      self.revision = revision
      byteCount = value.map { Int64($0.byteCount) }
    }
  }

  struct Counted: Hashable, Sendable {
    var totals: StoreTotals
    /// The revision at which they were counted.
    var revision: Int64
  }

  /// The keys that are there, by their names at etcd.
  var entries: [EtcdBytes: Entry] = [:]
  /// The revision of the replica's acknowledgement; 0 if there's none.
  var acknowledgement: Int64 = 0
  /// The totals; `nil` if nobody has counted them.
  var counted: Counted?

  /// The revision of a key's last change; 0 if it isn't there.
  func revision(_ key: EtcdBytes) -> Int64 { entries[key]?.revision ?? 0 }
}

/// The last that a device heard of the keys at etcd: with it an upload is one request, as long as nobody else uploads at the same time.
///
/// An upload compares the revision of everything that it builds on, so a memory that's out of date costs a request and nothing else.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `ground` | its lock | the reader of the watch notes what the uploading task asks for |
final class UploadMemory: Sendable {
  private let ground = Guarded(UploadGround())

  /// Forgets everything: all keys are about to be read, maybe those of a server that was restored from a backup.
  func forget() { ground.withLock { $0 = UploadGround() } }

  func note(_ key: EtcdBytes, _ entry: UploadGround.Entry) {
    ground.withLock { ground in
      if ground.revision(key) < entry.revision { ground.entries[key] = entry }
    }
  }

  func note(_ counted: UploadGround.Counted) {
    ground.withLock { ground in
      if ground.counted?.revision ?? 0 < counted.revision { ground.counted = counted }
    }
  }

  /// The ground that the upload expects, with the totals.
  ///
  /// - Returns: The ground; `nil` if the size of something that it expects isn't known.
  func ground(of upload: Upload, _ keys: EtcdStorageKeys) -> UploadGround? {
    ground.withLock { known in
      guard known.counted != nil else { return nil }
      var ground = UploadGround(acknowledgement: upload.expectedAcknowledgement, counted: known.counted)
      for item in upload.items where item.expectedRevision != 0 {
        let key = keys.value(item.key)
        guard let entry = known.entries[key], entry.revision == item.expectedRevision else { return nil }
        ground.entries[key] = entry
      }
      return ground
    }
  }
}
