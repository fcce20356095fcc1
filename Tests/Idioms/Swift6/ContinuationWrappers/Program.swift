import Foundation
import FoundationCompatibility
import Scene

// Waiting for intents in tasks: continuations, and the coordinator's cancel() when a task is cancelled.

struct Failure: Error, CustomStringConvertible {
  let description: String
}

extension NSFileCoordinator {
  /// Suspends until the items are accessible, and ends the wait when the task is cancelled.
  static func access<T: Sendable>(
    _ intents: [NSFileAccessIntent], _ body: @escaping @Sendable () throws -> T
  ) async throws -> T {
    let queue = OperationQueue()
    nonisolated(unsafe) let coordinator = NSFileCoordinator()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        coordinator.coordinate(with: intents, queue: queue) { error in
          if let error { return continuation.resume(throwing: error) }
          continuation.resume(with: Result { try body() })
        }
      }
    } onCancel: {
      coordinator.cancel()
    }
  }
}

/// The blocking form, on a thread of a dispatch queue.
func readOnAQueue(_ url: URL) async throws -> Data {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global(qos: .userInitiated).async {
      var error: NSError?
      NSFileCoordinator(filePresenter: nil).coordinate(readingItemAt: url, options: [], error: &error) { url in
        continuation.resume(with: Result { try Data(contentsOf: url) })
      }
      if let error { continuation.resume(throwing: error) }
    }
  }
}

@main
struct Program {
  static func main() async throws {
    let url = Scene.file("continued", "one")
    let intent = NSFileAccessIntent.writingIntent(with: url, options: .forMerging)
    let count = try await NSFileCoordinator.access([intent]) { try Data(contentsOf: intent.url).count }
    Scene.check(count == 3, "\(count) bytes")
    Scene.check(try await readOnAQueue(url) == Data("one".utf8), "read on a queue")

    // Cancelled while another access writes.
    try await NSFileCoordinator.access([.writingIntent(with: url)]) {
      let done = DispatchSemaphore(value: 0)
      let cancelled = Task {
        defer { done.signal() }
        do {
          _ = try await NSFileCoordinator.access([.readingIntent(with: url)]) { 0 }
          Scene.check(false, "read what is being written")
        } catch let error as CocoaError { Scene.check(error.code == .userCancelled, "\(error)") }
      }
      cancelled.cancel()
      Scene.wait(done, "the end of the cancelled task")
    }
    do {
      _ = try await NSFileCoordinator.access([.readingIntent(with: url)]) { throw Failure(description: "mine") }
    } catch let error as Failure { Scene.check(error.description == "mine", "\(error)") }
    Scene.finish()
  }
}
