internal import CSystemShims
public import Synchronization

/// A small lock for short critical sections.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `word` | itself: 0 free, 1 held, 2 held and a thread may sleep | the unlocking thread makes a system call only in state 2 |
///
/// An uncontended pair of ``lock()`` and ``unlock()`` is two atomic instructions. A thread that finds the lock held
/// polls for about a microsecond if there is more than one processor, then sleeps in futex(2).
///
/// The lock isn't fair, and not reentrant: taking it twice on one thread sleeps for ever. Foreign code never runs under it.
///
/// Why not `Synchronization.Mutex`: in Swift 6.3 on Linux it is a priority-inheritance futex. With 8 threads on 2 processors
/// it fell from 70 to 1.9 million operations per second where this lock stays at 66, and its uninstrumented slow path makes
/// the thread sanitizer report races that aren't there. The three states are those of mutex2 in U. Drepper, "Futexes Are
/// Tricky" (2011).
@usableFromInline
package final class FutexLock: Sendable {
  @usableFromInline
  let word: FutexWord

  /// Creates a free lock.
  package init() {
    word = FutexWord(0)
  }

  /// Takes the lock, waiting for its holder.
  @inlinable
  package func lock() {
    word.lock()
  }

  /// Releases the lock, which the caller must hold.
  @inlinable
  package func unlock() {
    word.unlock()
  }

  /// Runs `body` while holding the lock.
  ///
  /// - Parameter body: A short piece of work that neither blocks nor calls foreign code.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  @inlinable
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    word.lock()
    defer { word.unlock() }
    return try body()
  }
}

private let guardedCacheLineSize = 64

/// A value that can be reached only while holding the lock stored next to it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state.pointee` | `word` | the only access is the body of ``withLock(_:)`` |
/// | `word` | itself, see ``FutexLock`` | |
///
/// `@unchecked Sendable` because the value never leaves the lock: it is `sending` on its way in, and `inout sending` inside
/// the body, so the compiler refuses to let a reference to its insides escape. The value lives in raw memory rather than in
/// a stored property, which would be checked for exclusive access at every turn although the lock already guarantees it.
///
/// The word and the value share one piece of memory: accesses and timers have such values, and allocations add up. A value
/// that doesn't fit beside the word begins in another cache line, so that polling for the lock doesn't slow its holder down.
@safe @usableFromInline
package final class Guarded<State: ~Copyable>: @unchecked Sendable {
  @usableFromInline
  let word: FutexWord

  @usableFromInline
  let state: UnsafeMutablePointer<State>

  /// The memory of both.
  private let memory: UnsafeMutableRawPointer

  /// Creates a guarded value.
  ///
  /// - Parameter state: The initial value.
  package init(_ state: consuming sending State) {
    let (size, alignment) = (MemoryLayout<State>.size, MemoryLayout<State>.alignment)
    let next = max(MemoryLayout<UInt32>.size, alignment)
    let offset = next + size <= guardedCacheLineSize ? next : max(guardedCacheLineSize, alignment)
    unsafe memory = .allocate(
      byteCount: offset + size, alignment: max(alignment, MemoryLayout<UInt32>.alignment))
    word = unsafe FutexWord(in: memory)
    unsafe self.state = (memory + offset).bindMemory(to: State.self, capacity: 1)
    unsafe self.state.initialize(to: state)
  }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe memory.deallocate()
  }

  /// Runs `body` on the value while holding the lock.
  ///
  /// - Parameter body: A short piece of work that neither blocks nor calls foreign code. It must not use the same guarded
  ///   value again.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  @inlinable
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    word.lock()
    defer { word.unlock() }
    return try unsafe body(&state.pointee)
  }
}

// The lock itself. States: 0 free, 1 held, 2 held and a thread may sleep.
extension FutexWord {
  @inlinable
  func lock() {
    let exchange = unsafe address.pointee.compareExchange(
      expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
    if !exchange.exchanged { lockContended() }
  }

  @inlinable
  func unlock() {
    let previous = unsafe address.pointee.exchange(0, ordering: .releasing)
    if previous != 1 { unlockContended(previous) }
  }

  @usableFromInline
  @inline(never)
  func lockContended() {
    if Spin.isUseful, spinForLock() { return }
    // From here on the word is 2, also once this thread holds the lock: it can't determine whether it was the last
    // sleeper.
    while unsafe address.pointee.exchange(2, ordering: .acquiring) != 0 {
      sleep(while: 2)
    }
  }

  private func spinForLock() -> Bool {
    for _ in 0..<Spin.lockAttemptCountMax {
      switch unsafe address.pointee.load(ordering: .relaxed) {
      case 0:
        let exchange = unsafe address.pointee.weakCompareExchange(
          expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
        if exchange.exchanged { return true }
      case 2:
        // A thread sleeps already: the holder is slow, and the sleeper was here first.
        return false
      default:
        shim_spin_hint()
      }
    }
    return false
  }

  @usableFromInline
  @inline(never)
  func unlockContended(_ previous: UInt32) {
    precondition(previous == 2, "unlock of a lock in state \(previous)")
    wakeOne()
  }
}
