internal import KeyValueReplicas
internal import SystemInterface

/// How a store and its other devices stand to each other.
public struct StoreStatus: Hashable, Sendable {
  /// Whether there's a place that devices share.
  public var isShared: Bool
  /// Whether this process uploads and downloads for all of the user's on this machine; another one does otherwise.
  public var isSynchronizing: Bool
  /// Whether the place has answered last; `false` where another process uploads.
  public var isConnected: Bool
  /// Whether the values of other devices have been read at least once.
  public var hasInitialValues: Bool
  /// The keys whose last write isn't uploaded.
  public var pendingKeys: Set<String>
  /// Those of them for which there's no room.
  public var heldKeys: Set<String>
  /// When the next upload begins, in nanoseconds since 1970; `nil` if there's nothing to upload, or an upload is under way.
  public var nextUpload: Int64?
  /// The failure because of which the store isn't connected, or doesn't hear of other processes.
  public var failure: KeyValueStoreError?
}

extension KeyValueStore {
  /// The present status.
  ///
  /// - Complexity: O(keys).
  public var status: StoreStatus {
    let sharing = synchronizer?.status.withLock { $0 }
    let present = now()
    return engine.read { core in
      StoreStatus(
        isShared: sharing != nil, isSynchronizing: sharing?.isActive ?? false,
        isConnected: sharing?.isConnected ?? false, hasInitialValues: core.hasRead, pendingKeys: core.pendingKeys,
        heldKeys: core.heldKeys, nextUpload: core.nextUpload(at: present), failure: sharing?.failure)
    }
    .with(engine.lastFailure)
  }

  /// How many writes there have been, for ``flush(upTo:within:)``.
  public var writeCount: Int { engine.read { $0.sequence } }

  /// Waits until the place that devices share has confirmed writes.
  ///
  /// A new device has the values of the others then, too. It waits for the time until which uploads are held back (KV-11): see ``StoreStatus/nextUpload``.
  ///
  /// - Parameters:
  ///   - count: The number of writes, by ``writeCount``; all before the call unless given.
  ///   - limit: How long to wait.
  /// - Throws: ``KeyValueStoreError``: `notShared` where there's no such place, `unreachable` after the limit, `permissionDenied` and others
  ///   that somebody has to do something about, `tooManyBytes` where there's no room, `cancelled`.
  public func flush(upTo count: Int? = nil, within limit: Duration = .seconds(60)) async throws(KeyValueStoreError) {
    guard let synchronizer else {
      throw KeyValueStoreError(
        .notShared,
        account == nil
          ? "the store '\(name)' has no account, so nothing is uploaded; see signIn(as:)"
          : "the store '\(name)' isn't shared, so nothing is uploaded; see Configuration.sharing")
    }
    let (count, clock) = (count ?? writeCount, configuration.clock)
    let end = clock.now.advanced(by: limit)
    let wakeUp = WakeUp()
    engine.add(wakeUp)
    while true {
      let (confirmed, held) = engine.read { ($0.confirmedSequence, $0.heldKeys) }
      if confirmed >= count, engine.read({ $0.hasRead }) { return }
      if !held.isEmpty {
        throw KeyValueStoreError(
          .tooManyBytes,
          "there's no room for \(held.sorted().joined(separator: ", ")) at the place that devices share, "
            + "or it takes no request of that size; remove keys, or write less at once")
      }
      let failure = synchronizer.status.withLock { $0.failure }
      if let failure, failure.code != .unreachable { throw failure }
      if Task.isCancelled {
        throw KeyValueStoreError(.cancelled, "the task was cancelled while it waited for the upload")
      }
      if clock.now >= end { throw failure ?? unconfirmed(limit, isSynchronizing: synchronizer.isActive) }
      await wakeUp.wait(until: end, clock)
    }
  }
}

extension KeyValueStore {
  private func unconfirmed(_ limit: Duration, isSynchronizing: Bool) -> KeyValueStoreError {
    let reason =
      isSynchronizing
      ? "see the store's status"
      : "another process of this device uploads for all, and may be stopped: /proc/locks has the number of the process that has locked 'syncing' beside the journal"
    return KeyValueStoreError(.unreachable, "the upload wasn't confirmed within \(limit); \(reason)")
  }
}

extension StoreStatus {
  fileprivate func with(_ other: KeyValueStoreError?) -> StoreStatus {
    var status = self
    status.failure = failure ?? other
    return status
  }
}
