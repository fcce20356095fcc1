/// One change of a shared storage that keeps its history itself: the values of an upload that was carried out.
package struct SharedTransaction: Hashable, Sendable {
  /// The number of the change: one more than that of the change before.
  package var revision: Int64
  /// The replica that has made it.
  package var owner: ReplicaID
  /// The number of the upload.
  package var upload: Int
  /// The keys, each with the revision of the transaction.
  package var items: [SharedItem]

  /// The change as a watch of a replica reports it.
  package func batch(for replica: ReplicaID) -> SharedBatch {
    let acknowledgement = owner == replica ? Acknowledgement(upload: upload, revision: revision) : nil
    return SharedBatch(items: items, acknowledgement: acknowledgement, isComplete: false, revision: revision)
  }
}

/// Everything that a shared storage keeps at one revision, with the decision on an upload.
///
/// A value. Keys are compared byte by byte: Swift's strings are also equal if their letters are composed in another way.
package struct SharedState: Hashable, Sendable {
  /// The number of the last change; 0 before the first one.
  package internal(set) var revision: Int64 = 0
  /// Keys and removed keys, by their bytes.
  var items: [[UInt8]: SharedItem] = [:]
  var acknowledgements: [ReplicaID: Acknowledgement] = [:]
  /// How many keys have a value, and how many bytes these are.
  private(set) var (keyCount, byteCount) = (0, 0)

  /// A storage that nobody has uploaded to.
  package init() {}

  /// The state with these contents.
  init(revision: Int64, items: [SharedItem], acknowledgements: [ReplicaID: Acknowledgement]) {
    self.revision = revision
    self.acknowledgements = acknowledgements
    for item in items { put(item) }
  }

  /// The answer to an upload.
  package enum Decision: Hashable, Sendable {
    /// Something that the upload expects isn't so.
    case outdated
    /// All values together would be too many or too large.
    case overQuota
    /// The change that carries it out.
    case change(SharedTransaction)
  }

  /// Decides on an upload.
  ///
  /// Values that are too many already, because other replicas have larger limits, may become fewer.
  ///
  /// - Parameters:
  ///   - upload: The upload.
  ///   - replica: The replica that uploads.
  ///   - limits: How much all replicas together may keep.
  /// - Returns: The decision; nothing is changed yet.
  /// - Complexity: O(items of the upload).
  package func decision(on upload: Upload, of replica: ReplicaID, _ limits: StoreLimits) -> Decision {
    let isCurrent =
      upload.expectedAcknowledgement == acknowledgements[replica]?.revision ?? 0
      && upload.items.allSatisfy { $0.expectedRevision == items[Array($0.key.utf8)]?.revision ?? 0 }
    if !isCurrent { return .outdated }
    let change = SharedTransaction(
      revision: revision + 1, owner: replica, upload: upload.id,
      items: upload.items.map {
        SharedItem(key: $0.key, value: $0.value, time: $0.time, revision: revision + 1)
      })
    var (keyChange, byteChange) = (0, 0)
    for item in change.items {
      let old = items[Array(item.key.utf8)]?.value
      keyChange += (item.value == nil ? 0 : 1) - (old == nil ? 0 : 1)
      byteChange += (item.value?.byteCount ?? 0) - (old?.byteCount ?? 0)
    }
    let isOver =
      keyChange > 0 && keyCount + keyChange > limits.keyCountMax
      || byteChange > 0 && byteCount + byteChange > limits.byteCountMax
    return isOver ? .overQuota : .change(change)
  }

  /// Takes the change after the last one.
  package mutating func apply(_ change: SharedTransaction) {
    precondition(change.revision == revision + 1, "change \(change.revision) at revision \(revision)")
    revision = change.revision
    for item in change.items { put(item) }
    acknowledgements[change.owner] = Acknowledgement(upload: change.upload, revision: change.revision)
  }

  /// The last upload of a replica that was carried out.
  package func acknowledgement(of replica: ReplicaID) -> Acknowledgement? { acknowledgements[replica] }

  /// All keys and removed keys, in the order of their bytes.
  package func everything(for replica: ReplicaID) -> SharedBatch {
    SharedBatch(
      items: orderedItems, acknowledgement: acknowledgements[replica], isComplete: true, revision: revision)
  }

  var orderedItems: [SharedItem] {
    items.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }

  /// Forgets the oldest removed keys, so that a storage doesn't grow for ever.
  ///
  /// - Parameter countMax: How many are kept.
  /// - Complexity: O(*n* log *n*) in the number of removed keys.
  package mutating func forgetRemovals(keeping countMax: Int) {
    let removed = items.filter { $0.value.value == nil }
    if removed.count <= countMax { return }
    let oldest = removed.sorted { $0.value.revision < $1.value.revision }
    for (key, _) in oldest.prefix(removed.count - countMax) { items[key] = nil }
  }

  private mutating func put(_ item: SharedItem) {
    let key = Array(item.key.utf8)
    let old = items.updateValue(item, forKey: key)?.value
    keyCount += (item.value == nil ? 0 : 1) - (old == nil ? 0 : 1)
    byteCount += (item.value?.byteCount ?? 0) - (old?.byteCount ?? 0)
  }
}
