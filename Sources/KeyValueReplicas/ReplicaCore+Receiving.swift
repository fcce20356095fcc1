extension ReplicaCore {
  mutating func receive(_ batch: SharedBatch, at now: Int64) -> [ReplicaEffect] {
    let items = batch.items.filter { clock.observe($0.time) }
    let isFirst = batch.isComplete && !hasRead
    acknowledge(batch.acknowledgement)
    var changes: [StoreChange.Item] = []
    for item in items.sorted(by: { $0.key < $1.key }) {
      let old = self[item.key]
      receive(item, at: now)
      if self[item.key] != old { changes.append(StoreChange.Item(key: item.key, old: old, new: self[item.key])) }
    }
    if batch.isComplete { changes += forgetAll(except: Set(batch.items.map(\.key)), at: batch.revision) }
    var effects: [ReplicaEffect] = []
    if batch.isComplete {
      hasRead = true
      for key in entries.keys { entries[key]?.pending?.isProvisional = false }
      effects += resumeAttempt()
    }
    if !changes.isEmpty {
      changes.sort { $0.key < $1.key }
      effects.append(.changed(StoreChange(reason: isFirst ? .initialSync : .server, items: changes)))
    }
    return effects + upcoming(at: now)
  }

  /// The attempt was carried out if the server has its number.
  private mutating func acknowledge(_ new: Acknowledgement?) {
    guard let new, new.revision > acknowledgement?.revision ?? 0 else { return }
    acknowledgement = new
    lastUpload = max(lastUpload, new.upload)
    if let attempt, attempt.id == new.upload { confirm(attempt) }
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

  private mutating func receive(_ item: SharedItem, at now: Int64) {
    let entry = entries[item.key] ?? Entry()
    if let shared = entry.shared, shared.revision >= item.revision { return }
    guard let pending = entry.pending, item.time.replica != replica else {
      update(item.key) { $0.shared = item }
      return
    }
    let isTheirs = pending.isProvisional && item.value != nil
    let result =
      isTheirs
      ? .theirs
      : policy(item.key)
        .merge(
          base: pending.base, mine: pending.value, theirs: item.value, isMineLater: pending.time > item.time)
    switch result {
    case .theirs:
      lose(item.key, pending.value, pending.time, to: item.time)
      update(item.key) { $0 = Entry(shared: item, pending: nil) }
    case .mine:
      lose(item.key, item.value, item.time, to: pending.time)
      update(item.key) {
        $0.shared = item
        $0.pending?.base = item.value
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

  /// Forgets keys that the server hasn't any more: their tombstones have been removed there.
  ///
  /// A key that was uploaded since the server was read isn't among those that were read.
  private mutating func forgetAll(except keys: Set<String>, at revision: Int64) -> [StoreChange.Item] {
    var changes: [StoreChange.Item] = []
    for (key, entry) in entries where !keys.contains(key) && entry.shared.map({ $0.revision <= revision }) ?? false {
      update(key) {
        $0.shared = nil
        $0.pending?.base = nil
      }
      if self[key] != entry.value { changes.append(StoreChange.Item(key: key, old: entry.value, new: self[key])) }
    }
    return changes
  }
}
