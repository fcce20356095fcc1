import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import TestSupport
import Testing

@testable import FileCoordination

/// Notes the writers that ask it.
private final class WritePresenter: FilePresenter {
  let url: URL
  let writerCount = Guarded(0)

  init(_ url: URL) { self.url = url }

  var presentedItemURL: URL? { url }
  var presentedItemCallbacks: FilePresenterCallbacks { [.relinquishToWriter] }

  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
    writerCount.withLock { $0 += 1 }
    return nil
  }
}

@Suite("Reads that end with a registration", .timeLimit(.minutes(4)))
struct RegisteringReadTests {
  /// Uses a directory alone until it's delegated.
  private func obtainDelegation(_ file: URL, _ domain: CoordinationDomain, seenBy other: CoordinationDomain) throws {
    let coordinator = FileCoordinator(label: "delegate", domain: domain)
    for _ in 0..<1_000 {
      if try other.processes().contains(where: { !$0.delegatedPaths.isEmpty }) { return }
      for _ in 0..<4 { try coordinator.blocking.write(file) { _ in } }
    }
    Issue.record("nothing is delegated")
  }

  @Test(
    "C-193: A presenter that's registered at the end of a read under a delegation is asked by another process's writer that waits already"
  )
  func delegated() async throws {
    try await withTemporaryDirectory { root in
      try await withTemporaryDirectory { place in
        let domains = (0..<2).map { _ in CoordinationDomain.socket(place.path + "/s") }
        let (domain, other, file) = (domains[0], domains[1], root.appending(path: "f"))
        try await onThread { try obtainDelegation(file, domain, seenBy: other) }
        let presenter = WritePresenter(file)
        let writer = Guarded<Task<Void, any Error>?>(nil)
        let isEnded = Guarded(false)
        let item = try domain.resolve(file)
        let registration = try await FileCoordinator(label: "reader", domain: domain).read(item, registering: presenter) {
          _ in
          writer.withLock {
            $0 = Task.detached {
              try await FileCoordinator(label: "writer", domain: other).write(file) { _ in isEnded.withLock { $0 = true } }
            }
          }
          try await other.waitUntil { $0.accesses.contains { !$0.isGranted } }
          #expect(!isEnded.withLock { $0 })
          return true
        }
        try await writer.withLock { $0 }?.value
        #expect(presenter.writerCount.withLock { $0 } == 1)
        registration?.end()
        #expect(try await other.snapshot().accesses.isEmpty)
      }
    }
  }
}
