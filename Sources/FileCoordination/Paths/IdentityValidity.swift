internal import Synchronization

/// Whether what was found out about a place still holds; shared by all items that were resolved through it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `word` | never changes | lies in raw memory, so that a fast path reads the bits without a reference count |
/// | `word.pointee` | itself: atomic | bits are set once; only `used` is cleared again |
///
/// `@unchecked Sendable` because the pointer leads to nothing but an atomic, which any thread may use.
@safe
final class IdentityValidity: @unchecked Sendable {
  /// Nobody watches the place any more: a cache must not answer from what it remembers.
  static let unwatched: UInt32 = 1
  /// Something happened to the place: what was found out may be wrong.
  static let stale: UInt32 = 2
  /// Somebody asked since the cache last looked for something to forget.
  static let used: UInt32 = 4

  let word: UnsafeMutablePointer<Atomic<UInt32>>

  init() {
    // A cache line of its own: readers on all processors look at it, and others' writes must not take it away from them.
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
    unsafe word = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
    unsafe word.initialize(to: Atomic(0))
  }

  deinit {
    unsafe word.deinitialize(count: 1)
    unsafe UnsafeMutableRawPointer(word).deallocate()
  }

  var isStale: Bool { unsafe word.pointee.load(ordering: .acquiring) & Self.stale != 0 }

  /// Whether a cache may answer from what it remembers.
  var isKept: Bool { unsafe word.pointee.load(ordering: .acquiring) & (Self.stale | Self.unwatched) == 0 }

  /// Sets bits, after which nobody takes the place for unchanged.
  func set(_ bits: UInt32) { unsafe word.pointee.bitwiseOr(bits, ordering: .acquiringAndReleasing) }

  /// Clears `used` and says whether it was set.
  func takeUsed() -> Bool {
    unsafe word.pointee.bitwiseAnd(~Self.used, ordering: .relaxed).oldValue & Self.used != 0
  }
}
