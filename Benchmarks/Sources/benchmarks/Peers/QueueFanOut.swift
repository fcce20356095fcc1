import Foundation
import Synchronization

/// A round trip to several serial queues at once: the least cost of asking that many presenters with queues of their own.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `missingCount` | is atomic | the last operation to finish answers |
final class QueueFanOut: Sendable {
  private let queues: [OperationQueue]
  private let missingCount = Atomic(0)
  private let answer = DispatchSemaphore(value: 0)

  init(_ count: Int) {
    queues = (0..<count).map { _ in
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      return queue
    }
  }

  func roundTrip() {
    missingCount.store(queues.count, ordering: .releasing)
    for queue in queues { queue.addOperation { [self] in finishOne() } }
    answer.wait()
  }

  private func finishOne() {
    if missingCount.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { answer.signal() }
  }
}
