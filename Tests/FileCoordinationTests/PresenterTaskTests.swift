import FileCoordination
import FoundationEssentials
import Synchronization
import Testing

/// Tasks on threads of the library that run one callback after the other, of any presenter.
@Suite("Tasks of presenters", .timeLimit(.minutes(2)))
struct PresenterTaskTests {
  /// Cancels the task of each callback, after it has noted the task's state.
  private final class CancellingPresenter: FilePresenter {
    let presentedItemURL: URL?
    let presentedItemCallbacks: FilePresenterCallbacks = [.saveChanges]
    let saves = Mutex<[(isCancelled: Bool, priority: TaskPriority)]>([])
    private let cancels: Bool
    private let onEnd: @Sendable () -> Void

    init(_ url: URL, cancels: Bool, onEnd: @escaping @Sendable () -> Void = {}) {
      presentedItemURL = url
      self.cancels = cancels
      self.onEnd = onEnd
    }

    deinit { onEnd() }

    func savePresentedItemChanges(origin: AccessOrigin) async throws {
      saves.withLock { $0.append((Task.isCancelled, Task.currentPriority)) }
      if cancels { withUnsafeCurrentTask { $0?.cancel() } }
    }
  }

  private static let url = URL(filePath: "/nowhere/presenter-tasks")

  @Test("A callback that cancels its task cancels no later callback")
  func cancelled() async throws {
    let domain = CoordinationDomain()
    let presenter = CancellingPresenter(Self.url, cancels: true)
    let registration = try await domain.register(presenter)
    defer { registration.end() }
    for _ in 0..<40 { try await FileCoordinator(domain: domain).read(Self.url) { _ in } }
    let saves = presenter.saves.withLock { $0 }
    #expect(saves.count == 40)
    #expect(saves.allSatisfy { !$0.isCancelled })
  }

  @Test("A callback has the priority of the access that waits for it, and no later callback has it")
  func priorities() async throws {
    let domain = CoordinationDomain()
    let presenter = CancellingPresenter(Self.url, cancels: false)
    let registration = try await domain.register(presenter)
    defer { registration.end() }
    let wanted: [TaskPriority] = [.medium, .high, .medium, .background, .medium, .high, .high, .low]
    for priority in wanted {
      try await Task.detached(priority: priority) {
        #expect(Task.currentPriority >= priority)
        try await FileCoordinator(domain: domain).read(Self.url) { _ in }
      }.value
    }
    let priorities = presenter.saves.withLock { $0.map(\.priority) }
    #expect(priorities.count == wanted.count)
    // The test's own task awaits the others, which raises their priority; it never lowers one.
    for (priority, wanted) in zip(priorities, wanted) { #expect(priority >= wanted) }
    #expect(priorities[4] < .high)
  }

  @Test("Tasks that do a thousand errands and more miss none, from many threads at once")
  func many() async throws {
    let domain = CoordinationDomain()
    let presenters = (0..<24).map { CancellingPresenter(URL(filePath: "/nowhere/many-\($0)"), cancels: false) }
    var registrations: [FilePresenterRegistration] = []
    for presenter in presenters { registrations.append(try await domain.register(presenter)) }
    defer { for registration in registrations { registration.end() } }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for presenter in presenters {
        guard let url = presenter.presentedItemURL else { continue }
        group.addTask { for _ in 0..<150 { try await FileCoordinator(domain: domain).read(url) { _ in } } }
      }
      try await group.waitForAll()
    }
    for presenter in presenters { #expect(presenter.saves.withLock { $0.count } == 150) }
  }

  @Test("A task that waits for work keeps no presenter")
  func released() async throws {
    let domain = CoordinationDomain()
    let (lifetime, end) = AsyncStream<Never>.makeStream()
    do {
      let presenter = CancellingPresenter(Self.url, cancels: false) { end.finish() }
      let registration = try await domain.register(presenter)
      try await FileCoordinator(domain: domain).read(Self.url) { _ in }
      registration.end()
    }
    for await _ in lifetime {}
  }
}
