import FileCoordination
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Conformance under Apple's names: messages", .blocking, .timeLimit(.minutes(4)))
struct MessageConformanceTests {
  @Test("C-032, C-063, C-195: The accessor waits for all answers of all presenters, which are asked at once")
  func allAnswers() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenters = (0..<3).map { _ in MeetingPresenter(url) }
      let meeting = Meeting(count: presenters.count)
      for presenter in presenters { presenter.meeting = meeting }
      for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
      defer { for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) } }
      var heard: [[String]] = []
      #expect(Access.read.run(url) { _ in heard = presenters.map(\.journal.entries) } == nil)
      #expect(heard == Array(repeating: ["save begins", "save ends"], count: 3))
    }
  }

  @Test("C-038: If saving fails, the accessor doesn't run, and the error is the presenter's")
  func failingSave() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = RefusingPresenter(url)
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      let error = Access.read.run(url) { _ in Issue.record("read") }
      #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == .fileWriteOutOfSpace)
      #expect(Access.read(.withoutChanges).run(url) == nil)
    }
  }

  @Test(
    "C-036, C-037, C-040: A presenter that doesn't save or relinquish isn't waited for; a nil reacquirer is accepted")
  func partly() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (silent, saver) = (NilPresenter(url), TwoFormPresenter(url))
      box.presenting(silent, saver) {
        for _ in 1...2 { #expect(Access.read.run(url) == nil) }
      }
      #expect(silent.journal.entries == ["relinquish to reader", "relinquish to reader"])
      #expect(saver.journal.entries == ["save by handler", "save by handler"])
    }
  }

  @Test("C-033: Reading a file in packages asks presenters of the file and of each package around it, and no others")
  func nestedPackages() throws {
    try withSandbox { box in
      let url = try box.write("d/o.pkg/p/k.pkg/a")
      func presenters(_ paths: String...) -> [HandlerPresenter] { paths.map { HandlerPresenter(box.url($0)) } }
      let asked = presenters("d/o.pkg/p/k.pkg/a", "d/o.pkg/p/k.pkg", "d/o.pkg")
      let others = presenters("d", "d/o.pkg/p", "d/o.pkg/p/k.pkg/b", "d/o.pkg/c")
      for presenter in asked + others { NSFileCoordinator.addFilePresenter(presenter) }
      defer { for presenter in asked + others { NSFileCoordinator.removeFilePresenter(presenter) } }
      var heard: [[String]] = []
      #expect(Access.read.run(url) { _ in heard = (asked + others).map(\.journal.entries) } == nil)
      let questions = Array(repeating: ["relinquish to reader", "save"], count: asked.count)
      #expect(heard == questions + Array(repeating: [], count: others.count))
    }
  }

  @Test("C-165: A presenter that has let go and then fails to save gets its reacquirer, once")
  func reacquirerAfterFailure() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let other = HandlerPresenter(url)
      let presenter = LendingPresenter(url, beside: other)
      box.presenting(presenter, other) {
        let error = Access.read.run(url) { _ in Issue.record("read") }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == .fileWriteOutOfSpace)
        #expect(presenter.journal.wait(for: "reacquire"))
        #expect(other.journal.wait(for: "reacquire"))
      }
      #expect(presenter.journal.entries == ["relinquish to reader", "save", "reacquire"])
      // Whether this one was asked to save before the other failed is open.
      #expect(other.journal.entries.filter { $0 != "save" } == ["relinquish to reader", "reacquire"])
    }
  }

  @Test("C-034, C-039, C-041: After a read each reacquirer runs once, and nobody hears of a change")
  func afterReading() throws {
    try withSandbox { box in
      let url = try box.write("d/f")
      let (item, directory) = (HandlerPresenter(url), HandlerPresenter(box.url("d")))
      box.presenting(item, directory) { Access.read.run(url) }
      #expect(item.journal.entries == ["relinquish to reader", "save", "reacquire"])
      #expect(directory.journal.entries.isEmpty)
    }
  }

  @Test(
    "C-053 to C-055: After a write the change comes before the reacquirer, and directories hear however deep it was")
  func afterWriting() throws {
    try withSandbox { box in
      let url = try box.write("d/x/y/f")
      let (item, directory, top) = (
        HandlerPresenter(url), HandlerPresenter(box.url("d/x/y")), HandlerPresenter(box.url("d"))
      )
      box.presenting(item, directory, top) { Access.write.run(url) { _ = try? Data("new".utf8).write(to: $0) } }
      #expect(item.journal.entries == ["relinquish to writer", "changed", "reacquire"])
      #expect(directory.journal.entries == ["f changed"])
      #expect(top.journal.entries == ["f changed"])
    }
  }

  @Test("C-058, C-064: A directory without subitem methods is notified of none; its other methods don't matter")
  func substitutes() throws {
    try withSandbox { box in
      let url = try box.write("d/f")
      let (directory, item) = (ChangePresenter(box.url("d")), ChangePresenter(url))
      box.presenting(directory, item) { for _ in 1...2 { Access.write.run(url) } }
      #expect(directory.journal.entries.isEmpty)
      #expect(item.journal.entries == ["changed", "changed"])
    }
  }

  @Test("C-060, C-061: A new item appears, and that's all")
  func appearing() throws {
    try withSandbox { box in
      _ = try box.write("d/f")
      let directory = HandlerPresenter(box.url("d"))
      box.presenting(directory) { Access.write.run(box.url("d/new")) { _ = try? Data().write(to: $0) } }
      #expect(directory.journal.entries == ["new appeared"])
    }
  }

  @Test("C-062: An access may return before its news were heard")
  func news() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = ChangePresenter(url)
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      // The class is tried once for the methods that it hasn't implemented.
      Access.write.run(url)
      #expect(presenter.journal.wait(for: "changed"))
      presenter.queue.isSuspended = true
      Access.write.run(url)
      #expect(presenter.journal.entries == ["changed"])
      presenter.queue.isSuspended = false
      #expect(presenter.journal.wait(for: "changed", count: 2))
    }
  }

  @Test(
    "C-110, C-111: The own presenter hears nothing of its accesses, and others everything", arguments: [true, false])
  func own(deletes: Bool) throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (own, other) = (HandlerPresenter(url), HandlerPresenter(url))
      box.presenting(own, other) {
        let coordinator = NSFileCoordinator(filePresenter: own)
        Access.read.run(by: coordinator, url)
        Access.write(deletes ? .forDeleting : []).run(by: coordinator, url)
      }
      #expect(own.journal.entries.isEmpty)
      let asked = ["relinquish to reader", "save", "reacquire", "relinquish to writer"]
      #expect(
        other.journal.entries == asked + [deletes ? "deletion" : "changed"] + (deletes ? ["changed"] : []) + [
          "reacquire"
        ])
    }
  }

  @Test("C-115: Two coordinators of one presenter may write at once")
  func ownOverlap() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = QuietPresenter(url)
      let shared = SharedCoordinator(NSFileCoordinator(filePresenter: presenter))
      let journal = Journal()
      Access.write.run(by: NSFileCoordinator(filePresenter: presenter), url) { _ in
        let worker = Worker { Access.write.run(by: shared.value, url) { _ in journal.note("inside") } }
        #expect(journal.wait(for: "inside") && worker.join())
      }
    }
  }

  @Test("C-183, C-196: Messages come in order, and once though the presenter was added twice")
  func order() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url)
      NSFileCoordinator.addFilePresenter(presenter)
      box.presenting(presenter) { for _ in 1...3 { Access.write.run(url) } }
      let once = ["relinquish to writer", "changed", "reacquire"]
      #expect(presenter.journal.entries == once + once + once)
    }
  }

  @Test("C-191: After removeFilePresenter nothing new comes")
  func removed() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (gone, witness) = (HandlerPresenter(url), HandlerPresenter(url))
      box.presenting(gone, witness) {
        NSFileCoordinator.removeFilePresenter(gone)
        Access.write.run(url)
      }
      #expect(gone.journal.entries.isEmpty && witness.journal.entries.count == 3)
    }
  }

  @Test("C-193: A presenter that's added in a read misses no write")
  func addedInside() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (presenter, journal) = (HandlerPresenter(url), Journal())
      var worker: Worker?
      Access.read.run(url) { _ in
        worker = box.waiter(.write, "f", journal)
        NSFileCoordinator.addFilePresenter(presenter)
      }
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      #expect(worker?.join() == true)
      #expect(presenter.journal.wait(for: "reacquire"))
      #expect(presenter.journal.entries == ["relinquish to writer", "changed", "reacquire"])
    }
  }
}

/// Lets threads go on when all have come.
private final class Meeting: @unchecked Sendable {
  private let condition = NSCondition()
  private var missing: Int

  init(count: Int) { missing = count }

  func arrive() {
    let end = Date(timeIntervalSinceNow: patience)
    condition.withLock {
      missing -= 1
      condition.broadcast()
      while missing > 0, condition.wait(until: end) {}
    }
  }
}

/// Saves when all others save.
private final class MeetingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  var meeting: Meeting?

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("save begins")
    meeting?.arrive()
    note("save ends")
    completionHandler(nil)
  }
}

private final class RefusingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func savePresentedItemChanges() async throws { throw CocoaError(.fileWriteOutOfSpace) }
}

/// Lets go, and can't save once another has been asked to let go.
private final class LendingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  private let neighbour: JournalPresenter

  init(_ url: URL, beside neighbour: JournalPresenter) {
    self.neighbour = neighbour
    super.init(url)
  }

  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("relinquish to reader")
    reader { [self] in note("reacquire") }
  }
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    neighbour.journal.wait(for: "relinquish to reader")
    note("save")
    completionHandler(CocoaError(.fileWriteOutOfSpace))
  }
}

private final class NilPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("relinquish to reader")
    reader(nil)
  }
}

private final class ChangePresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidChange() { note("changed") }
}
