import FileCoordination
import FileCoordinationTesting
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Conformance under Apple's names: registration and location", .blocking, .timeLimit(.minutes(4)))
struct RegistrationConformanceTests {
  @Test("C-182: URL and queue of a presenter are read on any thread, also when its queue is stuck and it accesses")
  func readAnywhere() throws {
    try withSandbox { box in
      let url = box.url("untitled")
      let presenter = StayingPresenter(nil)
      presenter.queue.isSuspended = true
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      let shared = SharedCoordinator(NSFileCoordinator(filePresenter: presenter))
      let worker = Worker {
        let error = Access.write(.forReplacing).run(by: shared.value, url) { url in
          #expect((try? Data().write(to: url)) != nil)
          presenter.presentedItemURL = url
          // Other threads may read the list as well.
          #expect(NSFileCoordinator.filePresenters.contains { $0.presentedItemURL == url })
        }
        #expect(error == nil)
      }
      #expect(worker.join())
      // Its present place is recorded, although nothing could run on its queue.
      let presented = try Sandbox.domain.snapshot().presenters.map(\.path)
      #expect(presented.contains(url.path))
      #expect(presenter.queue.operationCount == 0)
      presenter.queue.isSuspended = false
      #expect(Access.read.run(url) == nil)
      #expect(presenter.journal.entries == ["save"])
    }
  }

  @Test("C-190: filePresenters lists presenters in the order in which they were added, once each")
  func order() throws {
    try withSandbox { box in
      let presenters = ["a", "b", "c"].map { HandlerPresenter(box.url($0)) }
      func listed() -> [String] {
        NSFileCoordinator.filePresenters.compactMap { candidate in
          presenters.first { $0 === candidate }?.presentedItemURL?.lastPathComponent
        }
      }
      #expect(listed().isEmpty)
      for presenter in presenters.reversed() { NSFileCoordinator.addFilePresenter(presenter) }
      #expect(listed() == ["c", "b", "a"])
      NSFileCoordinator.addFilePresenter(presenters[2])
      #expect(listed() == ["c", "b", "a"])
      NSFileCoordinator.removeFilePresenter(presenters[2])
      #expect(listed() == ["b", "a"])
      NSFileCoordinator.addFilePresenter(presenters[2])
      #expect(listed() == ["b", "a", "c"])
      for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) }
      #expect(listed().isEmpty)
    }
  }

  @Test("C-194: A presenter that's added during a write isn't asked about it any more, and hears what happened")
  func addedOutside() throws {
    // writer     [------]
    // presenter     +      // added by another thread
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      let error = Access.write.run(url) { url in
        #expect(Worker { NSFileCoordinator.addFilePresenter(presenter) }.join())
        #expect((try? Data("new".utf8).write(to: url)) != nil)
      }
      #expect(error == nil)
      #expect(presenter.journal.wait(for: "changed"))
      box.quiesce()
      #expect(presenter.journal.entries == ["changed"])
    }
  }

  @Test("C-197: The URL of a presenter isn't read again for later accesses")
  func locatedOnce() throws {
    try withSandbox { box in
      let (url, elsewhere) = (try box.write("f"), try box.write("elsewhere"))
      let presenter = HandlerPresenter(url)
      box.presenting(presenter) {
        presenter.presentedItemURL = elsewhere
        Access.write.run(elsewhere)
        Access.write.run(url)
      }
      #expect(presenter.journal.entries == ["relinquish to writer", "changed", "reacquire"])
    }
  }

  @Test("C-197: Moves are tracked, also of presenters that go on naming the place where the item was")
  func moved() throws {
    try withSandbox { box in
      _ = try box.write("d/f")
      let presenter = StayingPresenter(box.url("d/f"))
      box.presenting(presenter) {
        box.move("d", to: "e")
        #expect(Access.read.run(box.url("d/f")) == nil)
        #expect(presenter.journal.entries.isEmpty)
        #expect(Access.read.run(box.url("e/f")) == nil)
      }
      #expect(presenter.presentedItemURL == box.url("d/f"))
      #expect(presenter.journal.entries == ["save"])
    }
  }
}

@Suite("Conformance under Apple's names: evictions", .blocking, .timeLimit(.minutes(4)))
struct EvictionConformanceTests {
  @Test(
    "C-209: An error of any presenter vetoes an eviction, also of one that has removed itself",
    arguments: [true, false], [true, false])
  func veto(isAsynchronous: Bool, leaves: Bool) async throws {
    try await withSandbox { box in
      let url = try box.write("f")
      let agreeing = [HandlerPresenter(url), HandlerPresenter(url)]
      let refusing: any NSFilePresenter =
        isAsynchronous
        ? AsyncRefusingTenant(url, leaves: leaves) : HandlerRefusingTenant(url, leaves: leaves)
      let presenters: [any NSFilePresenter] = [agreeing[0], refusing, agreeing[1]]
      for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
      defer { for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) } }
      let provider = FileCoordinator(label: "provider", domain: Sandbox.domain)
      let error = await #expect(throws: FileCoordinationError.self) {
        try await provider.evict(url) { _ in Issue.record("evicted") }
      }
      #expect(error?.code == .presenterFailed)
      #expect((error?.underlyingError as? CocoaError)?.code == .fileWriteOutOfSpace)
      #expect(try box.text(url) == "old")
    }
  }
}

/// Saves, and takes no notice of moves.
private final class StayingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("save")
    completionHandler(nil)
  }
}

private class RefusingTenant: JournalPresenter, @unchecked Sendable {
  let leaves: Bool

  init(_ url: URL, leaves: Bool) {
    self.leaves = leaves
    super.init(url)
  }
}

private final class HandlerRefusingTenant: RefusingTenant, NSFilePresenter, @unchecked Sendable {
  func accommodatePresentedItemEviction(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    if leaves { NSFileCoordinator.removeFilePresenter(self) }
    completionHandler(CocoaError(.fileWriteOutOfSpace))
  }
}

private final class AsyncRefusingTenant: RefusingTenant, NSFilePresenter, @unchecked Sendable {
  func accommodatePresentedItemEviction() async throws {
    if leaves { NSFileCoordinator.removeFilePresenter(self) }
    throw CocoaError(.fileWriteOutOfSpace)
  }
}
