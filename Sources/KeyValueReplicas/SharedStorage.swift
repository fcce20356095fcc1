/// The place through which the replicas of one store reach each other: a folder, or a server.
///
/// It keeps the last value of each key with the number of its change, and one acknowledgement for each replica. Changes are transactions with
/// strictly growing revisions: all replicas see them in the same order.
///
/// Functions may be called from any task, also at once, and end when their task is cancelled.
///
/// - Note: CE-07 to CE-10 hold for each implementation.
package protocol SharedStorage: Sendable {
  /// The transactions after a revision. The sequence throws only ``SharedStorageFailure``.
  associatedtype Batches: AsyncSequence<SharedBatch, any Error> & Sendable

  /// Reads all keys and removed keys, and this replica's acknowledgement, at one revision.
  func readAll() async throws(SharedStorageFailure) -> SharedBatch

  /// Carries out a transaction if everything that it expects is so, and the values of all replicas together stay within the limits.
  ///
  /// The storage changes either nothing, or all items and the acknowledgement of the replica, which becomes the upload's number.
  ///
  /// - Returns: ``UploadOutcome/unknown`` if the answer was lost: the upload may have been carried out, or still be.
  /// - Throws: A failure. It's certain that nothing was changed, except after `full`, which a server may say about an upload that it has
  ///   carried out: the place is read before the upload is sent again.
  func upload(_ upload: Upload) async throws(SharedStorageFailure) -> UploadOutcome

  /// The transactions of all replicas after a revision, in order, each once.
  ///
  /// It goes on until its task is cancelled. If a transaction can't be had any more it throws ``SharedStorageFailure/Kind/gap``; a
  /// reader then begins with ``readAll()`` again. This replica's own uploads are among them.
  func batches(after revision: Int64) -> Batches
}

/// The reason why a shared storage didn't do what it was asked.
package struct SharedStorageFailure: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Transactions after that revision aren't kept any more.
    case gap
    /// Nobody answers, or the folder isn't there: trying again later may work.
    case unreachable
    /// The user, the password or the rights don't suffice: trying again works only after somebody has changed that.
    case denied
    /// The contents aren't a store, or are damaged.
    case damaged
    /// A newer version of this package has written it.
    case newerFormat
    /// The disk or the server has no room.
    case full
  }

  package var kind: Kind
  /// A sentence that says what was tried, what happened and what to do.
  package var explanation: String

  package init(_ kind: Kind, _ explanation: String) {
    self.kind = kind
    self.explanation = explanation
  }
}
