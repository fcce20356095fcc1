import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Synchronization
import Testing

/// A presenter that agrees to eviction by ending its registration, or doesn't.
private final class Tenant: FilePresenter {
  let presentedItemURL: URL?
  let leaves: Bool
  let error: TestFailure?
  let registration = Mutex<FilePresenterRegistration?>(nil)
  var presentedItemCallbacks: FilePresenterCallbacks { .accommodateEviction }

  init(_ url: URL, leaves: Bool, error: TestFailure? = nil) {
    presentedItemURL = url
    self.leaves = leaves
    self.error = error
  }

  func accommodatePresentedItemEviction(origin: AccessOrigin) async throws {
    #expect(origin.kind == .evicting)
    if leaves { registration.withLock { $0 }?.end() }
    if let error { throw error }
  }
}

@Suite("Eviction", .timeLimit(.minutes(4)), .betweenProcesses)
struct EvictionTests {
  @Test("C-209: Eviction proceeds if the presenter removes itself, and is refused if not", arguments: [true, false])
  func tenant(leaves: Bool) async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let tenant = Tenant(url, leaves: leaves)
      let registration = try await box.domain(of: tenant).register(tenant)
      tenant.registration.withLock { $0 = registration }
      var code: FileCoordinationError.Code?
      do {
        let exists = try await box.coordinator("provider").evict(url) { $0.exists }
        #expect(exists)
      } catch let error as FileCoordinationError {
        code = error.code
      }
      #expect(code == (leaves ? nil : .evictionRefused))
    }
  }

  @Test("C-209: A presenter that ends its registration and then throws keeps the contents")
  func errorAfterLeaving() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let tenant = Tenant(url, leaves: true, error: TestFailure())
      let registration = try await box.domain(of: tenant).register(tenant)
      tenant.registration.withLock { $0 = registration }
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.coordinator("provider").evict(url) { _ in Issue.record("evicted") }
      }
      #expect(error?.code == .presenterFailed)
      #expect(error?.underlyingError.map { "\($0)" } == "\(TestFailure())")
    }
  }

  @Test("C-208: Eviction of an item whose presenter lacks the eviction callback fails, and says what to do")
  func missingCallback() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = RecordingPresenter(url, callbacks: .observing)
      try box.register(presenter)
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.coordinator("provider").evict(url) { _ in Issue.record("evicted") }
      }
      #expect(error?.code == .evictionRefused)
      #expect(error?.message.contains("accommodatePresentedItemEviction") == true)
    }
  }
}
