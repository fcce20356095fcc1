internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

/// Whether the recorded facts about a place still hold; shared by all items that were resolved through it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `word` | never changes | lies in raw memory, so that a fast path reads the bits without a reference count |
/// | `word.pointee` | itself: atomic | bits are set once; only `used` is cleared again |
///
/// `@unchecked Sendable` because the pointer leads to nothing but an atomic, which any thread may use.
@safe
final class ResolutionValidity: @unchecked Sendable {
  /// The place isn't watched any more: a cache must not answer from its records.
  static let unwatched: UInt32 = 1
  /// The place has changed: its recorded facts may be wrong.
  static let stale: UInt32 = 2
  /// The place was requested since the cache last searched for places to forget.
  static let used: UInt32 = 4

  let word: UnsafeMutablePointer<Atomic<UInt32>>
  private let registry: ValidityRegistry?

  /// Creates the validity of a place that is valid, and that is never going to be marked.
  init() {
    registry = nil
    unsafe word = Self.allocateWord()
  }

  /// Creates the validity of a place that moves in a domain concern.
  ///
  /// - Parameters:
  ///   - path: The canonical path of the place.
  ///   - spelled: How the path was spelled, with its links.
  ///   - registry: The registry that is notified of moves.
  ///   - moveCount: The number of moves when the examination of the place began; a move in between makes it stale.
  init(of path: ItemPath, spelled: ItemPath, in registry: ValidityRegistry, since moveCount: UInt64) {
    self.registry = registry
    unsafe word = Self.allocateWord()
    unsafe registry.insert(word, path, spelled, since: moveCount)
  }

  deinit {
    unsafe registry?.remove(word)
    unsafe word.deinitialize(count: 1)
    unsafe UnsafeMutableRawPointer(word).deallocate()
  }

  /// A cache line of its own: readers on all processors read it, and others' writes must not take it away from them.
  private static func allocateWord() -> UnsafeMutablePointer<Atomic<UInt32>> {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
    let word = unsafe memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
    unsafe word.initialize(to: Atomic(0))
    return unsafe word
  }

  var isStale: Bool { unsafe word.pointee.load(ordering: .acquiring) & Self.stale != 0 }

  /// Whether a cache may answer from its records.
  var isKept: Bool { unsafe word.pointee.load(ordering: .acquiring) & (Self.stale | Self.unwatched) == 0 }

  /// Sets bits, after which no reader takes the place for unchanged.
  func set(_ bits: UInt32) { unsafe word.pointee.bitwiseOr(bits, ordering: .acquiringAndReleasing) }

  /// Clears `used` and returns whether it was set.
  func takeUsed() -> Bool {
    unsafe word.pointee.bitwiseAnd(~Self.used, ordering: .relaxed).oldValue & Self.used != 0
  }
}

/// All places of a domain that are in use, so that a move can mark those it concerns.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | words come and go on any thread; a word is freed only after it was removed |
final class ValidityRegistry: Sendable {
  /// `@unchecked Sendable` because the pointer leads to nothing but an atomic.
  @safe
  private struct Entry: @unchecked Sendable {
    let word: UnsafeMutablePointer<Atomic<UInt32>>
    let path: ItemPath
    let spelled: ItemPath
  }

  private struct State {
    var entries: [UInt: Entry] = [:]
    var moveCount: UInt64 = 0
  }

  private let state = Guarded(State())

  /// How many moves there were.
  var moveCount: UInt64 { state.withLock { $0.moveCount } }

  /// How many places are registered.
  var count: Int { state.withLock { $0.entries.count } }

  fileprivate func insert(
    _ word: UnsafeMutablePointer<Atomic<UInt32>>, _ path: ItemPath, _ spelled: ItemPath, since moveCount: UInt64
  ) {
    let entry = unsafe Entry(word: word, path: path, spelled: spelled)
    let address = UInt(bitPattern: word)
    let isLate = state.withLock { state in
      state.entries[address] = entry
      return state.moveCount != moveCount
    }
    if isLate { unsafe word.pointee.bitwiseOr(ResolutionValidity.stale, ordering: .acquiringAndReleasing) }
  }

  fileprivate func remove(_ word: UnsafeMutablePointer<Atomic<UInt32>>) {
    let address = UInt(bitPattern: word)
    // Freed outside of the lock.
    _ = state.withLock { $0.entries.removeValue(forKey: address) }
  }

  /// Marks every place at or inside one of two paths.
  ///
  /// - Complexity: O(places that are in use).
  func noteMove(from old: ItemPath, to new: ItemPath) {
    state.withLock { state in
      state.moveCount += 1
      for entry in state.entries.values {
        let isConcerned = [old, new].contains {
          $0.isSameOrContains(entry.path) || $0.isSameOrContains(entry.spelled)
        }
        if isConcerned {
          unsafe entry.word.pointee.bitwiseOr(ResolutionValidity.stale, ordering: .acquiringAndReleasing)
        }
      }
    }
  }
}
