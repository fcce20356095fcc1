import Foundation

/// What happened, in order, and threads that wait for it.
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

  /// Blocks until a line has come a number of times; gives up after a minute.
  @discardableResult
  func wait(for line: String, count: Int = 1) -> Bool {
    wait { lines in lines.count { $0 == line } >= count }
  }

  /// Blocks until the lines are as wanted; gives up after a minute.
  func wait(until isSatisfied: ([String]) -> Bool) -> Bool {
    let end = Date(timeIntervalSinceNow: 60)
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

  /// - Returns: Whether it ended within a minute.
  func join() -> Bool { done.wait(timeout: .now() + 60) == .success }
}

/// An operation queue that runs one thing at a time.
func serialQueue(_ name: String = "presenter") -> OperationQueue {
  let queue = OperationQueue()
  queue.name = name
  queue.maxConcurrentOperationCount = 1
  return queue
}
