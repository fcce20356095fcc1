import FileCoordination
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Lives of Apple's presenters", .blocking, .timeLimit(.minutes(4)))
struct PresenterLifetimeTests {
  @Test("N-7: A presenter may remove itself in deinit, or never, or twice", arguments: [0, 1, 2])
  func removal(count: Int) throws {
    try withSandbox { box in
      let url = try box.write("f")
      do {
        let presenter = LeavingPresenter(url, removals: count)
        NSFileCoordinator.addFilePresenter(presenter)
        NSFileCoordinator.addFilePresenter(presenter)
        #expect(NSFileCoordinator.filePresenters.count { $0 === presenter } == 1)
      }
      #expect(!NSFileCoordinator.filePresenters.contains { $0.presentedItemURL == url })
      var reads = 0
      for _ in 1...2 { NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in reads += 1 } }
      #expect(reads == 2)
      Sandbox.domain.awaitNoPresenter(of: url, box)
    }
  }

  @Test("N-7: Registrations of presenters that never removed themselves don't pile up")
  func crowd() throws {
    try withSandbox { box in
      let url = try box.write("crowd")
      for _ in 0..<2000 { NSFileCoordinator.addFilePresenter(QuietPresenter(url)) }
      let path = url.path
      let presented = try Sandbox.domain.snapshot().presenters.map(\.path)
      #expect(presented.count { $0 == path } < 1000)
    }
  }

  @Test("N-7: A coordinator may be made for a presenter in its deinit")
  func coordinatorInDeinit() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let journal = Journal()
      do {
        let presenter = SavingAtTheEnd(url, journal)
        NSFileCoordinator.addFilePresenter(presenter)
        NSFileCoordinator(filePresenter: presenter).coordinate(readingItemAt: url, error: nil) { _ in }
      }
      #expect(journal.entries == ["written"])
    }
  }

  @Test("C-082, C-192: A presenter may remove itself while it's asked, and its answer isn't waited for")
  func removalWhileAsked() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = ClosingPresenter(url)
      NSFileCoordinator.addFilePresenter(presenter)
      var deletions = 0
      NSFileCoordinator().coordinate(writingItemAt: url, options: .forDeleting, error: nil) { _ in deletions += 1 }
      #expect(deletions == 1)
      #expect(presenter.journal.entries == ["deletion"])
    }
  }

  @Test("C-186: A handler that's dropped fails the access; one that's kept is waited for until the deadline")
  func unanswered() throws {
    try withSandbox { box in
      let url = try box.write("f")
      for keeps in [false, true] {
        let presenter = SilentPresenter(url, keeps: keeps)
        NSFileCoordinator.addFilePresenter(presenter)
        defer { NSFileCoordinator.removeFilePresenter(presenter) }
        let coordinator = NSFileCoordinator()
        if keeps { coordinator.deadlines = .within(.milliseconds(20)) }
        var error: NSError?
        coordinator.coordinate(readingItemAt: url, error: &error) { _ in Issue.record("read") }
        let native = error?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError
        #expect(native?.code == (keeps ? .presenterUnresponsive : .answerDropped))
      }
    }
  }

  @Test("C-141, C-187: Inside a batch, and in accesses inside it, the coordinator says who didn't answer")
  func passedOver() throws {
    try withSandbox { box in
      let (url, other) = (try box.write("f"), try box.write("g"))
      let presenter = SilentPresenter(url, keeps: true)
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      let (batch, reader) = (NSFileCoordinator(), NSFileCoordinator())
      batch.deadlines = AccessDeadlines(waitingForAnswers: .milliseconds(250), lateAnswers: .proceed)
      var names: [[String]] = []
      var error: NSError?
      batch.prepare(forReadingItemsAt: [url, other], writingItemsAt: [], error: &error) { completion in
        names.append(batch.unansweredPresenters)
        for url in [url, other] {
          reader.coordinate(readingItemAt: url, options: .withoutChanges, error: nil) { _ in
            names.append(reader.unansweredPresenters)
          }
        }
        completion()
      }
      #expect(error == nil)
      let late = ["SilentPresenter (savePresentedItemChanges)"]
      // On a machine with too much to do, why it didn't answer is said behind a colon: its queue didn't begin.
      #expect(names.map { $0.map { $0.prefix { $0 != ":" } } } == [late.map { $0[...] }, late.map { $0[...] }, []])
      #expect(batch.unansweredPresenters == [])
    }
  }

  @Test("C-165: A reacquirer runs on the presenter's queue although the presenter has gone meanwhile")
  func reacquirerOfTheGone() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (journal, queue) = (Journal(), serialQueue())
      var presenter: LendingPresenter? = LendingPresenter(url, queue, journal)
      NSFileCoordinator.addFilePresenter(try #require(presenter))
      NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in presenter = nil }
      #expect(journal.wait(for: "reacquired"))
      #expect(presenter == nil)
    }
  }

  @Test("A URL that names no file is reported, and its presenter is listed and harms nobody")
  func impossibleURL() throws {
    try withSandbox { box in
      let presenter = WebPresenter(URL(string: "https://example.com"))
      NSFileCoordinator.addFilePresenter(presenter)
      #expect(Sandbox.misuse.entries.count { $0.contains("WebPresenter") } == 1)
      #expect(NSFileCoordinator.filePresenters.contains { $0 === presenter })
      NSFileCoordinator.removeFilePresenter(presenter)
      #expect(!NSFileCoordinator.filePresenters.contains { $0 === presenter })
    }
  }

  @Test("C-102: A move that no access covers is reported and not announced")
  func strayMove() throws {
    try withSandbox { box in
      let coordinator = NSFileCoordinator()
      coordinator.item(at: box.url("stray"), willMoveTo: box.url("other"))
      coordinator.item(at: box.url("stray"), didMoveTo: box.url("other"))
      #expect(Sandbox.misuse.entries.count { $0.contains("stray") } == 1)
    }
  }
}

extension CoordinationDomain {
  /// Blocks until nobody presents an item any more.
  fileprivate func awaitNoPresenter(of url: URL, _ box: Sandbox) {
    let path = url.path
    box.awaitState { !$0.presenters.contains { $0.path == path } }
  }
}

private final class LeavingPresenter: NSObject, NSFilePresenter {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()
  private let removals: Int

  init(_ url: URL, removals: Int) {
    presentedItemURL = url
    self.removals = removals
  }

  deinit { for _ in 0..<removals { NSFileCoordinator.removeFilePresenter(self) } }
}

private final class SavingAtTheEnd: NSObject, NSFilePresenter {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = serialQueue()
  private let journal: Journal

  init(_ url: URL, _ journal: Journal) {
    presentedItemURL = url
    self.journal = journal
  }

  deinit {
    if let url = presentedItemURL {
      NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: url, error: nil) { _ in
        journal.note("written")
      }
    }
    NSFileCoordinator.removeFilePresenter(self)
  }
}

private final class ClosingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  private let lock = NSLock()
  private var kept: (@Sendable ((any Error)?) -> Void)?

  func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("deletion")
    lock.withLock { kept = completionHandler }
    NSFileCoordinator.removeFilePresenter(self)
  }
}

private final class SilentPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  private let keeps: Bool
  private let lock = NSLock()
  private var kept: (@Sendable ((any Error)?) -> Void)?

  init(_ url: URL, keeps: Bool) {
    self.keeps = keeps
    super.init(url)
  }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    if keeps { lock.withLock { kept = completionHandler } }
  }
}

private final class LendingPresenter: NSObject, NSFilePresenter {
  let presentedItemURL: URL?
  let presentedItemOperationQueue: OperationQueue
  private let journal: Journal

  init(_ url: URL, _ queue: OperationQueue, _ journal: Journal) {
    presentedItemURL = url
    presentedItemOperationQueue = queue
    self.journal = journal
  }

  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    reader { [journal, queue = presentedItemOperationQueue] in
      journal.note(OperationQueue.current === queue ? "reacquired" : "reacquired elsewhere")
    }
  }
}

private final class WebPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {}
