import Foundation

/// How many seconds something may take that a test waits for; seldom more than a few thousandths.
///
/// Tasks of one test stand in a line with those of all others, which is longer than a minute on a slow machine.
let patience: TimeInterval = 200

/// Events in their order, and threads that wait for them.
final class Journal: @unchecked Sendable {
  private let condition = NSCondition()
  private var lines: [String] = []

  func note(_ line: String) {
    condition.withLock {
      lines.append(line)
      condition.broadcast()
    }
  }

  var entries: [String] { condition.withLock { lines } }

  func count(of line: String) -> Int { entries.count { $0 == line } }

  /// Blocks until a line has come a number of times; gives up at last.
  @discardableResult
  func wait(for line: String, count: Int = 1) -> Bool {
    wait { lines in lines.count { $0 == line } >= count }
  }

  /// Blocks until the lines satisfy a condition; gives up at last.
  func wait(until isSatisfied: ([String]) -> Bool) -> Bool {
    let end = Date(timeIntervalSinceNow: patience)
    return condition.withLock {
      while !isSatisfied(lines) {
        if !condition.wait(until: end) { return false }
      }
      return true
    }
  }
}

/// A thread that does one thing; `join` waits until it has.
final class Worker: @unchecked Sendable {
  private let done = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Void) {
    Thread { [done] in
      body()
      done.signal()
    }.start()
  }

  /// - Returns: Whether it ended in time.
  func join() -> Bool { done.wait(timeout: .now() + patience) == .success }
}

/// An operation queue that runs one thing at a time.
func serialQueue(_ name: String = "presenter") -> OperationQueue {
  let queue = OperationQueue()
  queue.name = name
  queue.maxConcurrentOperationCount = 1
  return queue
}
