import Foundation
import Synchronization

/// Jobs of an executor that run on the one thread that asks for them.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `jobs` | its mutex | a lock may resume a task on any thread |
final class JobLoop: Sendable {
  private struct Jobs: Sendable {
    var waiting: [UnownedJob] = []
    var next = 0

    mutating func take() -> UnownedJob? {
      if next == waiting.count {
        waiting.removeAll(keepingCapacity: true)
        next = 0
        return nil
      }
      defer { next += 1 }
      return waiting[next]
    }
  }

  private let jobs = Mutex(Jobs())
  private let arrival = DispatchSemaphore(value: 0)

  func append(_ job: UnownedJob) {
    jobs.withLock { $0.waiting.append(job) }
    arrival.signal()
  }

  /// The job that came first, if there is one.
  func take() -> UnownedJob? { jobs.withLock { $0.take() } }

  /// Waits for a job to come.
  ///
  /// May return when there is none any more.
  func wait() { arrival.wait() }
}
