import FileCoordination
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Apple's presenters", .blocking, .timeLimit(.minutes(4)))
struct PresenterTests {
  @Test("N-6: A presenter with completion handlers gets each message once, on its queue; answering twice counts once")
  func handlers() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url)
      presenting(presenter) {
        NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in presenter.journal.note("read") }
        #expect(presenter.journal.wait(for: "reacquire"))
        NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ in presenter.journal.note("write") }
        #expect(presenter.journal.wait(for: "reacquire", count: 2))
        NSFileCoordinator().coordinate(writingItemAt: url, options: .forDeleting, error: nil) { url in
          presenter.journal.note("delete")
          try? FileManager.default.removeItem(at: url)
        }
        #expect(presenter.journal.wait(for: "reacquire", count: 3))
      }
      #expect(
        presenter.journal.entries == [
          "relinquish to reader", "save", "read", "reacquire", "relinquish to writer", "write", "changed", "reacquire",
          "relinquish to writer", "deletion", "delete", "reacquire",
        ])
    }
  }

  @Test("N-6: A presenter with async methods gets each message once, and what it throws reaches the caller")
  func asyncMethods() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = AsyncPresenter(url)
      presenting(presenter) {
        for _ in 1...2 {
          NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in presenter.journal.note("read") }
        }
        var error: NSError?
        NSFileCoordinator().coordinate(writingItemAt: url, options: .forDeleting, error: &error) { _ in
          Issue.record("deleted")
        }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == .fileWriteNoPermission)
      }
      #expect(presenter.journal.entries == ["save", "read", "save", "read", "deletion"])
    }
  }

  @Test("N-6: Of a presenter with both forms, the one with the handler is called, once for each message")
  func bothForms() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = TwoFormPresenter(url)
      presenting(presenter) {
        for _ in 1...3 { NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in } }
      }
      #expect(presenter.journal.entries == ["save by handler", "save by handler", "save by handler"])
    }
  }

  @Test("N-6: A class that wrote nothing is tried once for each kind of message, and then nobody waits for its queue")
  func nothingWritten() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let queue = serialQueue()
      let presenter = EmptyPresenter(url, queue)
      var count = 0
      presenting(presenter) {
        NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in count += 1 }
        NSFileCoordinator().coordinate(writingItemAt: url, options: .forDeleting, error: nil) { _ in count += 1 }
        // Notifications without a method in the class may come now, and stay in the queue.
        queue.isSuspended = true
        NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in count += 1 }
        NSFileCoordinator().coordinate(writingItemAt: url, options: .forDeleting, error: nil) { _ in count += 1 }
        queue.isSuspended = false
      }
      #expect(count == 4)
      box.awaitState { !$0.presenters.contains { $0.label == "EmptyPresenter" } }
      let callbacks = try presenting(presenter, snapshotOf: "EmptyPresenter")
      #expect(callbacks?.intersection([.relinquish, .saveChanges, .accommodateDeletion]).rawValue == 0)
    }
  }

  @Test(
    "N-6: A class that wrote nothing, and whose queue is blocked at the first message, fails nobody, however short the deadline"
  )
  func nothingWrittenAndBlocked() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let queue = serialQueue()
      presenting(BlockedPresenter(url, queue)) {
        let coordinator = NSFileCoordinator()
        coordinator.deadlines = .within(.milliseconds(20))
        queue.isSuspended = true
        var unanswered: [String] = []
        #expect(Access.read.run(by: coordinator, url) { _ in unanswered = coordinator.unansweredPresenters } == nil)
        #expect(unanswered.count == 2 && unanswered.allSatisfy { $0.hasPrefix("BlockedPresenter (") })
        queue.isSuspended = false
        #expect(Access.read.run(url) == nil)
        // Now the package has determined that of the class.
        queue.isSuspended = true
        #expect(Access.read.run(url) == nil)
        queue.isSuspended = false
      }
    }
  }

  @Test("C-060, C-092, C-203 to C-206: A directory's presenter hears of what's inside, of versions and attributes")
  func news() async throws {
    try await withSandbox { box in
      let file = try box.write("d/f")
      let (directory, item) = (HandlerPresenter(box.url("d")), HandlerPresenter(file))
      NSFileCoordinator.addFilePresenter(directory)
      NSFileCoordinator.addFilePresenter(item)
      defer {
        NSFileCoordinator.removeFilePresenter(directory)
        NSFileCoordinator.removeFilePresenter(item)
      }
      let mover = NSFileCoordinator()
      let new = box.url("d/new")
      mover.coordinate(writingItemAt: new, error: nil) { _ = try? Data().write(to: $0) }
      #expect(directory.journal.wait(for: "new appeared"))
      let moved = box.url("d/moved")
      mover.coordinate(
        writingItemAt: file, options: .forMoving, writingItemAt: moved, options: .forReplacing, error: nil
      ) {
        mover.item(at: $0, willMoveTo: $1)
        try? FileManager.default.moveItem(at: $0, to: $1)
        mover.item(at: $0, didMoveTo: $1)
      }
      #expect(directory.journal.wait(for: "f moved to moved"))
      #expect(item.journal.wait(for: "moved to moved"))
      let keys: Set<URLResourceKey> = [.ubiquitousItemIsUploadedKey, .ubiquitousItemIsUploadingKey]
      mover.item(at: moved, didChangeUbiquityAttributes: keys)
      #expect(item.journal.wait(for: "attributes 2"))
      let native = FileCoordinator(label: "versions", domain: Sandbox.domain)
      try await native.write(moved) { access in
        access.didChangeVersion(.gained, version: "one")
        access.didChangeVersion(.resolved, version: "two")
        access.didChangeVersion(.lost, version: "three")
      }
      for line in ["gained one", "resolved two", "lost three"] {
        #expect(item.journal.wait(for: line))
        #expect(directory.journal.wait(for: "moved \(line)"))
      }
    }
  }

  @Test("C-056, C-057: A package without subitem methods is told that it changed, also before its class is known")
  func packages() throws {
    try withSandbox { box in
      let inside = try box.write("k.pkg/a")
      for round in 1...2 {
        let presenter = PackagePresenter(box.url("k.pkg"))
        let observer = HandlerPresenter(box.url("k.pkg"))
        presenting(presenter, observer) {
          NSFileCoordinator().coordinate(writingItemAt: inside, error: nil) { _ = try? Data("x".utf8).write(to: $0) }
          #expect(presenter.journal.wait(for: "changed"), "round \(round)")
          #expect(observer.journal.wait(for: "a changed"))
          #expect(observer.journal.count(of: "changed") == 0)
        }
        #expect(presenter.journal.entries == ["changed"])
      }
    }
  }

  @Test("C-208, C-209: A class that hasn't written the eviction method refuses it, before and after that's known")
  func evictions() async throws {
    try await withSandbox { box in
      let url = try box.write("f")
      let native = FileCoordinator(label: "provider", domain: Sandbox.domain)
      for _ in 1...2 {
        let presenter = EvictionlessPresenter(url)
        NSFileCoordinator.addFilePresenter(presenter)
        defer { NSFileCoordinator.removeFilePresenter(presenter) }
        for _ in 1...2 {
          await #expect(throws: FileCoordinationError.self) {
            try await native.evict(url) { _ in Issue.record("evicted") }
          }
        }
      }
      let (first, second) = (HandlerPresenter(url), AsyncPresenter(url))
      NSFileCoordinator.addFilePresenter(first)
      NSFileCoordinator.addFilePresenter(second)
      #expect(try await native.evict(url) { $0.exists })
      #expect(first.journal.count(of: "eviction") == 1)
      #expect(second.journal.entries.contains("eviction"))
      #expect(!NSFileCoordinator.filePresenters.contains { $0 === first || $0 === second })
    }
  }

  @Test(
    "C-110, C-119: The own presenter isn't asked, and its own write goes ahead of the reader that waits for its save")
  func savePriority() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = SavingPresenter(url)
      presenting(presenter) {
        var text: String?
        NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { text = try? box.text($0) }
        #expect(text == "saved")
      }
      #expect(presenter.journal.entries == ["save", "saved"])
    }
  }

  @Test("C-121, C-122: A presenter without a URL gets messages once its own access has given it one")
  func lateLocation() throws {
    try withSandbox { box in
      let url = box.url("untitled")
      let presenter = HandlerPresenter(nil)
      presenting(presenter) {
        NSFileCoordinator(filePresenter: presenter).coordinate(writingItemAt: url, options: .forReplacing, error: nil) {
          _ = try? Data("text".utf8).write(to: $0)
          presenter.presentedItemURL = $0
        }
        NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in }
        #expect(presenter.journal.wait(for: "reacquire"))
      }
      #expect(presenter.journal.entries == ["relinquish to reader", "save", "reacquire"])
    }
  }

  private func presenting(_ presenter: any NSFilePresenter, snapshotOf label: String) throws -> FilePresenterCallbacks?
  {
    NSFileCoordinator.addFilePresenter(presenter)
    defer { NSFileCoordinator.removeFilePresenter(presenter) }
    return try Sandbox.domain.snapshot().presenters.first { $0.label == label }?.callbacks
  }

  private func presenting(_ presenters: any NSFilePresenter..., body: () -> Void) {
    for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
    body()
    for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) }
  }
}

/// Has implemented nothing; used by one test, which begins when the package has determined nothing of the class.
private final class EmptyPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {}

/// Has implemented nothing; used by one test, too.
private final class BlockedPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {}

private final class EvictionlessPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {}

private final class PackagePresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidChange() { note("changed") }
}

/// Saves by an access of its own, as documents do.
private final class SavingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("save")
    guard let url = presentedItemURL else { return completionHandler(nil) }
    var error: NSError?
    NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: url, error: &error) { url in
      try? Data("saved".utf8).write(to: url)
      note("saved")
    }
    completionHandler(error)
  }
}
