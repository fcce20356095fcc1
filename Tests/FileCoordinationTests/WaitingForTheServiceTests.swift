import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Glibc
import SystemInterface
import TestSupport
import Testing

/// A service that takes connections and sends nothing, like a service that's stopped.
@Suite("Waiting for a service that doesn't answer", .timeLimit(.minutes(4)))
struct WaitingForTheServiceTests {
  /// Work that waits for a service, in more tasks than the cooperative pool has threads.
  ///
  /// Expects that another task runs meanwhile, and that all end well with the next service.
  private static func runMany(
    _ work: @escaping @Sendable (CoordinationDomain, URL) async throws -> Void
  ) async throws {
    let place = URL(filePath: "/tmp/mute-service-\(getpid())", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: place) }
    let socket = place.appending(path: "s").path
    let listener = try LocalListener(binding: LocalAddress(SystemPath(socket)))
    let domain = CoordinationDomain.socket(socket)
    let endedCount = Guarded(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      let taskCount = 2 * HostThread.usableProcessorCount + 2
      for index in 0..<taskCount {
        group.addTask {
          defer { endedCount.withLock { $0 += 1 } }
          try await work(domain, place.appending(path: "\(index)"))
        }
      }
      // Each turn goes behind the tasks that are ready by then, so all tasks have begun to wait.
      for _ in 0..<taskCount { await Task.detached {}.value }
      precondition(endedCount.withLock { $0 } == 0, "no other task ran while these waited")
      listener.close(removingName: true)
      try await group.waitForAll()
    }
  }

  /// In a process of its own, whose cooperative pool does nothing else.
  @Test("Registering a presenter keeps no thread of the cooperative pool")
  func registering() async {
    await #expect(processExitsWith: .success) {
      try await WaitingForTheServiceTests.runMany { domain, url in
        let presenter = RecordingPresenter(url, label: url.lastPathComponent)
        let registration = try await domain.register(presenter)
        registration.end()
      }
    }
  }

  @Test("Announcing attributes keeps no thread of the cooperative pool")
  func announcing() async {
    await #expect(processExitsWith: .success) {
      try await WaitingForTheServiceTests.runMany { domain, url in
        let coordinator = FileCoordinator(label: "announcer", domain: domain)
        try await coordinator.item(at: url, didChangeUbiquityAttributes: ["a"])
      }
    }
  }

  @Test("Validating an access and announcing its moves suspend", arguments: [false, true])
  func withinAccesses(isDomainOfOne: Bool) async throws {
    try await withTemporaryDirectory { place in
      let socket = place.appending(path: "s").path
      let domain = isDomainOfOne ? CoordinationDomain() : .socket(socket)
      let (old, new) = (place.appending(path: "a"), place.appending(path: "b"))
      let presenter = RecordingPresenter(old, label: "P", callbacks: .itemDidMove)
      let registration = try await domain.register(presenter)
      try await FileCoordinator(label: "mover", domain: domain).write(
        old, options: .forMoving, and: new, secondOptions: .forReplacing
      ) { source, _ in
        let isCommitted = try await source.commit { () async throws in
          await Task.yield()
          return true
        }
        #expect(isCommitted)
        try await source.didMove(to: new)
      }
      try await presenter.wait(for: .itemDidMove)
      #expect(presenter.presentedItemURL?.lastPathComponent == "b")
      registration.end()
    }
  }
}
