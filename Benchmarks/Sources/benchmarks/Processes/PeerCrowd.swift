import FileCoordination
import FileDocuments
import FileVersions
import Foundation
import Glibc
import Synchronization

/// Many accesses and presenters of one peer.
final class PeerCrowd: Sendable {
  private let presenters = Mutex<[FilePresenterRegistration]>([])
  /// Registrations are weak.
  private let presented = Mutex<[any FilePresenter]>([])
  private let held = Mutex<[Holder]>([])

  private let editor = Mutex<TakingTurns?>(nil)

  private struct Holder: Sendable {
    let questions: AsyncStream<DispatchSemaphore>.Continuation
    let isHeld: Shared<Atomic<Bool>>
  }

  /// Holds so many items, each by an access of its own, until the process ends; returns when all are granted.
  func hold(_ count: Int, in directory: String, _ coordinator: FileCoordinator) {
    let granted = DispatchSemaphore(value: 0)
    for number in 0..<count {
      let (questions, ask) = AsyncStream.makeStream(of: DispatchSemaphore.self)
      let holder = Holder(questions: ask, isHeld: Shared(Atomic(false)))
      held.withLock { $0.append(holder) }
      Task.detached {
        // A holder whose access fails is missing when the others are counted.
        try? await coordinator.write(path: "\(directory)/\(number)") { access in
          granted.signal()
          for await answered in questions {
            holder.isHeld.value.store((try? access.commit {}) != nil, ordering: .relaxed)
            answered.signal()
          }
        }
      }
    }
    for _ in 0..<count { granted.wait() }
  }

  /// - Returns: How many the service confirms.
  func countHeld() -> Int {
    let holders = held.withLock { $0 }
    let answered = DispatchSemaphore(value: 0)
    for holder in holders { holder.questions.yield(answered) }
    for _ in holders { answered.wait() }
    return holders.count { $0.isHeld.value.load(ordering: .relaxed) }
  }

  func present(_ count: Int, in directory: String, _ domain: CoordinationDomain) throws {
    for number in 0..<count {
      let presenter = IdlePresenter(URL(filePath: "\(directory)/\(number)"))
      try register(presenter, domain)
    }
  }

  func edit(_ path: String, _ domain: CoordinationDomain) throws {
    let turns = TakingTurns(path, domain)
    try LoopExecutor.perform { try await turns.document.open() }
    editor.withLock { $0 = turns }
  }

  func type(_ number: String) throws {
    guard let turns = editor.withLock({ $0 }), let number = Int(number) else {
      throw BenchmarkFailure("'type' comes after 'edit', with a number")
    }
    try LoopExecutor.perform { try await turns.type(number) }
  }

  func answer(_ path: String, _ domain: CoordinationDomain) throws {
    try register(AnsweringPresenter(URL(filePath: path)), domain)
  }

  private func register(_ presenter: any FilePresenter, _ domain: CoordinationDomain) throws {
    let registration = try domain.register(presenter)
    presenters.withLock { $0.append(registration) }
    presented.withLock { $0.append(presenter) }
  }
}

/// A presenter that relinquishes, saves and reacquires, and does nothing with that.
private final class AnsweringPresenter: FilePresenter {
  let presentedItemURL: URL?
  let presenterLabel = "answering"
  let presentedItemCallbacks = FilePresenterCallbacks.all

  init(_ url: URL) { presentedItemURL = url }

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? { {} }
  func savePresentedItemChanges(origin: AccessOrigin) async throws {}
}

/// A presenter that receives no question.
private final class IdlePresenter: FilePresenter {
  let presentedItemURL: URL?
  let presenterLabel = "idle"
  let presentedItemCallbacks: FilePresenterCallbacks = [.itemDidChange, .saveChanges]

  init(_ url: URL) { presentedItemURL = url }
}
