import FileCoordination
import Synchronization

/// Errors of coordinated accesses, collected on any thread.
final class ErrorList: Sendable {
  private let collected = Mutex<[FileCoordinationError]>([])

  var errors: [FileCoordinationError] { collected.withLock { $0 } }

  func append(_ error: any Error) {
    guard let error = error as? FileCoordinationError else { preconditionFailure("unexpected: \(error)") }
    collected.withLock { $0.append(error) }
  }
}
