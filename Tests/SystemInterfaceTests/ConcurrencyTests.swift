import Synchronization
import SystemInterface
import Testing

/// Everything that threads share.
///
/// The thread sanitizer's run filters by this name.
enum ConcurrencyTests {
  /// Runs `body` on several threads at once and waits for all of them.
  static func onThreads(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
    let countdown = Countdown(count)
    for index in 0..<count {
      HostThread.start(name: "test-\(index)") {
        body(index)
        countdown.countDown()
      }
    }
    countdown.wait()
  }
}

/// An event that occurs when it has been counted down to zero.
final class Countdown: Sendable {
  private let remaining: Guarded<Int>
  private let reachedZero = ThreadEvent()

  init(_ count: Int) {
    remaining = Guarded(count)
  }

  func countDown() {
    let isZero = remaining.withLock { remaining in
      remaining -= 1
      return remaining == 0
    }
    if isZero { reachedZero.signal() }
  }

  func wait() {
    reachedZero.wait()
  }
}

/// A list that any thread may append to.
final class Journal<Element: Sendable>: Sendable {
  private let guarded = Guarded<[Element]>([])

  var elements: [Element] { guarded.withLock { $0 } }

  func append(_ element: Element) {
    guarded.withLock { $0.append(element) }
  }
}
