#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation
  internal import SystemInterface

  extension NSFileCoordinator {
    /// Threads for accesses that wait: threads of the cooperative pool may all be blocked by programs that block them.
    private static let threads = ElasticThreadPool(threadCountMax: 64)

    /// Asks for access in a task of its own, and runs the accessor on the queue.
    func coordinateLater(
      _ intents: [NSFileAccessIntent], _ queue: OperationQueue,
      _ accessor: @escaping @Sendable ((any Error)?) -> Void
    ) {
      let (native, ongoing, deadlines) = (native, ongoing, deadlines)
      let asked = intents.map(\.url)
      let queue = SharedQueue(queue)
      // Detached: it isn't part of an access that this is called in, and may outlive it.
      Task.detached(executorPreference: Self.threads, priority: Task.currentPriority) { [weak document] in
        do {
          try await native.coordinate(intents.map { try $0.native() }, deadlines: deadlines) { access in
            let (nesting, announcer, unanswered) = (
              CarriedNesting(), access.moveAnnouncer, access[0].unansweredPresenters
            )
            let written = try OwnWrite(document, intents.writtenItems(asked))
            await queue.run {
              ongoing.during(announcer, without: unanswered) { nesting.run { accessor(nil) } }
            }
            written?.end()
          }
        } catch {
          let error = NSError.ofAccess(error, AccessedItems(intents))
          await queue.run { accessor(error) }
        }
      }
    }
  }

  /// A queue for tasks to run things on.
  ///
  /// Adding operations is safe on any thread.
  struct SharedQueue: @unchecked Sendable {
    private let queue: OperationQueue

    init(_ queue: OperationQueue) { self.queue = queue }

    /// Suspends until `body` has run on the queue.
    func run(_ body: @escaping @Sendable () -> Void) async {
      await withCheckedContinuation { continuation in
        queue.addOperation(
          SteadfastOperation {
            body()
            continuation.resume()
          })
      }
    }
  }
#endif
