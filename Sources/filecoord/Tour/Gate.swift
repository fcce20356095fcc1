/// Closed until it's opened: lets a scene decide when an actor goes on.
///
/// One task may wait at it.
final class Gate: Sendable {
  private let passage: AsyncStream<Never>
  private let continuation: AsyncStream<Never>.Continuation

  init() { (passage, continuation) = AsyncStream.makeStream() }

  func open() { continuation.finish() }

  /// Suspends until the gate is open or the task is cancelled.
  func pass() async {
    for await _ in passage {}
  }
}
