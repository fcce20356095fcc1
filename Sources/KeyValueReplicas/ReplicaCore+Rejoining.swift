// Everything that a server has, compared with what it had when this replica last heard of it. It may have been restored from a backup, or
// wiped, or be another one: then revisions that the replica knows mean something else. So what counts here are the instants of writes, which
// only grow for each key of a server.
//
// A full read has to be newer than each answer that the replica has taken: connections read everything before they upload, and begin anew when their
// upload is answered. A replica that reads while its upload is under way takes the server for one that was set back.

extension ReplicaCore {
  /// Makes what is known of the server agree with everything that it has, before that is received.
  ///
  /// If it has lost values, or has earlier ones, it gets them anew. All replicas do so, each with what it knows; of a key, the latest write
  /// stays. Nothing changes for programs.
  mutating func compare(with batch: SharedBatch, at now: Int64) {
    let found = KeyTable(batch.items.map { ($0.key, $0) })
    let isSetBack = isSetBack(batch, found)
    if let attempt, attempt.items.contains(where: { isOther(found[$0.key], than: entries[$0.key]?.shared) }) {
      giveUpAttempt(unless: batch.acknowledgement)
    }
    acknowledgement = nil
    for (key, _) in entries.sorted() {
      guard let shared = entries[key]?.shared else { continue }
      let item = found[key]
      if let item, item.time == shared.time {
        update(key) { $0.shared?.revision = item.revision }
      } else if let item, item.time > shared.time {
        if isSetBack, entries[key]?.pending == nil, let kept = kept(shared, beside: item) {
          // A larger number, or an element of a set, that the server has lost, and that the later write didn't know.
          restore(SharedItem(key: key, value: kept, time: clock.next(at: now), revision: 0), over: item)
        } else {
          // It's received, whatever its revision is.
          update(key) { $0.shared?.revision = 0 }
        }
      } else if item != nil || isSetBack {
        restore(shared, over: item)
      }
    }
  }

  /// Whether a server has an older state than it had before.
  ///
  /// A replica that has never uploaded can't tell a server that was wiped, and has gone further since, from one that has forgotten removed
  /// keys.
  private func isSetBack(_ batch: SharedBatch, _ found: KeyTable<SharedItem>) -> Bool {
    if batch.acknowledgement?.revision ?? 0 < acknowledgement?.revision ?? 0 { return true }
    return entries.contains { key, entry in
      guard let shared = entry.shared else { return false }
      guard let item = found[key] else { return shared.revision > batch.revision }
      return item.time < shared.time || item.time == shared.time && item.revision < shared.revision
    }
  }

  private func isOther(_ item: SharedItem?, than shared: SharedItem?) -> Bool {
    item?.time != shared?.time || item?.revision != shared?.revision
  }

  /// The attempt was made over other values than those that the server has; unless it's among what the server has.
  private mutating func giveUpAttempt(unless acknowledgement: Acknowledgement?) {
    if acknowledgement?.upload == attempt?.id { return }
    attempt = nil
    needsRead = false
  }

  /// The value that the policy of a key keeps of one that a server has lost; `nil` if the later write counts.
  private func kept(_ shared: SharedItem, beside item: SharedItem) -> StoredValue? {
    let policy = policy(item.key)
    guard policy.kind.isIdempotent else { return nil }
    return switch policy.merge(base: nil, mine: shared.value, theirs: item.value, isMineLater: false) {
    case .theirs: nil
    case .mine: shared.value
    case .merged(let value): value
    }
  }

  private mutating func restore(_ shared: SharedItem, over item: SharedItem?) {
    // Writes of the program come after it, and go on being based on it.
    if entries[shared.key]?.pending == nil { sequence += 1 }
    let pending = Pending(
      value: shared.value, time: shared.time, sequence: sequence, group: sequence, base: item?.value,
      isProvisional: false, isRestored: true)
    update(shared.key) { entry in
      entry.shared = item
      entry.pending = entry.pending ?? pending
    }
  }
}
