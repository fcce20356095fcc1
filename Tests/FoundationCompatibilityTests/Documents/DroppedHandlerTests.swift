import FileCoordinationTesting
import FileDocuments
import Foundation
import SystemInterface
import Testing

@testable import FoundationCompatibility

/// A class with overrides that forget the handlers of calls.
private final class ForgetfulNote: NoteDocument {
  var forgets = true

  private func pass(_ handler: ((Bool) -> Void)?, to call: (((Bool) -> Void)?) -> Void) {
    if !forgets { call(handler) }
  }

  override func open(completionHandler: ((Bool) -> Void)? = nil) {
    pass(completionHandler) { super.open(completionHandler: $0) }
  }

  override func close(completionHandler: ((Bool) -> Void)? = nil) {
    pass(completionHandler) { super.close(completionHandler: $0) }
  }

  override func revert(toContentsOf url: URL, completionHandler: ((Bool) -> Void)? = nil) {
    pass(completionHandler) { super.revert(toContentsOf: url, completionHandler: $0) }
  }

  override func save(
    to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil
  ) {
    pass(completionHandler) { super.save(to: url, for: saveOperation, completionHandler: $0) }
  }
}

/// Saves, and forgets the handler.
private final class SavingForgetfulNote: NoteDocument {
  override func save(
    to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil
  ) {
    super.save(to: url, for: saveOperation) { [weak self] _ in self?.occurred("saved") }
  }
}

/// Saves, and keeps the handler until it's asked to save again.
private final class LateNote: NoteDocument {
  private var kept: [((Bool) -> Void)?] = []
  private(set) var askCount = 0

  override func save(
    to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil
  ) {
    askCount += 1
    // The end of the last save arrives while this one is pending.
    kept = []
    if askCount < 3 { kept = [completionHandler] }
    super.save(to: url, for: saveOperation, completionHandler: askCount < 3 ? nil : completionHandler)
  }
}

/// Keeps the handlers of saves, and doesn't save.
private final class HoardingNote: NoteDocument {
  var hoards = true
  private(set) var kept: [(Bool) -> Void] = []

  override func save(
    to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil
  ) {
    if !hoards { return super.save(to: url, for: saveOperation, completionHandler: completionHandler) }
    if let completionHandler { kept.append(completionHandler) }
  }
}

/// Calls its handlers twice.
private final class EagerNote: NoteDocument {
  override func save(
    to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil
  ) {
    super.save(to: url, for: saveOperation) { isDone in
      completionHandler?(isDone)
      completionHandler?(!isDone)
    }
  }
}

@Suite("UIDocument, completion handlers that a class forgets", .timeLimit(.minutes(8)))
@MainActor struct DroppedHandlerTests {
  init() { _ = Sandbox.versionStore }

  private func isReported(_ type: UIDocument.Type, _ method: String) -> Bool {
    Sandbox.misuse.entries.contains { $0.contains("'\(type).\(method)' was dropped") }
  }

  @Test("CD-27: A call whose handler an override drops ends without success, and the override is reported")
  func droppedByCalls() async throws {
    try await withSandbox { box in
      let document = ForgetfulNote(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open() == false)
      #expect(isReported(ForgetfulNote.self, "open(completionHandler:)"))
      document.forgets = false
      #expect(await document.open())
      document.forgets = true
      document.type(" two")
      #expect(await document.save(to: document.fileURL, for: .forOverwriting) == false)
      #expect(isReported(ForgetfulNote.self, "save(to:for:completionHandler:)"))
      #expect(await document.autosave() == false)
      #expect(await document.revert(toContentsOf: document.fileURL) == false)
      #expect(isReported(ForgetfulNote.self, "revert(toContentsOf:completionHandler:)"))
      #expect(await document.close() == false)
      #expect(isReported(ForgetfulNote.self, "close(completionHandler:)"))
      document.forgets = false
      #expect(document.hasUnsavedChanges && document.text == "one two")
      #expect(await document.close())
      #expect(try box.text(document.fileURL) == "one two")
    }
  }

  @Test("CD-18, CD-27: A reader for which the document would save gets an error if an override drops the handler")
  func droppedForReader() async throws {
    try await withSandbox { box in
      let document = ForgetfulNote(fileURL: try box.write("a.txt", "one"))
      document.forgets = false
      #expect(await document.open())
      document.forgets = true
      document.type(" two")
      let url = document.fileURL
      await #expect(throws: (any Error).self) { try await readElsewhere(url) }
      #expect(document.documentState == .savingError && document.errors.count == 1)
      #expect(isReported(ForgetfulNote.self, "save(to:for:completionHandler:)"))
      document.forgets = false
      #expect(try await readElsewhere(url) == "one two")
      #expect(document.documentState == .normal)
      #expect(await document.close())
    }
  }

  @Test("CD-27: An override that saves and drops the handler is reported, and the document goes on with what is saved")
  func savedNevertheless() async throws {
    try await withSandbox { box in
      let document = SavingForgetfulNote(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.type(" two")
      #expect(try await readElsewhere(document.fileURL) == "one two")
      document.type(" three")
      #expect(await document.autosave() == false)
      #expect(isReported(SavingForgetfulNote.self, "save(to:for:completionHandler:)"))
      #expect(await document.close())
      #expect(try box.text(document.fileURL) == "one two three")
    }
  }

  @Test("CD-27: A handler that's dropped while the document's class is asked to save again doesn't fail that save")
  func droppedLate() async throws {
    try await withSandbox { box in
      let document = LateNote(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      var text = "one"
      for (number, word) in [" two", " three", " four"].enumerated() {
        document.type(word)
        text += word
        #expect(try await readElsewhere(document.fileURL) == text)
        #expect(document.askCount == number + 1 && document.errors.isEmpty && document.documentState == .normal)
      }
      #expect(isReported(LateNote.self, "save(to:for:completionHandler:)"))
      #expect(await document.close())
      #expect(try box.text(document.fileURL) == "one two three four")
    }
  }

  @Test("CD-27: The first call of a handler counts, and a second one changes nothing")
  func calledTwice() async throws {
    try await withSandbox { box in
      let document = EagerNote(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.type(" two")
      #expect(await document.save(to: document.fileURL, for: .forOverwriting))
      document.type(" three")
      #expect(await document.autosave())
      #expect(await document.close())
      #expect(try box.text(document.fileURL) == "one two three")
    }
  }

  @Test("CD-27, PP-10: A handler that's kept for long is reported once, and may be called later")
  func kept() throws {
    try withSandbox { box in
      let (document, clock) = (KeepingNote(fileURL: box.url("a.txt")), VirtualClock())
      let results = Guarded<[Bool]>([])
      let handler = AwaitedHandler(of: .save, document, clock) { isDone in results.withLock { $0.append(isDone) } }
      let text = "'KeepingNote.save(to:for:completionHandler:)' wasn't called"
      clock.advance(by: AwaitedHandler.patience - .nanoseconds(1))
      #expect(!Sandbox.misuse.entries.contains { $0.contains(text) })
      clock.advance(by: .nanoseconds(1))
      #expect(Sandbox.misuse.entries.count { $0.contains(text) } == 1)
      handler(true)
      handler(false)
      #expect(results.withLock { $0 } == [true])
    }
  }

  @Test("PP-10: A handler that's kept beyond the document's deadline ends the call with an error that names the method")
  func keptForever() throws {
    try withSandbox { box in
      let (document, clock) = (LateKeepingNote(fileURL: box.url("a.txt")), VirtualClock())
      #expect(document.waitingForAnswers == .seconds(600))
      document.waitingForAnswers = .seconds(30)
      let (results, errors) = (Guarded<[Bool]>([]), Guarded<[String]>([]))
      let handler = AwaitedHandler(of: .save, document, clock) { error in
        errors.withLock { $0.append(error.message) }
      } _: { isDone in
        results.withLock { $0.append(isDone) }
      }
      // A deadline that's set later is for later calls.
      document.waitingForAnswers = nil
      let unlimited = AwaitedHandler(of: .close, document, clock) { isDone in results.withLock { $0.append(isDone) } }
      unlimited(true)
      clock.advance(by: .seconds(30) - .nanoseconds(1))
      #expect(errors.withLock { $0.isEmpty })
      clock.advance(by: .nanoseconds(1))
      let method = "'LateKeepingNote.save(to:for:completionHandler:)'"
      #expect(errors.withLock { $0.count == 1 && $0[0].contains("\(method) wasn't called within 30.0 seconds") })
      let report = "\(method) was called after the document had given up"
      let reportCount = { Sandbox.misuse.entries.count { $0.contains(report) } }
      #expect(reportCount() == 0)
      handler(true)
      handler(true)
      #expect(reportCount() == 1 && results.withLock { $0 } == [true])
      clock.advance(by: .seconds(600))
      #expect(errors.withLock { $0.count } == 1)
    }
  }

  @Test(
    "PP-10: A call that waits for another one's handler isn't blamed for it, and an access that runs counts as progress"
  )
  func keptByAnother() async throws {
    try await withSandbox { box in
      let (document, clock) = (PatientNote(fileURL: box.url("a.txt")), VirtualClock())
      document.waitingForAnswers = .seconds(30)
      let errors = Guarded<[String]>([])
      let fail: @Sendable (String) -> @Sendable (DocumentError) -> Void = { name in
        { _ in errors.withLock { $0.append(name) } }
      }
      let outer = AwaitedHandler(of: .autosave, document, clock, failing: fail("outer")) { _ in }
      let inner = AwaitedHandler(of: .save, document, clock, failing: fail("inner")) { _ in outer(false) }
      let (running, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      document.performAsynchronousFileAccess {
        running.signal()
        end.wait()
      }
      await withCheckedContinuation { begun in
        Thread.detachNewThread {
          running.wait()
          begun.resume()
        }
      }
      for _ in 0..<100 { clock.advance(by: .seconds(30)) }
      #expect(errors.withLock { $0.isEmpty })
      end.signal()
      await withCheckedContinuation { over in
        Thread.detachNewThread {
          document.accessQueue.waitUntilAllOperationsAreFinished()
          over.resume()
        }
      }
      clock.advance(by: .seconds(30))
      #expect(errors.withLock { $0.first } == "inner")
      withExtendedLifetime((outer, inner)) {}
    }
  }

  @Test(
    "PP-10: A document whose class keeps the handler of a save gives up, lets the reader go, and can be saved again")
  func keptByClass() async throws {
    try await withSandbox { box in
      let document = HoardingNote(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.waitingForAnswers = .milliseconds(1)
      document.type(" two")
      let url = document.fileURL
      await #expect(throws: (any Error).self) { try await readElsewhere(url) }
      let error = try #require(document.errors.first as NSError?)
      #expect(error.localizedDescription.contains("'HoardingNote.save(to:for:completionHandler:)'"))
      #expect(document.documentState == .savingError && document.hasUnsavedChanges)
      #expect(await document.autosave() == false)
      document.hoards = false
      document.waitingForAnswers = nil
      // An answer that comes too late.
      for handler in document.kept { handler(true) }
      #expect(document.hasUnsavedChanges)
      document.type(" three")
      #expect(try await readElsewhere(url) == "one two three")
      #expect(document.documentState == .normal)
      #expect(await document.close())
    }
  }

  @Test("CD-27: A handler that's called in time isn't reported, and neither is one that goes with its document")
  func inTime() throws {
    try withSandbox { box in
      let clock = VirtualClock()
      let results = Guarded<[Bool]>([])
      do {
        let document = PunctualNote(fileURL: box.url("a.txt"))
        let handler = AwaitedHandler(of: .open, document, clock) { isDone in results.withLock { $0.append(isDone) } }
        handler(true)
      }
      var handler: AwaitedHandler?
      do {
        let document = PunctualNote(fileURL: box.url("a.txt"))
        handler = AwaitedHandler(of: .open, document, clock) { isDone in results.withLock { $0.append(isDone) } }
      }
      withExtendedLifetime(handler) {}
      handler = nil
      clock.advance(by: AwaitedHandler.patience)
      #expect(results.withLock { $0 } == [true, false])
      #expect(!Sandbox.misuse.entries.contains { $0.contains("PunctualNote") })
    }
  }
}

private final class KeepingNote: UIDocument {}
private final class LateKeepingNote: UIDocument {}
private final class PatientNote: UIDocument {}
private final class PunctualNote: UIDocument {}
