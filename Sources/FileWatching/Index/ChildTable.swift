/// Where a directory has which name: a hash table of file numbers, with open addressing.
///
/// Keeps no keys, only 32 bits of their hashes: keys are in the ``FileTable`` that's passed to each call. The place of a hash is
/// proportional to it, so that a larger table is filled from a smaller one in the order of both.
struct ChildTable: Sendable {
  private struct Slot {
    var number = FileNumber.none
    var hash: UInt32 = 0
  }

  private var slots = [Slot](repeating: Slot(), count: 16)
  private(set) var count = 0

  var byteCount: Int { slots.count * MemoryLayout<Slot>.stride }

  private func home(_ hash: UInt32) -> Int { Int((UInt64(hash) &* UInt64(slots.count)) >> 32) }

  private func next(_ place: Int) -> Int { place + 1 == slots.count ? 0 : place + 1 }

  private static func hash(of number: FileNumber, _ table: FileTable) -> UInt32 {
    table.names.withName(at: table[number].name) { NameHash($0) }.combined(with: table[number].parent)
  }

  /// The file of a name in a directory.
  func child(_ name: Span<UInt8>, _ hash: NameHash, of parent: FileNumber, _ table: FileTable) -> FileNumber? {
    let hash = hash.combined(with: parent)
    var place = home(hash)
    while slots[place].number != .none {
      let slot = slots[place]
      if slot.hash == hash, table[slot.number].parent == parent, table.names.isName(name, at: table[slot.number].name) {
        return slot.number
      }
      place = next(place)
    }
    return nil
  }

  /// Adds a file that isn't in the table.
  mutating func insert(_ number: FileNumber, _ hash: NameHash, in parent: FileNumber) {
    if (count + 1) * 5 > slots.count * 4 { grow() }
    place(Slot(number: number, hash: hash.combined(with: parent)))
    count += 1
  }

  private mutating func place(_ slot: Slot) {
    var place = home(slot.hash)
    while slots[place].number != .none { place = next(place) }
    slots[place] = slot
  }

  private mutating func grow() {
    let old = slots
    slots = [Slot](repeating: Slot(), count: old.count + old.count / 2)
    for slot in old where slot.number != .none { place(slot) }
  }

  /// Removes a file whose parent and name are still in the table.
  mutating func remove(_ number: FileNumber, _ table: FileTable) {
    var hole = home(Self.hash(of: number, table))
    while slots[hole].number != number {
      precondition(slots[hole].number != .none, "a file that isn't in the table of names")
      hole = next(hole)
    }
    // Closes the gap, so that no search ends too early.
    var place = next(hole)
    while slots[place].number != .none {
      if distance(from: home(slots[place].hash), to: place) >= distance(from: hole, to: place) {
        slots[hole] = slots[place]
        hole = place
      }
      place = next(place)
    }
    slots[hole] = Slot()
    count -= 1
  }

  private func distance(from start: Int, to end: Int) -> Int { end >= start ? end - start : end - start + slots.count }
}
