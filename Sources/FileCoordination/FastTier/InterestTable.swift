package import FileAccessArbiter

/// How many items of one fingerprint have which interest: five counts of 12 bits in one word.
///
/// Items that share a fingerprint are next to none, so a count stays small.
package struct InterestCounts: Hashable, Sendable {
  package let rawValue: UInt64

  @inline(__always)
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// One for each interest that is there.
  @inline(__always)
  package init(_ interest: ItemInterest) {
    var lanes: UInt64 = 0
    if interest.contains(.blocksReading) { lanes |= 1 }
    if interest.contains(.blocksWriting) { lanes |= 1 << 12 }
    if interest.contains(.blocksReadingBelow) { lanes |= 1 << 24 }
    if interest.contains(.blocksWritingBelow) { lanes |= 1 << 36 }
    if interest.contains(.isPresented) { lanes |= 1 << 48 }
    rawValue = lanes
  }

  @inline(__always)
  var blocksReading: Bool { rawValue & 0xfff != 0 }
  @inline(__always)
  var blocksWriting: Bool { rawValue & 0xff_f000 != 0 }

  @inline(__always)
  var isPresented: Bool { rawValue >> 48 != 0 }

  /// Whether any of the interests in `wanted` is there.
  @inline(__always)
  func meets(_ wanted: InterestCounts) -> Bool { rawValue & (wanted.rawValue &* 0xfff) != 0 }
}

/// The interests of items by fingerprint, in which every claimant searches for obstacles.
///
/// A hash table with open addressing that everybody may read at any time without a lock. A key with interest stays
/// where it is, and so do the keys on the way to it: one without interest is taken away only when nothing comes behind
/// it. The others vanish when the table is rebuilt elsewhere and the pointer to it is replaced. A claimant loads that
/// pointer after it has shown its claim, so that a rebuild is like any other change: before the look, or before the
/// raising that will find the claim. A replaced table is freed when all claims that were shown at that time have ended,
/// and so have all looks of waiting claims.
///
/// | words | written by | read by |
/// | --- | --- | --- |
/// | pointer, counts, version, the tables | the host's lock holder | all |
/// | ``usedShards`` | all, upwards | all |
package struct InterestTable<Memory: AtomicMemory>: Sendable {
  let memory: Memory
  /// Words that are read at each claim and seldom written: one cache line.
  let header: Memory.Address

  static var headerWordCount: Int { 16 }
  private var pointer: Memory.Address { header }
  /// How many shards have ever been used.
  var usedShards: Memory.Address { header &+ 8 }
  var readingBelowCount: Memory.Address { header &+ 16 }
  var writingBelowCount: Memory.Address { header &+ 24 }
  var versionWord: Memory.Address { header &+ 32 }

  /// Versions of different tables are different, as a path remembers one for all of them.
  private static func firstVersion(_ number: UInt64) -> UInt64 { number << 40 | 1 }

  init(memory: Memory, capacity: Int, number: UInt64 = 0) throws(Memory.Failure) {
    precondition(capacity > 0 && capacity & (capacity - 1) == 0, "the capacity is a power of two")
    self.memory = memory
    header = try memory.allocate(wordCount: Self.headerWordCount)
    let table = try Self.makeTable(memory, capacity)
    try memory.exchange(UInt64(table), at: header)
    try memory.exchange(Self.firstVersion(number), at: versionWord)
  }

  func deallocate() throws(Memory.Failure) {
    let table = try currentTable()
    try freeTable(table)
    try memory.free(header, wordCount: Self.headerWordCount)
  }

  // A table: the mask, a spare word, then pairs of key and counts.

  static func makeTable(_ memory: Memory, _ capacity: Int) throws(Memory.Failure) -> Memory.Address {
    let table = try memory.allocate(wordCount: 2 + 2 * capacity)
    try memory.storeRelaxed(UInt64(capacity - 1), at: table)
    return table
  }

  func freeTable(_ table: Memory.Address) throws(Memory.Failure) {
    let capacity = Int(try memory.loadRelaxed(table)) + 1
    try memory.free(table, wordCount: 2 + 2 * capacity)
  }

  @inline(__always)
  func currentTable() throws(Memory.Failure) -> Memory.Address { Int(try memory.load(pointer)) }

  func replaceTable(by table: Memory.Address) throws(Memory.Failure) {
    try memory.exchange(UInt64(table), at: pointer)
  }
}

// MARK: - Looking

extension InterestTable {
  /// The interest in items with this fingerprint.
  ///
  /// - Complexity: O(1): one cache line, seldom two.
  @inline(__always)
  func find(_ key: UInt64) throws(Memory.Failure) -> InterestCounts {
    try find(key, in: currentTable())
  }

  @inline(__always)
  func find(_ key: UInt64, in table: Memory.Address) throws(Memory.Failure) -> InterestCounts {
    let entry = try entry(of: key, in: table)
    if try memory.load(entry) != key { return InterestCounts(rawValue: 0) }
    return InterestCounts(rawValue: try memory.load(entry &+ 8))
  }

  /// Where the key is, or would be.
  @inline(__always)
  func entry(of key: UInt64, in table: Memory.Address) throws(Memory.Failure) -> Memory.Address {
    let mask = try memory.loadRelaxed(table)
    var index = key & mask
    while true {
      let entry = table &+ 16 &+ Int(truncatingIfNeeded: index) &* 16
      let found = try memory.load(entry)
      if found == key || found == 0 { return entry }
      index = (index &+ 1) & mask
    }
  }

  /// Whether any interest keeps others from reading below an item: if not, directories needn't be checked.
  @inline(__always)
  func anyBlocksReadingBelow() throws(Memory.Failure) -> Bool { try memory.load(readingBelowCount) != 0 }

  /// Changes each time when an interest is raised that keeps others from writing below its item, after it can be found.
  @inline(__always)
  func version() throws(Memory.Failure) -> UInt64 { try memory.load(versionWord) }

  @inline(__always)
  func anyBlocksWritingBelow() throws(Memory.Failure) -> Bool { try memory.load(writingBelowCount) != 0 }
}

// MARK: - Changing, under the host's lock

/// The bookkeeping of the table, for the holder of the host's lock.
package struct InterestLedger: Sendable {
  /// A table that may still be read.
  struct RetiredTable: Sendable {
    let table: Int
    /// Slots that showed a claim when it was replaced, and the use of each.
    var witnesses: [(slot: Int, use: UInt64)]
  }

  /// Keys in the table, with interest or without.
  var usedCount = 0
  /// Keys with interest.
  var liveCount = 0
  var capacity: Int
  let capacityMin: Int
  var retired: [RetiredTable] = []

  package init(layout: FastTierLayout) {
    capacity = layout.interestCapacityMin
    capacityMin = layout.interestCapacityMin
  }

  mutating func retire(_ table: Int, witnesses: [(slot: Int, use: UInt64)]) {
    retired.append(RetiredTable(table: table, witnesses: witnesses))
  }
}

extension InterestTable {
  /// Changes the counts of interests in items with a fingerprint.
  ///
  /// A raised interest is seen by every claim that is shown from now on.
  ///
  /// - Parameters:
  ///   - key: The fingerprint.
  ///   - old: Interest that goes.
  ///   - new: Interest that comes.
  ///   - ledger: The bookkeeping of the table.
  /// - Returns: A table that was replaced, if any.
  /// - Throws: The errors of the memory: none in a process.
  func change(
    _ key: UInt64, from old: ItemInterest, to new: ItemInterest, _ ledger: inout InterestLedger
  ) throws(Memory.Failure) -> Memory.Address? {
    var replaced: Memory.Address?
    var entry = try entry(of: key, in: currentTable())
    if try memory.load(entry) == 0 {
      if 2 * (ledger.usedCount + 1) > ledger.capacity {
        replaced = try rebuild(&ledger)
        entry = try self.entry(of: key, in: currentTable())
      }
      ledger.usedCount += 1
      // The key last: a reader that finds it finds its counts.
      try memory.exchange(key, at: entry)
    }
    let before = try memory.load(entry &+ 8)
    let after = before &+ InterestCounts(new).rawValue &- InterestCounts(old).rawValue
    try memory.exchange(after, at: entry &+ 8)
    if before == 0, after != 0 { ledger.liveCount += 1 }
    if before != 0, after == 0 {
      ledger.liveCount -= 1
      if try isLast(entry, ledger) { try removeKeys(upTo: entry, &ledger) }
    }
    if new.contains(.blocksWritingBelow) { try memory.add(1, at: versionWord) }
    try count(.blocksReadingBelow, from: old, to: new, at: readingBelowCount)
    try count(.blocksWritingBelow, from: old, to: new, at: writingBelowCount)
    if replaced == nil, ledger.retired.isEmpty, ledger.capacity > 8 * max(ledger.capacityMin, 2 * ledger.liveCount) {
      replaced = try rebuild(&ledger)
    }
    return replaced
  }

  private func count(
    _ interest: ItemInterest, from old: ItemInterest, to new: ItemInterest, at counter: Memory.Address
  ) throws(Memory.Failure) {
    switch (old.contains(interest), new.contains(interest)) {
    case (false, true): try memory.add(1, at: counter)
    case (true, false): try memory.add(~0, at: counter)
    case (false, false), (true, true): break
    }
  }

  /// Whether nothing comes behind an entry on any key's way.
  private func isLast(_ entry: Memory.Address, _ ledger: InterestLedger) throws(Memory.Failure) -> Bool {
    let first = try currentTable() + 16
    let next = ((entry - first) / 16 + 1) & (ledger.capacity - 1)
    return try memory.load(first + next * 16) == 0
  }

  /// Takes away a key without interest behind which nothing comes, and those before it.
  func removeKeys(upTo entry: Memory.Address, _ ledger: inout InterestLedger) throws(Memory.Failure) {
    let first = try currentTable() + 16
    let mask = ledger.capacity - 1
    var index = (entry - first) / 16
    while true {
      let entry = first + index * 16
      if try memory.load(entry) == 0 { return }
      if try memory.load(entry + 8) != 0 { return }
      try memory.exchange(0, at: entry)
      ledger.usedCount -= 1
      index = (index - 1) & mask
    }
  }

  /// Copies the live entries into a table of the right size.
  ///
  /// While a claim lasts that keeps former tables from being freed, each is twice as large as the one before, so that
  /// they are few.
  private func rebuild(_ ledger: inout InterestLedger) throws(Memory.Failure) -> Memory.Address {
    let old = try currentTable()
    var capacity = ledger.capacityMin
    while capacity < 4 * (ledger.liveCount + 1) { capacity *= 2 }
    if !ledger.retired.isEmpty { capacity = max(capacity, 2 * ledger.capacity) }
    let new = try Self.makeTable(memory, capacity)
    for index in 0..<ledger.capacity {
      let entry = old + 16 + index * 16
      let key = try memory.load(entry)
      let counts = try memory.load(entry + 8)
      if key == 0 || counts == 0 { continue }
      let copy = try self.entry(of: key, in: new)
      try memory.storeRelaxed(key, at: copy)
      try memory.storeRelaxed(counts, at: copy + 8)
    }
    try replaceTable(by: new)
    ledger.capacity = capacity
    ledger.usedCount = ledger.liveCount
    return old
  }
}
