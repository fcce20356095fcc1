import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import Testing

@Suite("Concurrency: waiting for a state of a domain")
struct WaitUntilTests {
  private let domain = CoordinationDomain()
  private let url = URL.temporaryDirectory.appending(path: "wait-until-\(UUID()).txt")

  @Test("A state that is there already is seen at once")
  func stateThatIsThere() async throws {
    try await domain.waitUntil { $0.accesses.isEmpty }
  }

  @Test("A state is seen although it is over at once")
  func passingState() async throws {
    let domain = domain
    let url = url
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while !Task.isCancelled {
          try await FileCoordinator(label: "short", domain: domain).read(url) { _ in }
          // Nothing in a read without others suspends, and the waiting task needs the thread.
          await Task.yield()
        }
      }
      try await domain.waitUntil { $0.accesses.contains { $0.party.label == "short" && $0.isGranted } }
      group.cancelAll()
      while let result = await group.nextResult() {
        if case .failure(let error) = result { #expect((error as? FileCoordinationError)?.code == .cancelled) }
      }
    }
  }

  @Test("A waiting access is seen while it waits, and the wait ends with the holder's access")
  func waitingAccess() async throws {
    let domain = domain
    let url = url
    async let wasSeen: Void = FileCoordinator(label: "reader", domain: domain).read(url) { _ in
      try await domain.waitUntil { state in
        state.accesses.contains { $0.party.label == "writer" && $0.blockers.map(\.label) == ["reader"] }
      }
    }
    try await domain.waitUntil { $0.accesses.contains(where: \.isGranted) }
    try await FileCoordinator(label: "writer", domain: domain).write(url) { _ in }
    try await wasSeen
  }

  @Test("Between processes every state that is shown is that of all, whatever this process does meanwhile")
  func statesOfAll() async throws {
    try await withTemporaryDirectory { place in
      let domain = CoordinationDomain.socket(place.path + "/s")
      let presenter = RecordingPresenter(url, callbacks: [.itemDidChange])
      let registration = try await domain.register(presenter)
      defer { registration.end() }
      let presenterCounts = Guarded<Set<Int>>([])
      async let isSeen: Void = domain.waitUntil { state in
        presenterCounts.withLock { _ = $0.insert(state.presenters.count) }
        return state.accesses.contains { $0.party.label == "last" && $0.isGranted }
      }
      // It's observed from the first state on.
      while presenterCounts.withLock(\.isEmpty) { await Task.yield() }
      for label in ["first", "last"] {
        try await FileCoordinator(label: label, domain: domain).write(url) { _ in }
      }
      try await isSeen
      #expect(presenterCounts.withLock { $0 } == [1])
    }
  }

  @Test("Cancelling the task ends the wait with an error, before and while it waits", arguments: [true, false])
  func cancelling(isCancelledBefore: Bool) async {
    let domain = domain
    let task = Task {
      if isCancelledBefore { withUnsafeCurrentTask { $0?.cancel() } }
      try await domain.waitUntil { !$0.accesses.isEmpty }
    }
    task.cancel()
    await #expect { try await task.value } throws: { ($0 as? FileCoordinationError)?.code == .cancelled }
  }

  @Test("No lock is held while a condition is asked")
  func conditionOutsideOfLocks() async throws {
    let domain = domain
    try await domain.waitUntil { _ in (try? domain.snapshot().accesses.isEmpty) ?? false }
  }
}
