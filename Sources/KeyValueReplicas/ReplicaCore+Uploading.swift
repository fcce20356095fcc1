extension ReplicaCore {
  /// How many bytes are uploaded together, unless they were written together: servers take about a megabyte and a half.
  static let uploadByteCountMax = 1 << 20

  /// Begins an upload of pending keys, if one is due.
  mutating func beginUpload(numbered number: Int, at now: Int64) -> [ReplicaEffect] {
    guard nextUpload(at: now) != nil else { return [] }
    guard budget.take(at: now) else { return upcoming(at: now) }
    lastUpload = number
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
    var byteCount = 0
    let sizeMax = uploadSizeMax ?? Self.uploadByteCountMax
    for group in ordered {
      let room = limits.keysOfTransactionMax - chosen.count
      if room == 0 { break }
      let size = Self.recordSize(group.items)
      if group.items.count <= room, chosen.isEmpty || byteCount + size <= sizeMax {
        chosen += group.items
        byteCount += size
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
      return hold(attempt, at: now)
    case .tooLarge:
      let groups = Set(attempt.items.compactMap { entries[$0.key]?.pending?.group })
      // One that can't be divided stays here, as one for which there's no room.
      if groups.count < 2 { return hold(attempt, at: now) }
      uploadSizeMax = max(1, Self.recordSize(attempt.items) / 2)
      self.attempt = nil
      return upcoming(at: now)
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

  /// Keeps the writes here that take the most room, of those that were written together; the others are tried again without them.
  private mutating func hold(_ attempt: Upload, at now: Int64) -> [ReplicaEffect] {
    self.attempt = nil
    var groups: [Int: [Upload.Item]] = [:]
    for item in attempt.items {
      guard let pending = entries[item.key]?.pending, pending.time == item.time else { continue }
      groups[pending.group, default: []].append(item)
    }
    let largest = groups.max { left, right in
      (Self.size(left.value), left.value.count, left.key) < (Self.size(right.value), right.value.count, right.key)
    }
    guard let keys = largest?.value.map(\.key).sorted() else { return upcoming(at: now) }
    hasHeld = true
    for key in keys { entries[key]?.pending?.isHeld = true }
    let items = keys.map { StoreChange.Item(key: $0, old: self[$0], new: self[$0]) }
    return [.changed(StoreChange(reason: .quotaViolation, items: items))] + upcoming(at: now)
  }

  /// The bytes that keys take in a request, which may be many more than those of their values' contents.
  private static func recordSize(_ items: [Upload.Item]) -> Int {
    items.reduce(0) { $0 + recordSize($1.key, $1.value) }
  }

  static func recordSize(_ key: String, _ value: StoredValue?) -> Int {
    var bytes: [UInt8] = []
    value?.write(to: &bytes)
    return key.utf8.count + bytes.count + recordOverhead
  }

  /// For the instant of a record, and the names and lengths around it.
  private static let recordOverhead = 64

  private static func size(_ items: [Upload.Item]) -> Int { items.reduce(0) { $0 + ($1.value?.byteCount ?? 0) } }

  /// There may be room now for writes that stayed here.
  mutating func releaseHeld() {
    if !hasHeld { return }
    for key in entries.keys { entries[key]?.pending?.isHeld = false }
    hasHeld = false
  }
}
