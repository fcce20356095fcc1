import Foundation

/// Runs what takes seconds on threads of its own, as many at a time as there are processors.
///
/// On the threads that all tests share it would keep those waiting that only look what time it is.
enum LongRun {
  private static let turns = DispatchSemaphore(value: ProcessInfo.processInfo.activeProcessorCount)

  static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        turns.wait()
        let result = body()
        turns.signal()
        continuation.resume(returning: result)
      }
    }
  }
}
