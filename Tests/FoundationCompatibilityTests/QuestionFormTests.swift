import FileCoordination
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

/// Which forms of the methods that can be answered a class has written.
enum QuestionForm: Sendable, CaseIterable {
  case handlers
  case asynchronous
  case both

  func presenter(_ url: URL) -> any JournalPresenter & NSFilePresenter {
    switch self {
    case .handlers: HandlerPresenter(url)
    case .asynchronous: AgreeingPresenter(url)
    case .both: BothFormsPresenter(url)
    }
  }

  /// A question as it's noted by the form that must have been called.
  func line(_ question: String) -> String {
    switch self {
    case .handlers: question
    case .asynchronous: "\(question) by async"
    case .both: "\(question) by handler"
    }
  }
}

@Suite("N-6: The forms of what presenters are asked", .blocking, .timeLimit(.minutes(4)))
struct QuestionFormTests {
  /// The package hasn't determined the methods of a class the first time, and has the second.
  private let rounds = 1...2

  @Test(
    "A presenter that has written either form is asked once for each access, in that form",
    arguments: QuestionForm.allCases)
  func item(form: QuestionForm) throws {
    try withSandbox { box in
      let url = try box.write("f")
      for round in rounds {
        let presenter = form.presenter(url)
        box.presenting(presenter) {
          #expect(Access.read.run(url) == nil)
          #expect(Access.write.run(url) == nil)
          #expect(Access.write(.forDeleting).run(url) == nil)
        }
        let relinquished = ["relinquish to reader", "relinquish to writer", "relinquish to writer"]
        #expect(questions(presenter, about: "relinquish") == relinquished, "round \(round)")
        #expect(questions(presenter, about: "save") == [form.line("save")], "round \(round)")
        #expect(questions(presenter, about: "deletion") == [form.line("deletion")], "round \(round)")
      }
    }
  }

  @Test("The presenter of a package is asked once about what's deleted inside it", arguments: QuestionForm.allCases)
  func subitem(form: QuestionForm) throws {
    try withSandbox { box in
      let inside = try box.write("k.pkg/d/f")
      for round in rounds {
        let presenter = form.presenter(box.url("k.pkg"))
        var isAsked = false
        box.presenting(presenter) {
          let error = Access.write(.forDeleting).run(inside) { _ in
            isAsked = questions(presenter, about: "deletion") == [form.line("deletion of f")]
          }
          #expect(error == nil && isAsked, "round \(round)")
        }
        #expect(questions(presenter, about: "relinquish") == ["relinquish to writer"], "round \(round)")
        #expect(questions(presenter, about: "deletion") == [form.line("deletion of f")], "round \(round)")
      }
    }
  }

  @Test("A presenter is asked once about an eviction, which it lets happen", arguments: QuestionForm.allCases)
  func eviction(form: QuestionForm) async throws {
    try await withSandbox { box in
      let url = try box.write("f")
      let provider = FileCoordinator(label: "provider", domain: Sandbox.domain)
      for round in rounds {
        let presenter = form.presenter(url)
        NSFileCoordinator.addFilePresenter(presenter)
        #expect(try await provider.evict(url) { $0.exists })
        #expect(questions(presenter, about: "eviction") == [form.line("eviction")], "round \(round)")
        #expect(!NSFileCoordinator.filePresenters.contains { $0 === presenter })
      }
    }
  }

  private func questions(_ presenter: any JournalPresenter & NSFilePresenter, about what: String) -> [String] {
    presenter.journal.entries.filter { $0.hasPrefix(what) }
  }
}

/// Has written the `async` form of each question that has one, and agrees to everything.
private final class AgreeingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("relinquish to reader")
    reader(nil)
  }
  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("relinquish to writer")
    writer(nil)
  }
  func savePresentedItemChanges() async throws { journal.note("save by async") }
  func accommodatePresentedItemDeletion() async throws { journal.note("deletion by async") }
  func accommodatePresentedSubitemDeletion(at url: URL) async throws {
    journal.note("deletion of \(url.lastPathComponent) by async")
  }
  func accommodatePresentedItemEviction() async throws {
    journal.note("eviction by async")
    NSFileCoordinator.removeFilePresenter(self)
  }
}

/// Has written both forms of everything.
private final class BothFormsPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("relinquish to reader")
    reader(nil)
  }
  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("relinquish to writer")
    writer(nil)
  }
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("save by handler")
    completionHandler(nil)
  }
  func savePresentedItemChanges() async throws { journal.note("save by async") }
  func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("deletion by handler")
    completionHandler(nil)
  }
  func accommodatePresentedItemDeletion() async throws { journal.note("deletion by async") }
  func accommodatePresentedSubitemDeletion(
    at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    note("deletion of \(url.lastPathComponent) by handler")
    completionHandler(nil)
  }
  func accommodatePresentedSubitemDeletion(at url: URL) async throws {
    journal.note("deletion of \(url.lastPathComponent) by async")
  }
  func accommodatePresentedItemEviction(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("eviction by handler")
    NSFileCoordinator.removeFilePresenter(self)
    completionHandler(nil)
  }
  func accommodatePresentedItemEviction() async throws { journal.note("eviction by async") }
}
