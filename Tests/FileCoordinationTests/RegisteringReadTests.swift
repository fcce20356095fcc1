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

  /// Called once, when the arbiter's registration is prepared.
  private let act: Guarded<(@Sendable () -> Void)?>

  init(_ url: URL, act: (@Sendable () -> Void)? = nil) {
    self.url = url
    self.act = Guarded(act)
  }

  var presentedItemURL: URL? { url }
  var presentedItemCallbacks: FilePresenterCallbacks {
    act.withLock { $0.take() }?()
    return [.relinquishToWriter]
  }

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
    "C-193: A presenter that's registered at the end of a read under a delegation is asked by another process's writer",
    arguments: [true, false])
  func delegated(waitsAlready: Bool) async throws {
    try await withTemporaryDirectory { root in
      try await withTemporaryDirectory { place in
        let domains = (0..<2).map { _ in CoordinationDomain.socket(place.path + "/s") }
        let (domain, other, file) = (domains[0], domains[1], root.appending(path: "f"))
        try await onThread { try obtainDelegation(file, domain, seenBy: other) }
        let presenter = WritePresenter(file)
        let writer = Guarded<Task<Void, any Error>?>(nil)
        let isWritten = Guarded(false)
        @Sendable func beginWriting() {
          let task = Task.detached {
            let coordinator = FileCoordinator(label: "writer", domain: other)
            try await coordinator.write(file) { _ in isWritten.withLock { $0 = true } }
          }
          writer.withLock { $0 = task }
        }
        let item = try domain.resolve(file)
        let reader = FileCoordinator(label: "reader", domain: domain)
        let registration = try await reader.read(item, registering: presenter) { _ in
          if !waitsAlready { return true }
          beginWriting()
          try await other.waitUntil { $0.accesses.contains { !$0.isGranted } }
          #expect(!isWritten.withLock { $0 })
          return true
        }
        if !waitsAlready { beginWriting() }
        try await writer.withLock { $0 }?.value
        #expect(presenter.writerCount.withLock { $0 } == 1)
        registration?.end()
        #expect(try await other.snapshot().accesses.isEmpty)
      }
    }
  }

  @Test(
    "C-193: A writer that comes between the read and the step that registers waits for that step, and asks the presenter"
  )
  func betweenReadAndStep() async throws {
    try await withTemporaryDirectory { root in
      // Its clock goes by itself.
      let (domain, file) = (CoordinationDomain(), root.appending(path: "f"))
      let item = try domain.resolve(file)
      let writer = FileCoordinator(
        label: "writer", domain: domain, deadlines: AccessDeadlines(waitingForAccesses: .milliseconds(20)))
      let codes = Guarded<[FileCoordinationError.Code?]>([])
      let presenter = WritePresenter(file) {
        let code: FileCoordinationError.Code?
        do {
          try writer.blocking.write(item) { _ in }
          code = nil
        } catch { code = (error as? FileCoordinationError)?.code }
        codes.withLock { $0.append(code) }
      }
      let registration = try await FileCoordinator(label: "reader", domain: domain).read(item, registering: presenter) {
        _ in true
      }
      #expect(codes.withLock { $0 } == [.timedOut])
      #expect(registration != nil && presenter.writerCount.withLock { $0 } == 0)
      try await FileCoordinator(label: "later", domain: domain).write(item) { _ in }
      #expect(presenter.writerCount.withLock { $0 } == 1)
      registration?.end()
      #expect(try await domain.snapshot().accesses.isEmpty)
    }
  }

  @Test(
    "C-132, C-193: Two reads that would both end with a registration are a deadlock if both upgrade; the other one registers"
  )
  func upgrades() async throws {
    try await withSandbox { box in
      let (domain, file) = (box.domain, try box.write("d/f"))
      let item = try domain.resolve(file)
      let bothRead = TestGate()
      let (errors, registrations) = (ErrorList(), Guarded<[FilePresenterRegistration]>([]))
      let presenters = [WritePresenter(file), WritePresenter(file)]
      await withTaskGroup(of: Void.self) { group in
        for presenter in presenters {
          group.addTask {
            let coordinator = box.coordinator("reader")
            do {
              let registration = try await coordinator.read(item, registering: presenter) { _ in
                try await bothRead.pass()
                try await coordinator.write(item) { _ in box.timeline.note("written") }
                return true
              }
              registrations.withLock { $0 += registration.map { [$0] } ?? [] }
            } catch { errors.append(error) }
          }
        }
        try? await bothRead.waitForArrival(count: 2)
        bothRead.open()
      }
      #expect(errors.errors.map(\.code) == [.deadlock])
      #expect(box.events == ["written"])
      #expect(domain.presenters.count == 1 && registrations.withLock { $0.count } == 1)
      try await box.coordinator("writer").write(item) { _ in }
      #expect(presenters.reduce(0) { $0 + $1.writerCount.withLock { $0 } } == 1)
      for registration in registrations.withLock({ $0 }) { registration.end() }
      #expect(try await domain.snapshot().accesses.isEmpty)
    }
  }

  @Test("C-193, C-196: A read ends once though its presenter is registered already, or its task is cancelled meanwhile")
  func endsOnce() async throws {
    try await withSandbox { box in
      let (domain, file) = (box.domain, try box.write("d/f"))
      let item = try domain.resolve(file)
      let presenter = WritePresenter(file)
      let reader = box.coordinator("reader")
      let first = try await domain.register(presenter)
      let second = try await reader.read(item, registering: presenter) { _ in true }
      #expect(second != nil && domain.presenters.count == 1)
      first.end()
      second?.end()
      let cancelled = try await Task {
        try await reader.read(item, registering: presenter) { _ in
          withUnsafeCurrentTask { unsafe $0?.cancel() }
          return true
        }
      }.value
      #expect(domain.presenters.count == 1)
      let writer = box.coordinator("writer")
      try await writer.write(item) { _ in }
      #expect(presenter.writerCount.withLock { $0 } == 1)
      cancelled?.end()
      #expect(domain.presenters.isEmpty)
      #expect(try await domain.snapshot().accesses.isEmpty)
    }
  }
}
