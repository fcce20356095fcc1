internal import CSystemShims
internal import Synchronization

/// An event that occurs once, and that threads can block for.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `parker` | itself, see ``Parker`` | signalling takes no lock, so any code may signal |
///
/// Everything that a thread wrote before ``signal()`` is visible to every thread after ``wait()``. The order of the two
/// doesn't matter: a signal that comes first lets the wait return at once.
package final class ThreadEvent: Sendable {
  private let parker = Parker()

  /// Creates an event that hasn't occurred.
  package init() {}

  /// Lets all threads return that wait now or later.
  ///
  /// Calling it again does nothing. It costs a system call only when a thread sleeps.
  package func signal() {
    parker.unpark()
  }

  /// Blocks the calling thread until the event has occurred.
  ///
  /// Polls for at most 2 µs if there is more than one processor, then sleeps in futex(2). Never call it on a thread of
  /// the cooperative pool: tasks that could signal may need that thread.
  package func wait() {
    parker.park()
  }

  /// Blocks the calling thread until the event has occurred or a time has come.
  ///
  /// - Parameter deadline: When to give up, on ``HostClock``.
  /// - Returns: Whether the event has occurred.
  package func wait(until deadline: MonotonicTime) -> Bool {
    parker.park(until: deadline)
  }

  /// Whether the event has occurred.
  package var isSignaled: Bool { parker.isUnparked }
}

/// A place where threads sleep until they are let go.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `word` | itself: 0 no thread sleeps, 1 a thread may sleep, 2 let go | letting go without sleepers costs no system call |
///
/// No wake-up is lost: a sleeper announces itself with a compare-and-exchange that fails once the word is 2, and the kernel
/// compares again before it sleeps.
struct Parker: ~Copyable, Sendable {
  private let word = FutexWord(0)

  private static let vacant: UInt32 = 0
  private static let occupied: UInt32 = 1
  private static let letGo: UInt32 = 2

  var isUnparked: Bool { unsafe word.address.pointee.load(ordering: .acquiring) == Self.letGo }

  /// Lets everybody go, now and until the next ``reset()``.
  func unpark() {
    let previous = unsafe word.address.pointee.exchange(Self.letGo, ordering: .releasing)
    if previous == Self.occupied { word.wakeAll() }
  }

  /// Makes threads that park from now on sleep again.
  ///
  /// Only for an owner who ensures that no thread parks or lets go meanwhile.
  func reset() {
    unsafe word.address.pointee.store(Self.vacant, ordering: .relaxed)
  }

  /// Blocks until let go, or until `deadline`.
  ///
  /// - Parameter deadline: When to give up; `nil` waits without limit.
  /// - Returns: Whether the thread was let go.
  @discardableResult
  func park(until deadline: MonotonicTime? = nil) -> Bool {
    if Spin.briefly(until: { isUnparked }) { return true }
    let announcement = unsafe word.address.pointee.compareExchange(
      expected: Self.vacant, desired: Self.occupied, successOrdering: .relaxed, failureOrdering: .acquiring)
    if announcement.original == Self.letGo { return true }
    while !isUnparked {
      if word.sleep(while: Self.occupied, until: deadline) == .deadlinePassed { return isUnparked }
    }
    return true
  }
}
