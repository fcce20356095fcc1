internal import Synchronization

/// Wakes threads that wait for a change of something that they check themselves.
///
/// Take ``count``, check, and if there's nothing to do, call ``wait(since:)`` with it: a ring after the count was taken
/// ends the wait.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `word` | itself: how often it was rung | the kernel compares it before a thread sleeps |
package final class Doorbell: Sendable {
  private let word = FutexWord(0)

  /// Creates a bell that hasn't been rung.
  package init() {}

  /// How often it was rung, more or less: it begins at 0 again after 2³² times.
  package var count: UInt32 { unsafe word.address.pointee.load(ordering: .acquiring) }

  /// Ends all waits.
  package func ring() {
    unsafe word.address.pointee.add(1, ordering: .releasing)
    word.wakeAll()
  }

  /// Blocks until it's rung, or for no reason.
  ///
  /// - Parameter count: The value of ``count`` before the check.
  package func wait(since count: UInt32) { word.sleep(while: count) }
}
