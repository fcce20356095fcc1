import FileCoordination
import Foundation
import Synchronization

/// A presenter that counts the questions to it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `saves` | is atomic | callbacks may run on any thread |
final class AskedPresenter: FilePresenter {
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks
  let presentedItemExecutor: (any TaskExecutor)?
  private let saves = Atomic(0)

  /// How often it was asked to save.
  var saveCount: Int { saves.load(ordering: .relaxed) }

  init(_ path: String, _ executor: (any TaskExecutor)?, callbacks: FilePresenterCallbacks = .all) {
    presentedItemCallbacks = callbacks
    presentedItemURL = fileURL(path)
    presentedItemExecutor = executor
  }

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? { {} }
  func savePresentedItemChanges(origin: AccessOrigin) async throws { saves.add(1, ordering: .relaxed) }
}

/// Runs callbacks at once on the thread that asks, so that all events of a read are those of one thread.
///
/// No program should run callbacks like this: here it makes counts exact.
final class ExecutorOfCaller: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// Runs callbacks on a serial `OperationQueue`, as presenters have on Apple platforms.
final class QueueExecutor: TaskExecutor {
  private let queue: OperationQueue

  init() {
    queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    queue.addOperation { job.runSynchronously(on: executor) }
  }
}
