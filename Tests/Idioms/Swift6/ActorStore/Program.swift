import Foundation
import FoundationCompatibility

// An actor around the coordinator, with throwing and suspending wrappers.

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

actor FileStore {
  let url: URL

  init(url: URL) { self.url = url }

  func read() throws -> Data {
    var coordinationError: NSError?
    var result: Result<Data, any Error>?
    NSFileCoordinator().coordinate(readingItemAt: url, options: .withoutChanges, error: &coordinationError) { url in
      result = Result { try Data(contentsOf: url) }
    }
    if let coordinationError { throw coordinationError }
    guard let result else { throw Failure(description: "no result") }
    return try result.get()
  }

  func write(_ data: Data) throws {
    var coordinationError: NSError?
    var writeError: (any Error)?
    NSFileCoordinator().coordinate(writingItemAt: url, options: .forReplacing, error: &coordinationError) { url in
      do { try data.write(to: url) } catch { writeError = error }
    }
    if let error = coordinationError ?? writeError { throw error }
  }
}

func runFileStore(in folder: URL) async throws {
  let store = FileStore(url: folder.appendingPathComponent("store"))
  try await store.write(Data("one".utf8))
  guard try await store.read() == Data("one".utf8) else { throw Failure(description: "what was written isn't read") }

  let intent = NSFileAccessIntent.writingIntent(with: store.url, options: .forMerging)
  let count = try await NSFileCoordinator.access([intent]) { try Data(contentsOf: intent.url).count }
  guard count == 3 else { throw Failure(description: "\(count) bytes") }

  let cancelled = Task {
    try await NSFileCoordinator.access([.readingIntent(with: store.url)]) { throw Failure(description: "accessed") }
  }
  cancelled.cancel()
  switch await cancelled.result {
  case .success: throw Failure(description: "not cancelled")
  case .failure(let error as CocoaError) where error.code == .userCancelled: break
  case .failure(let error as Failure) where error.description == "accessed": break
  case .failure(let error): throw error
  }
}
