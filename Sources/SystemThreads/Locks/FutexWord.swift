internal import CSystemShims
internal import Glibc
public import Synchronization

/// One 32-bit word at a fixed address that threads can sleep on.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `address` | never changes | the kernel identifies a futex by its address, so the word can't live inside a movable value |
/// | `address.pointee` | itself: atomic | its meaning, and the memory ordering, belong to the owner |
///
/// `@unchecked Sendable` because the pointer leads only to an atomic, which any thread may use.
///
/// A wake-up may reach the kernel after another thread has already seen the new value and freed the word. That is
/// harmless: futex(2) doesn't touch the memory to wake, and a thread that sleeps at a reused address checks its word
/// again in a loop.
@safe @usableFromInline
package struct FutexWord: ~Copyable, @unchecked Sendable {
  /// The word.
  @usableFromInline
  package let address: UnsafeMutablePointer<Atomic<UInt32>>

  /// Whether the memory is the word's own.
  private let ownsMemory: Bool

  package init(_ value: UInt32 = 0) {
    unsafe address = .allocate(capacity: 1)
    unsafe address.initialize(to: Atomic(value))
    ownsMemory = true
  }

  /// A word of zero in memory of its owner, who frees it when nobody uses the word any more.
  ///
  /// - Parameter memory: Uninitialized memory, aligned for the word.
  init(in memory: UnsafeMutableRawPointer) {
    unsafe address = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
    unsafe address.initialize(to: Atomic(0))
    ownsMemory = false
  }

  deinit {
    if !ownsMemory { return }
    unsafe address.deinitialize(count: 1)
    unsafe address.deallocate()
  }

  /// Why a sleep ended.
  package enum WakeReason {
    /// Woken, interrupted by a signal, or the word had already changed: check it again.
    case recheck
    /// The deadline has passed.
    case deadlinePassed
  }

  /// Sleeps while the word is `expected`, at most until `deadline`; see futex(2).
  ///
  /// It may return early, therefore callers loop.
  ///
  /// - Parameters:
  ///   - expected: The value that means "nothing new".
  ///   - deadline: The time to give up, on ``HostClock``; `nil` waits without limit.
  /// - Returns: Whether to check the word again or to give up.
  @discardableResult
  package func sleep(while expected: UInt32, until deadline: MonotonicTime? = nil) -> WakeReason {
    let word = unsafe UnsafeMutableRawPointer(address).assumingMemoryBound(to: UInt32.self)
    let code: Int32
    if let deadline {
      var time = timespec(deadline)
      code = unsafe shim_futex_wait(word, expected, &time)
    } else {
      code = unsafe shim_futex_wait(word, expected, nil)
    }
    switch code {
    case 0, EAGAIN, EINTR: return .recheck
    case ETIMEDOUT: return .deadlinePassed
    default: preconditionFailure("futex(FUTEX_WAIT_BITSET) failed with errno \(code)")
    }
  }

  /// Wakes one thread that sleeps on the word.
  package func wakeOne() {
    unsafe shim_futex_wake(UnsafeMutableRawPointer(address).assumingMemoryBound(to: UInt32.self), 1)
  }

  /// Wakes every thread that sleeps on the word.
  package func wakeAll() {
    unsafe shim_futex_wake(UnsafeMutableRawPointer(address).assumingMemoryBound(to: UInt32.self), .max)
  }
}

/// How long to spin before sleeping.
package enum Spin {
  /// Whether another processor can make progress while this one spins.
  package static let isUseful = shim_usable_processor_count() > 1

  /// Hints to the processor that this is a spin loop.
  package static func pause() { shim_spin_hint() }

  /// How often a lock polls before it sleeps: about 1 µs, longer than our critical sections take.
  static let lockAttemptCountMax = 40

  /// How long an event is polled before its waiter sleeps.
  ///
  /// A sleep and wake-up cost 4–45 µs.
  static let eventDuration = Duration.microseconds(2)

  /// Calls `isDone` until it returns `true`, for at most ``eventDuration``.
  ///
  /// Limited by time, because one pause instruction takes 10 to 140 cycles depending on the processor.
  ///
  /// - Parameter isDone: Checks whether there is something to do.
  /// - Returns: Whether `isDone` returned `true`.
  static func briefly(until isDone: () -> Bool) -> Bool {
    if isDone() { return true }
    guard isUseful else { return false }
    let end = MonotonicTime.host().advanced(by: eventDuration)
    repeat {
      for _ in 0..<8 {
        if isDone() { return true }
        shim_spin_hint()
      }
    } while MonotonicTime.host() < end
    return isDone()
  }
}
