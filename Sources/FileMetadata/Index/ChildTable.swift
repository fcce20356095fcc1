/// Where a directory has which name: a hash table of file numbers, with open addressing.
///
/// Keeps no keys: they are in the ``FileTable`` that's passed to each call.
struct ChildTable: Sendable {
  private var slots = [FileNumber](repeating: .none, count: 16)
  private(set) var count = 0

  var byteCount: Int { slots.count * MemoryLayout<FileNumber>.stride }

  private static func home(_ parent: FileNumber, _ name: some Collection<UInt8>) -> Int {
    name.quickHash(seed: parent.rawValue)
  }

  private func home(of number: FileNumber, _ table: FileTable) -> Int {
    Self.home(table[number].parent, table.names[table[number].name])
  }

  private func slot(_ hash: Int) -> Int { hash & (slots.count - 1) }

  /// The file of a name in a directory.
  func child(_ name: [UInt8], of parent: FileNumber, _ table: FileTable) -> FileNumber? {
    var place = slot(Self.home(parent, name))
    while slots[place] != .none {
      let row = table[slots[place]]
      if row.parent == parent, table.names[row.name].elementsEqual(name) { return slots[place] }
      place = slot(place + 1)
    }
    return nil
  }

  /// Adds a file whose parent and name are in the table.
  mutating func insert(_ number: FileNumber, _ table: FileTable) {
    if (count + 1) * 4 > slots.count * 3 { grow(table) }
    place(number, table)
    count += 1
  }

  private mutating func place(_ number: FileNumber, _ table: FileTable) {
    var place = slot(home(of: number, table))
    while slots[place] != .none { place = slot(place + 1) }
    slots[place] = number
  }

  private mutating func grow(_ table: FileTable) {
    let old = slots
    slots = [FileNumber](repeating: .none, count: old.count * 2)
    for number in old where number != .none { place(number, table) }
  }

  /// Takes out a file whose parent and name are still in the table.
  mutating func remove(_ number: FileNumber, _ table: FileTable) {
    var hole = slot(home(of: number, table))
    while slots[hole] != number {
      precondition(slots[hole] != .none, "a file that isn't in the table of names")
      hole = slot(hole + 1)
    }
    // Closes the gap, so that no search ends too early.
    var next = slot(hole + 1)
    while slots[next] != .none {
      let distance = slot(next - slot(home(of: slots[next], table)))
      if distance >= slot(next - hole) {
        slots[hole] = slots[next]
        hole = next
      }
      next = slot(next + 1)
    }
    slots[hole] = .none
    count -= 1
  }
}
