import Foundation

/// A round trip to a serial `OperationQueue` and back: the least cost of asking a presenter on Apple platforms.
final class QueueHop: Sendable {
  private let queue: OperationQueue
  private let answer = DispatchSemaphore(value: 0)

  init() {
    queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
  }

  func roundTrip() {
    queue.addOperation { [answer] in answer.signal() }
    answer.wait()
  }
}
