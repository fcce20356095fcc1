import FileCoordination
import Foundation
import Synchronization

/// A presenter whose callbacks run at once on the thread that asks, so that all events of a read are those of one thread.
///
/// No program should run callbacks like this: here it makes counts exact.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `saves` | is atomic | callbacks may run on any thread, as far as the compiler knows |
final class AskedPresenter: FilePresenter {
  let presentedItemURL: URL?
  let presentedItemCallbacks = FilePresenterCallbacks.all
  let presentedItemExecutor: (any TaskExecutor)? = ExecutorOfCaller()
  private let saves = Atomic(0)

  /// How often it was asked to save.
  var saveCount: Int { saves.load(ordering: .relaxed) }

  init(_ path: String) { presentedItemURL = fileURL(path) }

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? { {} }
  func savePresentedItemChanges(origin: AccessOrigin) async throws { saves.add(1, ordering: .relaxed) }
}

private final class ExecutorOfCaller: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}
