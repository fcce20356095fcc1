import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Synchronization
import Testing

/// A presenter that agrees to eviction by ending its registration, or doesn't.
private final class Tenant: FilePresenter {
  let presentedItemURL: URL?
  let leaves: Bool
  let registration = Mutex<FilePresenterRegistration?>(nil)
  var presentedItemCallbacks: FilePresenterCallbacks { .accommodateEviction }

  init(_ url: URL, leaves: Bool) {
    presentedItemURL = url
    self.leaves = leaves
  }

  func accommodatePresentedItemEviction(origin: AccessOrigin) async throws {
    #expect(origin.kind == .evicting)
    if leaves { registration.withLock { $0 }?.end() }
  }
}

@Suite("8.12 Eviction", .timeLimit(.minutes(1)))
struct EvictionTests {
  @Test("C-209: Eviction proceeds if the presenter removes itself, and is refused if not", arguments: [true, false])
  func tenant(leaves: Bool) async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let tenant = Tenant(url, leaves: leaves)
      let registration = try box.domain.register(tenant)
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
