import Foundation
import FoundationCompatibility
import Testing

/// A document that asks somebody about each error, and has the answer later.
private final class AskingNote: NoteDocument {
  private(set) var asked: [any Error] = []
  private(set) var finished: [Bool] = []

  override func handleError(_ error: any Error, userInteractionPermitted: Bool) {
    if userInteractionPermitted { asked.append(error) }
  }

  override func finishedHandlingError(_ error: any Error, recovered: Bool) {
    finished.append(recovered)
    super.finishedHandlingError(error, recovered: recovered)
    occurred("finished")
  }
}

/// A document that leaves its errors to the class.
private final class FinishingNote: NoteDocument {
  private(set) var finished: [Bool] = []

  override func finishedHandlingError(_ error: any Error, recovered: Bool) {
    finished.append(recovered)
    super.finishedHandlingError(error, recovered: recovered)
  }
}

@Suite("UIDocument, what a class calls and overrides", .timeLimit(.minutes(8)))
@MainActor struct DocumentHookTests {
  init() { _ = Sandbox.versionStore }

  @Test(
    "UD-3, UD-4: Each change of the state is posted once as a notification, and once as a message, with the state in place"
  )
  func messages() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      var seen: [UIDocument.State] = []
      let token = NotificationCenter.default.addObserver(of: document, for: .stateChanged) { message in
        seen.append(message.document.documentState)
        (message.document as? NoteDocument)?.occurred("message")
      }
      #expect(await document.open())
      await document.until { seen.count >= 1 && document.states.count >= 1 }
      document.failsToWrite = true
      document.type(" two")
      #expect(await document.autosave() == false)
      await document.until { seen.count >= 2 && document.states.count >= 2 }
      document.failsToWrite = false
      #expect(await document.close())
      await document.until { seen.last?.contains(.closed) == true && document.states.count == seen.count }
      #expect(seen.first == .normal && seen.contains(.savingError) && seen == document.states)
      NotificationCenter.default.removeObserver(token)
    }
  }

  @Test("UD-10: A program that has an access reads anew, and has the contents when the call returns")
  func readingByOneself() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      let other = try box.write("b.txt", "two")
      let outcome = await withCheckedContinuation { end in
        document.performAsynchronousFileAccess {
          let result = Result {
            try document.read(from: other)
            return DispatchQueue.main.sync { MainActor.assumeIsolated { document.text } }
          }
          end.resume(returning: result)
        }
      }
      #expect(try outcome.get() == "two" && document.text == "two")
      let failure = await withCheckedContinuation { end in
        document.performAsynchronousFileAccess {
          end.resume(returning: Result { try document.read(from: box.url("none.txt")) })
        }
      }
      #expect { try failure.get() } throws: { ($0 as? CocoaError)?.code == .fileReadNoSuchFile }
      #expect(document.text == "two")
      #expect(await document.close())
    }
  }

  @Test("UD-20: Unless overridden, an error has been handled, without recovery, before the completion")
  func errorsByDefault() async throws {
    try await withSandbox { box in
      let document = FinishingNote(fileURL: box.url("none.txt"))
      #expect(await document.open() == false)
      #expect(document.errors.count == 1 && document.finished == [false])
    }
  }

  @Test("UD-20: A class may finish with an error later: the completion doesn't wait for that, and the document goes on")
  func errorsHandledLater() async throws {
    try await withSandbox { box in
      let document = AskingNote(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.failsToWrite = true
      document.type(" two")
      #expect(await document.autosave() == false)
      #expect(document.asked.count == 1 && document.finished.isEmpty && document.documentState == .savingError)
      document.failsToWrite = false
      document.finishedHandlingError(document.asked[0], recovered: true)
      #expect(document.finished == [true] && document.text == "one two")
      #expect(await document.close())
      #expect(try box.text(document.fileURL) == "one two")
    }
  }
}
