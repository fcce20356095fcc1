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
        let reader = NSFileCoordinator()
        reader.deadlines = AccessDeadlines(waitingForAnswers: .seconds(2))
        let error = Access.read.run(by: reader, url) { _ in Issue.record("read") }
        let native = error?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError
        #expect(native?.code == .presenterUnresponsive)
        #expect(native?.blockers.map(\.label) == ["StrangerSavingPresenter", "NSFileCoordinator"])
        #expect(native?.description.contains("savePresentedItemChanges") == true)
        // Now the stranger asks the presenter, which can't answer while its save waits for the stranger: its deadline ends that.
        #expect(presenter.journal.wait(for: "presenterUnresponsive"))
      }
      #expect(presenter.journal.count(of: "saved") == 0)
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
      journal.note(native.code.rawValue)
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
  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) { writer(nil) }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    _ = Worker { [self] in
      let stranger = NSFileCoordinator()
      stranger.deadlines = AccessDeadlines(waitingForAnswers: .milliseconds(20))
      completionHandler(save(by: stranger))
    }
  }
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
