import FileCoordination
import FileCoordinationTesting
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Conformance under Apple's names: writes in answer to messages", .blocking, .timeLimit(.minutes(4)))
struct SavePriorityConformanceTests {
  @Test("C-120: A write that's tied to nobody passes when it's made in the save callback itself")
  func lineage() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = LineageSavingPresenter(url)
      box.presenting(presenter) {
        var text: String?
        #expect(Access.read.run(url) { text = try? box.text($0) } == nil)
        #expect(text == "new")
      }
      // The writer is a stranger to the presenter, which therefore was asked while its own callback waited.
      #expect(presenter.journal.entries == ["save", "relinquish to writer", "saved"])
    }
  }

  @Test("C-120: Made on another thread it waits, and the reader's deadline ends the wait and names both")
  func unrelatedWrite() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = StrangerSavingPresenter(url)
      box.presenting(presenter) {
        let native = refusal(url)
        #expect(native?.code == .presenterUnresponsive)
        #expect(native?.blockers.map(\.label) == ["StrangerSavingPresenter", "NSFileCoordinator"])
        #expect(native?.description.contains("savePresentedItemChanges") == true)
        // Now the stranger asks the presenter, whose method has returned, although its save waits for the stranger.
        #expect(presenter.journal.wait(for: "saved"))
      }
    }
  }

  /// The error of a read that isn't granted.
  ///
  /// On a slow machine a deadline may end before the stranger waits; then a longer one follows, up to a minute.
  private func refusal(_ url: URL) -> FileCoordinationError? {
    var native: FileCoordinationError?
    for seconds in [2, 10, 60] where native?.blockers.count != 2 {
      let reader = NSFileCoordinator()
      reader.deadlines = AccessDeadlines(waitingForAnswers: .seconds(seconds))
      let error = Access.read.run(by: reader, url) { _ in Issue.record("read") }
      native = error?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError
    }
    return native
  }

  @Test(
    "A reader gets what two documents save on other queues before they call the completion handler",
    arguments: [true, false])
  func documents(relinquish: Bool) throws {
    try withSandbox { box in
      let url = try box.write("f")
      let meeting = DocumentMeeting(count: 2)
      let documents = ["P", "Q"].map { label -> any SavingElsewhere & NSFilePresenter in
        relinquish ? RelinquishingDocument(url, label, meeting) : Document(url, label, meeting)
      }
      for document in documents { NSFileCoordinator.addFilePresenter(document) }
      var text: String?
      let reader = NSFileCoordinator()
      reader.deadlines = .never
      #expect(Access.read.run(by: reader, url) { text = try? box.text($0) } == nil)
      #expect(text.map { Set($0.suffix(2)) } == ["P", "Q"])
      for document in documents { NSFileCoordinator.removeFilePresenter(document) }
      #expect(documents.map { $0.journal.entries } == [["saved"], ["saved"]])
    }
  }

  @Test("A presenter whose save has returned is asked by others before it calls the completion handler")
  func returned() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = UnhurriedPresenter(url)
      box.presenting(presenter) {
        let journal = Journal()
        let reader = box.worker(.read, "f", journal)
        #expect(presenter.journal.wait(for: "save"))
        #expect(Access.read(.withoutChanges).run(url) == nil)
        #expect(journal.entries.isEmpty)
        presenter.answer()
        #expect(reader.join())
        #expect(journal.entries == ["f"])
      }
      #expect(presenter.journal.entries == ["to reader", "save", "to reader"])
    }
  }

  @Test("C-123: While a presenter writes in answer to save, the item's other presenters let go for that write too")
  func others() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (saving, other) = (OwnSavingPresenter(url), RelinquishingPresenter(url))
      box.presenting(saving, other) { #expect(Access.read.run(url) == nil) }
      #expect(saving.journal.entries == ["save", "saved"])
      #expect(other.journal.entries.sorted() == ["to reader", "to writer"])
    }
  }

  @Test("C-184: A presenter that takes its time over a change delays its later letting go, and thereby the access")
  func slowPresenter() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = SlowPresenter(url)
      let journal = Journal()
      box.presenting(presenter) {
        #expect(Access.write.run(url) == nil)
        #expect(presenter.journal.wait(for: "changed"))
        let reader = box.worker(.read, "f", journal)
        let path = url.path
        box.awaitState { snapshot in
          snapshot.accesses.contains { access in
            access.party.kind == .askingAccess && access.party.items.contains { $0.path == path }
          }
        }
        #expect(journal.entries.isEmpty)
        #expect(presenter.journal.entries == ["changed"])
        presenter.mayGoOn.signal()
        #expect(reader.join())
      }
      #expect(journal.entries == ["f"])
      #expect(presenter.journal.entries == ["changed", "seen", "relinquish to reader"])
    }
  }
}

extension JournalPresenter {
  /// Writes the presented item, and notes that or why not.
  fileprivate func save(by coordinator: NSFileCoordinator) -> NSError? {
    guard let url = presentedItemURL else { return nil }
    let error = Access.write.run(by: coordinator, url) { url in
      try? Data("new".utf8).write(to: url)
      journal.note("saved")
    }
    if let native = error?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError {
      journal.note(native.code.name)
    }
    return error
  }
}

private final class LineageSavingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("relinquish to writer")
    writer(nil)
  }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("save")
    completionHandler(save(by: NSFileCoordinator()))
  }
}

private final class StrangerSavingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  // Otherwise the reader goes on at its deadline, when the queue hasn't run the first save of this class until then.
  var writtenCallbacks: FilePresenterCallbacks? { [.relinquishToWriter, .saveChanges] }

  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) { writer(nil) }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    _ = Worker { [self] in
      let stranger = NSFileCoordinator()
      completionHandler(save(by: stranger))
    }
  }
}

/// Lets documents go on when all of them have been asked.
private final class DocumentMeeting: @unchecked Sendable {
  private let condition = NSCondition()
  private var missing: Int

  init(count: Int) { missing = count }

  func pass() {
    condition.withLock {
      missing -= 1
      if missing <= 0 { condition.broadcast() }
      while missing > 0 { condition.wait() }
    }
  }
}

/// Saves on another thread, and calls the completion handler then.
private class SavingElsewhere: JournalPresenter, @unchecked Sendable {
  private let label: String
  private let meeting: DocumentMeeting

  init(_ url: URL, _ label: String, _ meeting: DocumentMeeting) {
    self.label = label
    self.meeting = meeting
    super.init(url)
  }

  func save(by coordinator: NSFileCoordinator, _ completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    coordinator.deadlines = .never
    let coordinator = SharedCoordinator(coordinator)
    _ = Worker { [self] in
      meeting.pass()
      guard let url = presentedItemURL else { return completionHandler(nil) }
      let error = Access.write.run(by: coordinator.value, url) { url in
        let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        try? Data((text + label).utf8).write(to: url)
      }
      journal.note(error.map { "\($0)" } ?? "saved")
      completionHandler(error)
    }
  }
}

private final class Document: SavingElsewhere, NSFilePresenter, @unchecked Sendable {
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    save(by: NSFileCoordinator(filePresenter: self), completionHandler)
  }
}

private final class RelinquishingDocument: SavingElsewhere, NSFilePresenter, @unchecked Sendable {
  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) { reader(nil) }
  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) { writer(nil) }
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    save(by: NSFileCoordinator(filePresenter: self), completionHandler)
  }
}

/// Answers at the request of the test.
private final class UnhurriedPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  private let lock = NSLock()
  private var completionHandler: (@Sendable ((any Error)?) -> Void)?

  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("to reader")
    reader(nil)
  }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    lock.withLock { self.completionHandler = completionHandler }
    note("save")
  }

  func answer() { lock.withLock { completionHandler.take() }?(nil) }
}

private final class OwnSavingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("save")
    completionHandler(save(by: NSFileCoordinator(filePresenter: self)))
  }
}

private final class RelinquishingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("to reader")
    reader(nil)
  }

  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("to writer")
    writer(nil)
  }
}

private final class SlowPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  let mayGoOn = DispatchSemaphore(value: 0)

  // Otherwise a reader waits a second for the queue, and then goes on.
  var writtenCallbacks: FilePresenterCallbacks? { [.relinquishToReader, .itemDidChange] }

  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("relinquish to reader")
    reader(nil)
  }

  func presentedItemDidChange() {
    note("changed")
    _ = mayGoOn.wait(timeout: .now() + patience)
    note("seen")
  }
}
