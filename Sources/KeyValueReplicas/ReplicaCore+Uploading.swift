extension ReplicaCore {
  /// Begins an upload of pending keys, if one is due.
  mutating func beginUpload(at now: Int64) -> [ReplicaEffect] {
    guard nextUpload(at: now) != nil else { return [] }
    guard budget.take(at: now) else { return upcoming(at: now) }
    lastUpload += 1
    let upload = Upload(
      id: lastUpload, items: chosenItems(), expectedAcknowledgement: acknowledgement?.revision ?? 0)
    attempt = upload
    return [.upload(upload)]
  }

  /// Whole groups, those with the oldest writes first, as many as go into one transaction; of a group that's larger, a part.
  private func chosenItems() -> [Upload.Item] {
    var groups: [Int: [Upload.Item]] = [:]
    for (key, entry) in entries {
      guard let pending = entry.pending, !pending.isHeld else { continue }
      groups[pending.group, default: []].append(
        Upload.Item(
          key: key, value: pending.value, time: pending.time, expectedRevision: entry.shared?.revision ?? 0,
          sequence: pending.sequence))
    }
    let ordered = groups.map {
      (group: $0.key, items: $0.value.sorted { ($0.sequence, $0.key) < ($1.sequence, $1.key) })
    }
    .sorted { ($0.items[0].sequence, $0.group) < ($1.items[0].sequence, $1.group) }
    var chosen: [Upload.Item] = []
    for group in ordered {
      let room = limits.keysOfTransactionMax - chosen.count
      if group.items.count <= room {
        chosen += group.items
      } else if chosen.isEmpty {
        chosen += group.items.prefix(room)
      }
    }
    return chosen
  }

  mutating func endUpload(_ id: Int, _ outcome: UploadOutcome, at now: Int64) -> [ReplicaEffect] {
    guard let attempt, attempt.id == id else { return [] }
    switch outcome {
    case .applied(let revision):
      confirm(attempt)
      acknowledgement = Acknowledgement(upload: id, revision: revision)
      for item in attempt.items where revision > entries[item.key]?.shared?.revision ?? 0 {
        update(item.key) {
          $0.shared = SharedItem(key: item.key, value: item.value, time: item.time, revision: revision)
        }
      }
      return upcoming(at: now)
    case .outdated, .unknown:
      // An upload that was sent before may have come first. It made the one that's answered outdated.
      needsRead = true
      return [.read]
    case .overQuota:
      return hold(attempt)
    }
  }

  /// The attempt was carried out: its writes aren't pending any more, and later ones were made over them.
  mutating func confirm(_ attempt: Upload) {
    for item in attempt.items {
      update(item.key) { entry in
        guard let pending = entry.pending else { return }
        // Until the server's own item arrives, the value is the one that was uploaded.
        if pending.time == item.time {
          entry.pending = nil
          if item.expectedRevision >= entry.shared?.revision ?? 0 {
            entry.shared = SharedItem(
              key: item.key, value: item.value, time: item.time, revision: item.expectedRevision)
          }
        } else {
          entry.pending?.base = item.value
        }
      }
    }
    self.attempt = nil
    needsRead = false
  }

  private mutating func hold(_ attempt: Upload) -> [ReplicaEffect] {
    self.attempt = nil
    let items = attempt.items.filter { entries[$0.key]?.pending?.time == $0.time }
    hasHeld = true
    for item in items { entries[item.key]?.pending?.isHeld = true }
    let keys = items.map(\.key).sorted()
    let change = StoreChange(
      reason: .quotaViolation, items: keys.map { StoreChange.Item(key: $0, old: self[$0], new: self[$0]) })
    return keys.isEmpty ? [] : [.changed(change)]
  }
}
