extension ReplicaCore {
  mutating func write(
    _ writes: [KeyWrite], isForced: Bool, at now: Int64
  ) throws(WriteRefusal) -> [ReplicaEffect] {
    try check(writes)
    if writes.isEmpty { return [] }
    sequence += 1
    let time = clock.next(at: now)
    // A key that was written before with others goes with them still: nobody sees one without the other.
    let joined = Set(writes.compactMap { entries[$0.key]?.pending?.group })
    if !joined.isEmpty {
      for (key, entry) in entries where entry.pending.map({ joined.contains($0.group) }) ?? false {
        entries[key]?.pending?.group = sequence
      }
    }
    var pending = Pending(
      time: time, sequence: sequence, group: sequence, isProvisional: !isForced && !hasRead)
    for write in writes {
      pending.value = write.value
      update(write.key) { entry in
        pending.base = entry.pending.map(\.base) ?? entry.shared?.value
        entry.pending = pending
      }
    }
    if hasHeld {
      // There may be room for the others now.
      for key in entries.keys { entries[key]?.pending?.isHeld = false }
      hasHeld = false
    }
    return upcoming(at: now)
  }

  /// Refuses writes that break a limit.
  ///
  /// The present values may break it already: other replicas may have written more.
  private func check(_ writes: [KeyWrite]) throws(WriteRefusal) {
    if writes.count > limits.keysOfTransactionMax {
      throw .tooManyKeysAtOnce(countMax: limits.keysOfTransactionMax)
    }
    var seen: Set<String> = []
    var (keyChange, byteChange) = (0, 0)
    for write in writes {
      if let refusal = limits.refusal(of: write.key) { throw refusal }
      if !seen.insert(write.key).inserted { throw .keyRepeated(write.key) }
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
}
