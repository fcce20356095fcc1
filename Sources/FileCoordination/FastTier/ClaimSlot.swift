/// The meaning of a slot's state word.
///
///     free ──▶ published ──▶ free                       a read, or a write that is confirmed
///     free ──▶ tentative ──▶ published | free           a write while it searches for readers
///     free ──▶ looking ──▶ free                         a waiting thread that checks whether an attempt is worth it
///
/// | state | means | ends by |
/// | --- | --- | --- |
/// | free | no claim | the shard's thread fills the slot and publishes it |
/// | tentative | a writer that checks whether it may write | it confirms its claim or retreats |
/// | challenged | a tentative writer, or a reader that searches for obstacles, which must retreat | it retreats |
/// | looking | no claim: the shard's thread reads the table of interests, which isn't freed meanwhile | that thread frees it |
/// | published | a claim; a read may still be about to retreat | its holder frees it, or a thread freezes it |
/// | frozen | a thread that holds the host's lock examines the claim | that thread unfreezes or adopts it |
/// | adopted | the arbiter has the claim | its holder ends it through the host |
///
/// The upper bits count the uses of the slot, so that a state word never comes back.
package struct SlotState: Hashable, Sendable {
  package var rawValue: UInt64

  package static let isPublished: UInt64 = 1
  package static let isWrite: UInt64 = 2
  package static let isTentative: UInt64 = 4
  package static let isChallenged: UInt64 = 8
  package static let isFrozen: UInt64 = 16
  package static let isAdopted: UInt64 = 32
  package static let isLooking: UInt64 = 64
  /// Of a write: its end keeps readers out until one of them regains the bias, see ``StrongCounter``.
  package static let givesBias: UInt64 = 128
  package static let flags: UInt64 = 0xff
  static let oneUse: UInt64 = 0x100

  @inline(__always)
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }

  @inline(__always)
  package var isFree: Bool { rawValue & Self.flags == 0 }
  @inline(__always)
  package func has(_ flag: UInt64) -> Bool { rawValue & flag != 0 }
  @inline(__always)
  package func with(_ flag: UInt64) -> SlotState { SlotState(rawValue | flag) }
  @inline(__always)
  package func without(_ flag: UInt64) -> SlotState { SlotState(rawValue & ~flag) }
  /// Free, one use later.
  @inline(__always)
  package var freed: SlotState { SlotState((rawValue & ~Self.flags) &+ Self.oneUse) }
  package var use: UInt64 { rawValue & ~Self.flags }
}

/// A slot that holds a claim, and its state when the claim was granted.
///
/// Good for ending the claim, once, on any thread.
package struct ClaimToken: Hashable, Sendable {
  /// The address of the state word.
  package let slot: Int
  package let state: SlotState

  @inline(__always)
  package init(slot: Int, state: SlotState) {
    self.slot = slot
    self.state = state
  }
}

/// The data in a slot about its claim, beyond the fingerprint: words whose meaning belongs to the holder.
///
/// They stay as they are while the slot isn't free, and may be read while it's frozen or adopted, or by its holder.
package struct ClaimNote: Hashable, Sendable {
  /// The item, see ``ResolvedItem``.
  package var item: UInt
  /// The coordinator that claims.
  package var holder: UInt
  /// The surroundings in which the claim is nested, see ``Nesting``.
  package var outer: UInt
  /// The task that claims; zero outside of tasks.
  package var task: UInt
  /// The kind of access, see ``PlainAccess``.
  package var access: UInt

  // In bytes from the state word.
  static let keyOffset = 8
  static let itemOffset = 16
  static let holderOffset = 24
  static let outerOffset = 32
  static let taskOffset = 40
  static let accessOffset = 48
  static let spareOffset = 56

  @inline(__always)
  package init(item: UInt, holder: UInt, outer: UInt, task: UInt, access: UInt) {
    self.item = item
    self.holder = holder
    self.outer = outer
    self.task = task
    self.access = access
  }

  /// Reads the note of a slot; for its holder, for code that is nested in it, and for the thread that froze or adopted
  /// it.
  package init<Memory: AtomicMemory>(at slot: Memory.Address, in memory: Memory) throws(Memory.Failure) {
    item = UInt(try memory.loadRelaxed(slot &+ Self.itemOffset))
    holder = UInt(try memory.loadRelaxed(slot &+ Self.holderOffset))
    outer = UInt(try memory.loadRelaxed(slot &+ Self.outerOffset))
    task = UInt(try memory.loadRelaxed(slot &+ Self.taskOffset))
    access = UInt(try memory.loadRelaxed(slot &+ Self.accessOffset))
  }
}

/// The fingerprints of a path: `/` first, then each directory on the way, the item itself last.
///
/// Doesn't own the memory, which another object keeps while the claim is made.
///
/// `@unchecked Sendable` for the pointer: the fingerprints never change.
@safe
package struct ClaimPath: @unchecked Sendable {
  package let fingerprints: UnsafePointer<UInt64>
  package let count: Int
  /// A word of the tier's memory that is the path's own, where a tier notes when it last found no obstacle above the item that
  /// keeps others from writing below it; zero for none.
  package let memo: Int

  /// - Parameters:
  ///   - fingerprints: Memory that stays as it is while the claim is made.
  ///   - count: How many there are.
  ///   - memo: The address of a word, zero at first, for the tier's use; zero for none.
  @inline(__always)
  package init(_ fingerprints: UnsafePointer<UInt64>, count: Int, memo: Int = 0) {
    unsafe self.fingerprints = fingerprints
    self.count = count
    self.memo = memo
  }

  @inline(__always)
  var item: UInt64 { unsafe fingerprints[count &- 1] }
}
