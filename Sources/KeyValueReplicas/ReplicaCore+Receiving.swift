extension ReplicaCore {
  mutating func receive(_ batch: SharedBatch, at now: Int64) -> [ReplicaEffect] {
    var batch = batch
    if isOfCopy(batch.acknowledgement) {
      becomeAnother(at: now)
      batch.acknowledgement = nil
    }
    let items = batch.items.filter { clock.observe($0.time) }
    let isFirst = batch.isComplete && !hasRead
    var former = KeyTable<StoredValue?>()
    for key in batch.isComplete ? entries.keys : [] { former[key] = .some(self[key]) }
    for item in items { former[item.key] = .some(self[item.key]) }
    if batch.isComplete {
      var readable = batch
      readable.items = items
      compare(with: readable, at: now)
    }
    let makesRoom = items.contains { item in
      guard let old = entries[item.key]?.shared?.value else { return false }
      return item.value.map { $0.byteCount < old.byteCount } ?? true
    }
    let uploaded = acknowledge(batch.acknowledgement)
    for item in items { receive(item, isOwn: uploaded[item.key] == item.time, at: now) }
    if batch.isComplete { forgetAll(besides: batch) }
    if makesRoom { releaseHeld() }
    let changes = former.sorted().compactMap { key, old in
      self[key] == old ? nil : StoreChange.Item(key: key, old: old, new: self[key])
    }
    var effects: [ReplicaEffect] = []
    if batch.isComplete {
      hasRead = true
      for key in entries.keys { entries[key]?.pending?.isProvisional = false }
      effects += resumeAttempt()
    }
    if !changes.isEmpty {
      effects.append(.changed(StoreChange(reason: isFirst ? .initialSync : .server, items: changes)))
    }
    return effects + upcoming(at: now)
  }

  /// The attempt was carried out if the server has its number.
  ///
  /// - Returns: The instants of the writes of which that's known now.
  private mutating func acknowledge(_ new: Acknowledgement?) -> KeyTable<HybridTime> {
    guard let new, new.revision > acknowledgement?.revision ?? 0 else { return KeyTable() }
    acknowledgement = new
    guard let attempt, attempt.id == new.upload else { return KeyTable() }
    confirm(attempt)
    return KeyTable(attempt.items.map { ($0.key, $0.time) })
  }

  /// An attempt without an answer, of which the server knows nothing, is made again if it can still be carried out; if it can't, it will
  /// never be.
  private mutating func resumeAttempt() -> [ReplicaEffect] {
    guard needsRead, let attempt else { return [] }
    needsRead = false
    let isPossible =
      attempt.expectedAcknowledgement == acknowledgement?.revision ?? 0
      && attempt.items.allSatisfy { $0.expectedRevision == entries[$0.key]?.shared?.revision ?? 0 }
    if isPossible { return [.upload(attempt)] }
    self.attempt = nil
    return []
  }

  /// Takes what the server has of a key; `isOwn` if an upload of this replica has brought it there.
  private mutating func receive(_ item: SharedItem, isOwn: Bool, at now: Int64) {
    let entry = entries[item.key] ?? Entry()
    if let shared = entry.shared, shared.revision >= item.revision { return }
    if let pending = entry.pending, pending.time == item.time, pending.value == item.value {
      // Another replica has given it back to a server that had lost it.
      update(item.key) { $0 = Entry(shared: item, pending: nil) }
      return
    }
    guard let pending = entry.pending, !isOwn else {
      // A later write of this replica was made over it.
      update(item.key) {
        $0.shared = item
        $0.pending?.base = item.value
      }
      return
    }
    switch merge(pending, item) {
    case .theirs:
      lose(item.key, pending.value, pending.time, to: item.time)
      update(item.key) { $0 = Entry(shared: item, pending: nil) }
    case .mine:
      lose(item.key, item.value, item.time, to: pending.time)
      // The instants of a key only grow.
      let time = pending.time > item.time ? pending.time : clock.next(at: now)
      update(item.key) {
        $0.shared = item
        $0.pending?.base = item.value
        $0.pending?.time = time
      }
    case .merged(let value):
      // Later than both, so that no third replica takes one of them for the newer one.
      let time = clock.next(at: now)
      update(item.key) {
        $0.shared = item
        $0.pending?.base = item.value
        $0.pending?.value = value
        $0.pending?.time = time
      }
    }
  }

  private func merge(_ pending: Pending, _ item: SharedItem) -> MergePolicy.Result {
    let policy = policy(item.key)
    // Other policies take nothing away from a value that was there before.
    if pending.isProvisional && item.value != nil && policy.kind == .lastWriter { return .theirs }
    // One of them may be made of the other, and what both have in common would count twice.
    if pending.isRestored && !policy.kind.isIdempotent { return pending.time > item.time ? .mine : .theirs }
    return policy.merge(
      base: pending.base, mine: pending.value, theirs: item.value, isMineLater: pending.time > item.time)
  }

  /// Forgets keys that the server hasn't any more: their tombstones have been removed there.
  ///
  /// A key that was uploaded since the server was read isn't among those that were read.
  private mutating func forgetAll(besides batch: SharedBatch) {
    let kept = KeyTable(batch.items.map { ($0.key, true) })
    for (key, entry) in entries
    where !kept.contains(key) && entry.shared.map({ $0.revision <= batch.revision }) ?? false {
      update(key) {
        $0.shared = nil
        $0.pending?.base = nil
      }
    }
  }
}
