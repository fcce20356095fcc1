import Foundation
import Synchronization

/// Threads that are each pinned to a processor and run their jobs, all at the same time.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `jobs` of a worker | its semaphores | written before `start` is signalled, read after it was awaited |
final class WorkerPool: Sendable {
  static let threadCountMax = 8

  private final class Worker: Sendable {
    let start = DispatchSemaphore(value: 0)
    let job = Mutex<(@Sendable () -> Void)?>(nil)
  }

  private let workers: [Worker]

  init(_ processors: Processors) {
    workers = (0..<Self.threadCountMax).map { index in
      let worker = Worker()
      let thread = Thread {
        processors.pin(thread: index)
        while true {
          worker.start.wait()
          worker.job.withLock { $0.take() }?()
        }
      }
      thread.name = "worker \(index)"
      // Deadlock checks walk long chains.
      thread.stackSize = 8 << 20
      thread.start()
      return worker
    }
  }

  /// Runs `body` on threads 0 ..< `count` and waits for all of them.
  ///
  /// - Parameters:
  ///   - count: How many threads; at most ``threadCountMax``.
  ///   - body: The work of each of them, given its number.
  /// - Returns: The results in the order of the threads.
  /// - Throws: The first error that `body` threw, when all have ended.
  func run<Result: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Result
  ) throws -> [Result] {
    let results = Mutex<[Int: Swift.Result<Result, any Error>]>([:])
    let done = DispatchSemaphore(value: 0)
    let shared = Shared(results)
    for (index, worker) in workers[..<count].enumerated() {
      worker.job.withLock {
        $0 = {
          let result = Swift.Result { try body(index) }
          shared.value.withLock { $0[index] = result }
          done.signal()
        }
      }
      worker.start.signal()
    }
    for _ in 0..<count { done.wait() }
    return try shared.value.withLock { results in
      try (0..<count).compactMap { try results[$0]?.get() }
    }
  }
}

/// A value without copies that several threads refer to.
final class Shared<Value: ~Copyable & Sendable>: Sendable {
  let value: Value

  init(_ value: consuming Value) { self.value = value }
}

/// Lets threads go at the same moment.
///
/// The last one to arrive decides which moment that is. Threads that share a processor yield to each other.
final class StartBarrier: Sendable {
  private let count: Int
  private let arrivals = Atomic(0)
  private let startTime = Atomic<UInt64>(0)
  private let isAbandoned = Atomic(false)

  init(_ count: Int) { self.count = count }

  /// Waits for the others.
  ///
  /// - Returns: The common time of the start.
  /// - Throws: ``BenchmarkFailure`` when one of the others won't come.
  func arrive() throws -> UInt64 {
    if arrivals.add(1, ordering: .acquiringAndReleasing).newValue == count {
      let now = monotonicNanoseconds()
      startTime.store(now, ordering: .releasing)
      return now
    }
    while true {
      let time = startTime.load(ordering: .acquiring)
      if time != 0 { return time }
      if isAbandoned.load(ordering: .acquiring) { throw BenchmarkFailure("another thread couldn't start") }
      sched_yield()
    }
  }

  /// The common time of the start, once all have arrived.
  var time: UInt64 { startTime.load(ordering: .acquiring) }

  /// Makes the others stop waiting.
  func abandon() { isAbandoned.store(true, ordering: .releasing) }
}
