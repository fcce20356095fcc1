extension ReplicaCore {
  mutating func write(_ writes: [KeyWrite], isForced: Bool, at now: Int64) -> [ReplicaEffect] {
    if writes.isEmpty { return [] }
    sequence += 1
    let time = clock.next(at: now)
    // A key that was written before with others goes with them still: nobody sees one without the other.
    let joined =
      sharedGroups.isEmpty ? [] : sharedGroups.intersection(writes.compactMap { entries[$0.key]?.pending?.group })
    if !joined.isEmpty {
      for (key, entry) in entries where entry.pending.map({ joined.contains($0.group) }) ?? false {
        entries[key]?.pending?.group = sequence
      }
      sharedGroups.subtract(joined)
    }
    if writes.count > 1 || !joined.isEmpty {
      // Those that are confirmed by now.
      if sharedGroups.count > entries.count { findSharedGroups() }
      sharedGroups.insert(sequence)
    }
    var pending = Pending(time: time, sequence: sequence, group: sequence, isProvisional: false)
    let isEarly = !isForced && !hasRead
    for write in writes {
      pending.value = write.value
      update(write.key) { entry in
        // The program has known that its value wins.
        pending.isProvisional = isEarly && entry.pending?.isProvisional ?? true
        pending.base = entry.pending.map { $0.isRestored ? $0.value : $0.base } ?? entry.shared?.value
        entry.pending = pending
      }
    }
    releaseHeld()
    return upcoming(at: now)
  }

  /// Takes values from before a sign-in.
  ///
  /// Those of keys that have another value here are given up for it.
  mutating func move(_ writes: [KeyWrite], at now: Int64) -> [ReplicaEffect] {
    for write in writes {
      guard let entry = entries[write.key], let value = entry.value, value != write.value else { continue }
      let winner = entry.pending?.time ?? entry.shared?.time
      lose(write.key, write.value, clock.next(at: now), to: winner ?? clock.next(at: now))
    }
    return self.write(writes.filter { self[$0.key] == nil }, isForced: false, at: now)
  }

  /// Cuts writes into parts that can each be uploaded in one transaction.
  package func parts(of writes: [KeyWrite]) -> [[KeyWrite]] {
    var parts: [[KeyWrite]] = []
    var byteCount = 0
    for write in writes {
      let size = Self.recordSize(write.key, write.value)
      if let last = parts.last, last.count < limits.keysOfTransactionMax, byteCount + size <= Self.uploadByteCountMax {
        parts[parts.count - 1].append(write)
        byteCount += size
      } else {
        parts.append([write])
        byteCount = size
      }
    }
    return parts
  }

  /// Refuses writes that break a limit.
  ///
  /// The present values may break it already: other replicas may have written more.
  package func check(_ writes: [KeyWrite]) throws(WriteRefusal) {
    if writes.count > limits.keysOfTransactionMax {
      throw .tooManyKeysAtOnce(countMax: limits.keysOfTransactionMax)
    }
    var seen = KeyTable<Bool>()
    var (keyChange, byteChange) = (0, 0)
    for write in writes {
      if let refusal = limits.refusal(of: write.key) { throw refusal }
      if seen.contains(write.key) { throw .keyRepeated(write.key) }
      seen[write.key] = true
      if let value = write.value, !value.isNested(atMost: limits.depthMax) {
        throw .nestedTooDeep(write.key, depthMax: limits.depthMax)
      }
      let old = self[write.key]
      keyChange += (write.value == nil ? 0 : 1) - (old == nil ? 0 : 1)
      byteChange += (write.value?.byteCount ?? 0) - (old?.byteCount ?? 0)
    }
    if keyChange > 0, keyCount + keyChange > limits.keyCountMax {
      throw .tooManyKeys(countMax: limits.keyCountMax)
    }
    if byteChange > 0, byteCount + byteChange > limits.byteCountMax {
      throw .tooManyBytes(byteCountMax: limits.byteCountMax)
    }
  }

  mutating func findSharedGroups() {
    let groups = entries.values.compactMap(\.pending?.group)
    sharedGroups = Set(Dictionary(groups.map { ($0, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }.keys)
  }
}
