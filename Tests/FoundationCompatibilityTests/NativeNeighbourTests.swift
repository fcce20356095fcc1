import FileCoordination
import FileCoordinationTesting
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

/// A file that one of the two names holds while the other asks for it.
struct NeighbourRow: Sendable, CustomTestStringConvertible {
  let held: Access
  let asked: Access
  let holder: CoordinatorKind

  var waits: Bool {
    if case .read = held, case .read = asked { return false }
    return true
  }

  var testDescription: String { "\(holder) holds to \(held), the other asks to \(asked)" }

  static let all: [NeighbourRow] = CoordinatorKind.allCases.flatMap { holder in
    [(Access.read, Access.read), (.read, .write), (.write, .read), (.write, .write)].map {
      NeighbourRow(held: $0, asked: $1, holder: holder)
    }
  }
}

/// The names with which an access is made: the package's own or Apple's.
enum CoordinatorKind: Sendable, CaseIterable {
  case native
  case apple

  var other: Self { self == .native ? .apple : .native }

  func access(_ access: Access, _ url: URL, _ body: () -> Void = {}) throws {
    switch self {
    case .apple:
      if let error = access.run(url, { _ in body() }) { throw error }
    case .native:
      let coordinator = FileCoordinator(label: "native", domain: Sandbox.domain)
      switch access {
      case .read: try coordinator.blocking.read(url) { _ in body() }
      case .write: try coordinator.blocking.write(url) { _ in body() }
      }
    }
  }
}

@Suite("N-9: Native coordinators and presenters beside those with Apple's names", .blocking, .timeLimit(.minutes(4)))
struct NativeNeighbourTests {
  @Test("Each neighbour waits for the holder of the file as for one of its own kind", arguments: NeighbourRow.all)
  func exclusion(_ row: NeighbourRow) throws {
    // holder  [--------]
    // other     a····[--]      // a = asks; of two readers neither waits
    try withSandbox { box in
      let url = try box.write("f")
      let journal = Journal()
      var worker: Worker?
      try row.holder.access(row.held, url) {
        worker = Worker {
          do {
            try row.holder.other.access(row.asked, url) { journal.note("other") }
          } catch { journal.note("\(error)") }
        }
        if row.waits { box.awaitWait(for: url) } else { #expect(journal.wait(for: "other")) }
        journal.note("holder")
      }
      #expect(worker?.join() == true)
      #expect(journal.entries == (row.waits ? ["holder", "other"] : ["other", "holder"]))
    }
  }

  @Test("An access is asked of, and told to, presenters of both kinds alike", arguments: CoordinatorKind.allCases)
  func messages(kind: CoordinatorKind) throws {
    try withSandbox { box in
      let url = try box.write("f")
      let native = NativeNeighbour(url)
      let registration = try Sandbox.domain.register(native)
      defer { registration.end() }
      let apple = HandlerPresenter(url)
      try box.presenting(apple) {
        try kind.access(.read, url) {
          #expect(native.journal.entries == ["relinquish to reader", "save"])
          #expect(apple.journal.entries == ["relinquish to reader", "save"])
        }
        try kind.access(.write, url) {
          #expect((try? Data("new".utf8).write(to: url)) != nil)
        }
      }
      let expected = [
        "relinquish to reader", "save", "reacquire", "relinquish to writer", "changed", "reacquire",
      ]
      #expect(native.journal.entries == expected)
      #expect(apple.journal.entries == expected)
    }
  }

  @Test("A refusal by a presenter of one kind is the error of an access of the other kind")
  func refusals() throws {
    try withSandbox { box in
      let url = try box.write("f")
      do {
        let native = NativeNeighbour(url, error: CocoaError(.fileWriteOutOfSpace))
        let registration = try Sandbox.domain.register(native)
        defer { registration.end() }
        let error = Access.read.run(url) { _ in Issue.record("read") }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == .fileWriteOutOfSpace)
      }
      let apple = RefusingNeighbour(url)
      NSFileCoordinator.addFilePresenter(apple)
      defer { NSFileCoordinator.removeFilePresenter(apple) }
      let error = #expect(throws: FileCoordinationError.self) {
        try CoordinatorKind.native.access(.read, url) { Issue.record("read") }
      }
      #expect(error?.code == .presenterFailed)
      #expect((error?.underlyingError as? CocoaError)?.code == .fileWriteOutOfSpace)
    }
  }
}

/// A presenter of the native coordinator.
private final class NativeNeighbour: FilePresenter {
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks = [.relinquish, .saveChanges, .itemDidChange]
  let journal = Journal()
  private let error: CocoaError?

  init(_ url: URL, error: CocoaError? = nil) {
    presentedItemURL = url
    self.error = error
  }

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
    journal.note("relinquish to reader")
    return { [journal] in journal.note("reacquire") }
  }
  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
    journal.note("relinquish to writer")
    return { [journal] in journal.note("reacquire") }
  }
  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    journal.note("save")
    if let error { throw error }
  }
  func presentedItemDidChange(origin: AccessOrigin) async { journal.note("changed") }
}

private final class RefusingNeighbour: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    completionHandler(CocoaError(.fileWriteOutOfSpace))
  }
}
