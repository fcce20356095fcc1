import FileCoordination
import FileCoordinationTesting
import FileVersions
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

/// Notes the writers that ask it.
private final class WritePresenter: FilePresenter {
  let url: URL
  let writerCount = Guarded(0)

  init(_ url: URL) { self.url = url }

  var presentedItemURL: URL? { url }
  var presentedItemCallbacks: FilePresenterCallbacks { [.relinquishToWriter] }

  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
    writerCount.withLock { $0 += 1 }
    return nil
  }
}

private struct Refusal: Error {}

@Suite("Opening a document without company", .timeLimit(.minutes(4)))
struct OpeningWithoutStepsTests {
  @Test("T-80, CD-04: An open without company is no access of the arbiter")
  func noAccess() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      let before = fixture.domain.knownAccessCount
      try await document.open()
      #expect(fixture.domain.knownAccessCount == before)
      #expect(fixture.domain.presenters.count == 1)
      try await document.close()
      #expect(fixture.domain.knownAccessCount == before)
      #expect(fixture.domain.presenters.isEmpty)
    }
  }

  @Test(
    "C-193: A presenter that's registered at the end of a read is asked by the next writer, also by one that waits already"
  )
  func registering() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let item = try fixture.domain.resolve(fixture.file)
      let presenter = WritePresenter(fixture.file)
      let registration = try await fixture.other.read(item, registering: presenter) { _ in true }
      #expect(registration != nil)
      try await fixture.other.write(fixture.file) { _ in }
      #expect(presenter.writerCount.withLock { $0 } == 1)
      registration?.end()

      let late = WritePresenter(fixture.file)
      let writer = Guarded<Task<Void, any Error>?>(nil)
      let other = try await fixture.other.read(item, registering: late) { _ in
        writer.withLock { $0 = Task.detached { try await fixture.other.write(fixture.file) { _ in } } }
        try await fixture.domain.waitUntil { $0.accesses.contains { !$0.isGranted } }
        return true
      }
      try await writer.withLock { $0 }?.value
      #expect(late.writerCount.withLock { $0 } == 1)
      other?.end()
      #expect(try await fixture.domain.snapshot().accesses.isEmpty)
    }
  }

  @Test(
    "C-193: A read after which no presenter is to be registered, or that fails, leaves neither an access nor a presenter"
  )
  func notRegistering() async throws {
    try await withFixture { fixture in
      let item = try fixture.domain.resolve(fixture.file)
      let presenter = WritePresenter(fixture.file)
      #expect(try await fixture.other.read(item, registering: presenter) { _ in false } == nil)
      await #expect(throws: Refusal.self) {
        try await fixture.other.read(item, registering: presenter) { _ in throw Refusal() }
      }
      #expect(fixture.domain.presenters.isEmpty)
      try await fixture.other.write(fixture.file) { _ in }
      #expect(try await fixture.domain.snapshot().accesses.isEmpty)
    }
  }

  @Test(
    "C-193: In a domain of several processes, and with a party that's interested, the presenter is registered inside the access"
  )
  func company() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let shared = CoordinationDomain.socket(fixture.url("s").path)
      for domain in [fixture.domain, shared] {
        let (first, second) = (WritePresenter(fixture.file), WritePresenter(fixture.file))
        let held = try await domain.register(first)
        let coordinator = FileCoordinator(label: "another", domain: domain)
        let item = try domain.resolve(fixture.file)
        let registration = try await coordinator.read(item, registering: second) { _ in true }
        try await coordinator.write(fixture.file) { _ in }
        #expect(first.writerCount.withLock { $0 } == 1 && second.writerCount.withLock { $0 } == 1)
        registration?.end()
        held.end()
        #expect(try await domain.snapshot().accesses.isEmpty)
      }
    }
  }

  /// A fixture with a file system in which searches stand still until they're released.
  private func withHeldSearch(_ body: (Fixture, _ release: @Sendable () -> Void) async throws -> Void) async throws {
    let searches = DispatchSemaphore(value: 0)
    let isHeld = Guarded(true)
    let files = ScriptedFileSystem { made in
      if made.call == .readDirectory, isHeld.withLock({ $0 }) { searches.wait() }
      return .proceed
    }
    let release: @Sendable () -> Void = {
      isHeld.withLock { $0 = false }
      searches.signal()
    }
    try await withFixture(files) { try await body($0, release) }
  }

  @Test("CD-14: A close waits for the search for leftovers that the open has begun, however long it takes")
  func slowSearch() async throws {
    try await withHeldSearch { fixture, release in
      let leftover = try fixture.leaveLeftover("left")
      // It returns while the search stands still.
      let document = try await fixture.open()
      #expect(await document.contents == "old")
      let closing = Task { try await document.close() }
      while await document.core.calls.isEmpty { await Task.yield() }
      #expect(await document.core.isSearchAwaited)
      release()
      _ = try await closing.value
      #expect(!fixture.exists(leftover))
      #expect(try await fixture.versionTexts() == ["left"])
    }
  }

  @Test("CD-14: Calls whose deadlines pass, or that are cancelled, end while the search stands still")
  func deadlinesDuringSearch() async throws {
    try await withHeldSearch { fixture, release in
      let document = try await fixture.open()
      try await document.edit { $0 = "new" }
      for isSaving in [true, false] {
        let call = Task { if isSaving { try await document.save() } else { try await document.close() } }
        while await document.core.calls.isEmpty { await Task.yield() }
        call.cancel()
        let error = await #expect(throws: DocumentError.self) { try await call.value }
        #expect(error?.code == .cancelled)
      }
      let closing = Task { try await document.close(within: .seconds(1)) }
      while await document.core.calls.isEmpty { await Task.yield() }
      fixture.clock.advance(by: .seconds(2))
      let error = await #expect(throws: DocumentError.self) { try await closing.value }
      #expect(error?.code == .timedOut)
      #expect(await document.core.isSearching)
      release()
      try await document.close()
      #expect(try fixture.text() == "new")
    }
  }

  @Test("CD-14: Unsaved contents are written before leftovers are dealt with that were found, and these before a close")
  func savingFirst() throws {
    var core = DocumentCore(autosave: .never, hasMerge: false)
    _ = core.receive(.called(CallID(1), .open), at: .zero)
    _ = core.receive(.completed(.doneSearching), at: .zero)
    _ = core.receive(.edited(.done, size: 1), at: .zero)
    let calling = core.receive(.called(CallID(2), .close(isDiscarding: false)), at: .zero)
    #expect(calling.contains(.awaitSearch) && core.running == nil)
    try #require(core.receive(.searchEnded(hasFound: true), at: .zero).contains(.begin(.write, for: nil)))
    let written = core.receive(.completed(.done), at: .zero)
    try #require(written.contains(.begin(.listConflicts, for: nil)) && !written.contains(.unpresent))
    #expect(core.receive(.completed(.conflicts(false)), at: .zero).contains(.unpresent))
  }

  @Test(
    "CD-14: A document that's let go of without a close is gone, and so is its presenter, also while its search stands still",
    arguments: [false, true])
  func lettingGo(isSearching: Bool) async throws {
    try await withHeldSearch { fixture, release in
      weak var former: FileDocument<String>?
      do {
        let document = try await fixture.open()
        former = document
        if !isSearching {
          release()
          while await document.search?.hasFound == nil { await Task.yield() }
        }
      }
      // The thread of the operation still has it for a moment.
      while former != nil { await Task.yield() }
      while !fixture.domain.presenters.isEmpty { await Task.yield() }
      let another = FileDocument(fixture.file, as: .text, options: fixture.options())
      try await another.open()
      #expect(fixture.domain.presenters.count == 1)
      if isSearching {
        // One of them each.
        release()
        release()
      }
      try await another.close()
      #expect(fixture.domain.presenters.isEmpty)
    }
  }

  @Test("CD-14: A save that a writer asks for gets through to a document that has found leftovers")
  func writerDuringSearch() async throws {
    try await withHeldSearch { fixture, release in
      let leftover = try fixture.leaveLeftover("left")
      let document = try await fixture.open()
      try await document.edit { $0 = "new" }
      let writer = Task {
        try await fixture.other.write(fixture.file, options: .forMerging) { _ in
          let text = try fixture.text()
          try fixture.write(text + "er")
          return text
        }
      }
      while await document.core.questions.isEmpty { await Task.yield() }
      #expect(await document.core.isSearchAwaited)
      release()
      #expect(try await writer.value == "new")
      try await document.waitForContents("newer")
      try await document.close()
      #expect(!fixture.exists(leftover))
    }
  }

  @Test("CD-23: A conflict of a file that was moved during the search is in the state, whenever the news of that comes")
  func movedDuringSearch() async throws {
    try await withHeldSearch { fixture, release in
      try fixture.write("old")
      // In a domain whose searches go on.
      _ = try await Fixture(fixture.root).versions.addVersion(of: fixture.file, isConflict: true)
      var options = fixture.options()
      options.observesUncoordinatedChanges = true
      let document = FileDocument(fixture.file, as: .text, options: options)
      try await document.open()
      try FileManager.default.moveItem(at: fixture.file, to: fixture.url("moved.txt"))
      release()
      try await document.waitUntil { $0.state.conditions == .inConflict && $0.url == fixture.url("moved.txt") }
      try await document.close()
    }
  }

  @Test(
    "A search that ends soon is waited for, one that doesn't notifies the document; nobody is notified of one in vain")
  func searches() {
    let nothing = DocumentSearch { false }
    #expect(nothing.hasFound == nil)
    #expect(!nothing.run() && nothing.hasFound == false && nothing.expectEnd())
    let something = DocumentSearch { true }
    #expect(something.run() && something.hasFound == true)
    let late = DocumentSearch { false }
    #expect(!late.expectEnd() && late.run())
    // It holds the document as long as it runs.
    weak var held: WritePresenter?
    func makeSearch() -> DocumentSearch {
      let presenter = WritePresenter(URL(filePath: "/"))
      held = presenter
      return DocumentSearch { presenter.writerCount.withLock { $0 } > 0 }
    }
    let holding = makeSearch()
    #expect(held != nil && !holding.run() && held == nil)
  }
}
