import Foundation
import Glibc

/// Runs work that takes seconds on threads of its own, one for each processor, behind everything else.
///
/// All tests share a few threads and take turns there. One that is asynchronous goes to the end of the line at each
/// suspension; with long computations in the line it would exceed its time limit, only because the machine is slow.
package enum LongRun {
  private static let workers = Workers(count: ProcessInfo.processInfo.activeProcessorCount)

  package static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in workers.add { continuation.resume(returning: body()) } }
  }
}

/// Threads that do their jobs in the order in which the jobs came.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `jobs` | `condition` | added by tests, taken by the threads |
private final class Workers: @unchecked Sendable {
  private let condition = NSCondition()
  private var jobs: [@Sendable () -> Void] = []

  init(count: Int) {
    for _ in 0..<count {
      Thread.detachNewThread { [self] in
        // Linux gives each thread a priority of its own, against POSIX: setpriority(2), "C library/kernel differences".
        setpriority(Int32(PRIO_PROCESS.rawValue), 0, 10)
        while true { take()() }
      }
    }
  }

  func add(_ job: @escaping @Sendable () -> Void) {
    condition.withLock {
      jobs.append(job)
      condition.signal()
    }
  }

  private func take() -> @Sendable () -> Void {
    condition.withLock {
      while jobs.isEmpty { condition.wait() }
      return jobs.removeFirst()
    }
  }
}
