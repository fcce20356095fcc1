import FileCoordination
import Foundation
import FoundationCompatibility
import SeededRandom
import TestSupport
import Testing

@Suite("Apple's names from many threads", .blocking, .timeLimit(.minutes(4)))
struct ConcurrencyCompatibilityTests {
  /// How often each thread does its work.
  private static let roundCount = Budget.isLong ? 2000 : 30

  /// Two threads write, one reads on each presenter's queue, and one registers and drops presenters that never remove themselves.
  @Test(
    "Writers, readers on presenters' queues and presenters that come and go all get through", arguments: [true, false])
  func everything(sharesQueue: Bool) throws {
    try withSandbox { box in
      let url = try box.write("f", "0")
      let shared = serialQueue("shared")
      let presenters = (0..<3).map { _ in CountingPresenter(url, sharesQueue ? shared : serialQueue()) }
      for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
      var workers = (0..<2).map { _ in
        Worker {
          for _ in 0..<Self.roundCount {
            var error: NSError?
            NSFileCoordinator().coordinate(writingItemAt: url, options: .forMerging, error: &error) { url in
              let number = Int((try? box.text(url)) ?? "") ?? -1_000_000
              try? Data("\(number + 1)".utf8).write(to: url)
            }
            if let error { Issue.record("\(error)") }
          }
        }
      }
      workers += presenters.map { presenter in
        Worker {
          let journal = Journal()
          for _ in 0..<Self.roundCount / 4 {
            presenter.queue.addOperation {
              var error: NSError?
              NSFileCoordinator().coordinate(readingItemAt: url, error: &error) { _ in }
              if let error { Issue.record("\(error)") }
              journal.note("read")
            }
          }
          journal.wait(for: "read", count: Self.roundCount / 4)
        }
      }
      workers.append(
        Worker {
          for _ in 0..<Self.roundCount { NSFileCoordinator.addFilePresenter(CountingPresenter(url, serialQueue())) }
        })
      for worker in workers { #expect(worker.join()) }
      for presenter in presenters { #expect(presenter.awaitBalance()) }
      for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) }
      #expect(try box.text(url) == "\(2 * Self.roundCount)")
    }
  }
}

/// Counts how often it has let go and taken back.
private final class CountingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  private let condition = NSCondition()
  private var relinquishedCount = 0

  /// Waits until it has taken back everything; gives up at last.
  func awaitBalance() -> Bool {
    let end = Date(timeIntervalSinceNow: patience)
    return condition.withLock {
      while relinquishedCount > 0 { if !condition.wait(until: end) { return false } }
      return relinquishedCount == 0
    }
  }

  private func noteRelinquished(_ count: Int) {
    condition.withLock {
      relinquishedCount += count
      condition.broadcast()
    }
  }

  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    noteRelinquished(1)
    reader { [self] in noteRelinquished(-1) }
  }

  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    noteRelinquished(1)
    writer { [self] in noteRelinquished(-1) }
  }

  func savePresentedItemChanges() async throws {}
}
