/// One key in a write.
package struct KeyWrite: Hashable, Sendable {
  package var key: String
  /// `nil` removes the key.
  package var value: StoredValue?

  package init(_ key: String, _ value: StoredValue?) {
    self.key = key
    self.value = value
  }
}

/// A key as the server has it.
package struct SharedItem: Hashable, Sendable {
  package var key: String
  /// `nil` for a removed key, of which the server keeps the instant: a tombstone.
  package var value: StoredValue?
  package var time: HybridTime
  /// The server's number of the change (`mod_revision`).
  package var revision: Int64

  package init(key: String, value: StoredValue?, time: HybridTime, revision: Int64) {
    self.key = key
    self.value = value
    self.time = time
    self.revision = revision
  }
}

/// The last upload of a replica that the server has carried out.
///
/// It's a key of its own, which each upload writes as well, so that a
/// replica recognizes an upload whose answer was lost, and carries none out twice.
package struct Acknowledgement: Hashable, Sendable {
  /// The number of the upload.
  package var upload: Int
  package var revision: Int64

  package init(upload: Int, revision: Int64) {
    self.upload = upload
    self.revision = revision
  }
}

/// One transaction that a watch has delivered, or everything that the server has.
package struct SharedBatch: Hashable, Sendable {
  package var items: [SharedItem]
  /// This replica's own, if it's part of the transaction, or if there's one in a complete batch.
  package var acknowledgement: Acknowledgement?
  /// Whether these are all keys that the server has, at one revision.
  package var isComplete: Bool
  /// That of the transaction, or the last one that a complete batch has seen.
  package var revision: Int64

  package init(items: [SharedItem], acknowledgement: Acknowledgement?, isComplete: Bool, revision: Int64) {
    self.items = items
    self.acknowledgement = acknowledgement
    self.isComplete = isComplete
    self.revision = revision
  }
}

/// A transaction for the server: it writes all items and the acknowledgement, or nothing.
package struct Upload: Hashable, Sendable {
  package struct Item: Hashable, Sendable {
    package var key: String
    package var value: StoredValue?
    package var time: HybridTime
    /// The revision that the key must still have; 0 if there must be none.
    package var expectedRevision: Int64
    /// The number of the write in its replica.
    package var sequence: Int

    package init(key: String, value: StoredValue?, time: HybridTime, expectedRevision: Int64, sequence: Int) {
      self.key = key
      self.value = value
      self.time = time
      self.expectedRevision = expectedRevision
      self.sequence = sequence
    }
  }

  /// Larger than that of each earlier upload of the replica.
  package var id: Int
  package var items: [Item]
  /// The revision that the acknowledgement must still have; 0 if there must be none.
  package var expectedAcknowledgement: Int64

  package init(id: Int, items: [Item], expectedAcknowledgement: Int64) {
    self.id = id
    self.items = items
    self.expectedAcknowledgement = expectedAcknowledgement
  }
}

/// The end of an upload.
package enum UploadOutcome: Hashable, Sendable {
  /// The server's number of the transaction.
  case applied(revision: Int64)
  /// Something that the upload expected isn't so any more: the server has changed nothing.
  case outdated
  /// All replicas' values together would have become too large; the server has changed nothing.
  case overQuota
  /// The server takes no request of that size, and has changed nothing.
  case tooLarge
  /// There's no answer, so the upload may have been carried out, or still be.
  case unknown
}

/// An event of a replica.
///
/// A journal of these, in order, leads to the state that the replica has.
package enum ReplicaInput: Hashable, Sendable {
  /// A program writes keys. With `isForced` the write also wins over values that a new replica hasn't seen yet.
  case write([KeyWrite], isForced: Bool)
  /// Values of another replica, from before a sign-in, come to this one: a key that has a value here keeps it.
  case moved([KeyWrite])
  /// The server's keys were read, or one of its transactions has arrived by the watch.
  case received(SharedBatch)
  /// The instant of ``ReplicaEffect/wake(at:)`` has come.
  ///
  /// The upload's number comes from the instant of the event.
  case uploadIsDue
  /// The same in journals of earlier versions, which counted uploads.
  case uploadWasDue
  case uploadEnded(Int, UploadOutcome)
  /// A program states how keys are merged and how often the replica may upload.
  case configured(ReplicaSettings)
  /// The whole state, in the place of all events before it.
  case restored(ReplicaState)
}

/// A task for the runner after an event.
package enum ReplicaEffect: Hashable, Sendable {
  /// Tell the program.
  case changed(StoreChange)
  /// Send a transaction to the server.
  case upload(Upload)
  /// Read all keys of the server, with the acknowledgement, at one revision.
  ///
  /// Nothing may be under way meanwhile: no upload that can still be answered, and no watch. The first task of a process is this, too.
  case read
  /// Report ``ReplicaInput/uploadIsDue`` then, in nanoseconds since 1970. It replaces earlier ones.
  case wake(at: Int64)
}

/// A change of several keys at once that the program itself didn't make.
public struct StoreChange: Hashable, Sendable {
  /// The origin of a change (KV-5).
  public enum Reason: Hashable, Sendable {
    /// Another device.
    case server
    /// The first values of a new device (CK-10).
    case initialSync
    /// The server takes no more; the keys are those that stay here (KV-5).
    case quotaViolation
    /// Another user's values have taken the place of those before (CK-11).
    case accountChange
    /// Another program of the same user, or another store of the same name in this one.
    case otherProcess
  }

  /// The change of one key.
  public struct Item: Hashable, Sendable {
    /// The key.
    public var key: String
    /// The value before; `nil` if there was none.
    public var old: StoredValue?
    /// The value now; `nil` if it was removed.
    public var new: StoredValue?

    package init(key: String, old: StoredValue?, new: StoredValue?) {
      self.key = key
      self.old = old
      self.new = new
    }
  }

  /// Where the change comes from.
  public var reason: Reason
  /// The keys, in their order.
  public var items: [Item]

  package init(reason: Reason, items: [Item]) {
    self.reason = reason
    self.items = items
  }
}
