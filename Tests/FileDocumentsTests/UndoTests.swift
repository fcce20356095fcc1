import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Edits that are taken back, and made again", .timeLimit(.minutes(8)))
struct UndoTests {
  private func withDocument(
    _ policy: DocumentUndoPolicy? = DocumentUndoPolicy(),
    _ body: (Fixture, FileDocument<String>) async throws -> Void
  ) async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("") { $0.undo = policy }
      try await body(fixture, document)
      try await document.close(discardingChanges: true)
    }
  }

  @Test(
    "CD-10, CD-11: Undo takes steps back, redo makes them again, and both count: contents that equal the saved ones aren't unsaved"
  )
  func steps() async throws {
    try await withDocument { fixture, document in
      for letter in ["a", "b", "c"] { try await document.edit { $0 += letter } }
      #expect(document.snapshot.canUndo && !document.snapshot.canRedo)
      #expect(try await document.undo())
      #expect(await document.contents == "ab" && document.snapshot.canRedo)
      try await document.save()
      #expect(try await document.redo())
      #expect(await document.contents == "abc" && document.hasUnsavedChanges)
      #expect(try await document.undo())
      #expect(!document.hasUnsavedChanges)
      #expect(try await document.undo())
      #expect(await document.contents == "a" && document.hasUnsavedChanges)
      #expect(try await document.undo())
      #expect(try await document.undo() == false)
      #expect(await document.contents == "" && !document.snapshot.canUndo)
      // A new edit is the end of what was taken back.
      try await document.edit { $0 += "d" }
      #expect(try await document.redo() == false)
      #expect(await document.contents == "d")
    }
  }

  @Test("CD-10: Edits that follow one another fast are one step, and count as one")
  func joining() async throws {
    try await withDocument(DocumentUndoPolicy(joinInterval: .seconds(1))) { fixture, document in
      for letter in ["a", "b", "c"] { try await document.edit { $0 += letter } }
      fixture.clock.advance(by: .seconds(1))
      for letter in ["d", "e"] { try await document.edit { $0 += letter } }
      try await document.undo()
      #expect(await document.contents == "abc")
      // An edit that comes after an undo is no part of the step before it.
      try await document.edit { $0 += "f" }
      try await document.undo()
      #expect(await document.contents == "abc")
      try await document.undo()
      #expect(await document.contents == "" && !document.hasUnsavedChanges)
      try await document.redo()
      #expect(await document.contents == "abc" && document.hasUnsavedChanges)
      try await document.save()
      try await document.undo()
      try await document.redo()
      #expect(!document.hasUnsavedChanges)
    }
  }

  @Test("Steps are forgotten when the contents are another program's, and beyond the number that's kept")
  func forgetting() async throws {
    try await withDocument(DocumentUndoPolicy(levelsMax: 2)) { fixture, document in
      for letter in ["a", "b", "c"] { try await document.edit { $0 += letter } }
      #expect(try await document.undo())
      #expect(try await document.undo())
      #expect(try await document.undo() == false)
      #expect(await document.contents == "a")
      try await document.save()
      try await document.edit { $0 += "x" }
      try await document.save()
      try await fixture.other.replaceContents(of: fixture.file, with: Data("theirs".utf8))
      try await document.waitUntil { $0.state.editingObstacles.isEmpty && !$0.canUndo }
      #expect(await document.contents == "theirs")
      #expect(try await document.undo() == false)
      try await document.edit { $0 = "mine" }
      try await document.revert()
      #expect(!document.snapshot.canUndo)
      // A program that counts by itself has steps of its own.
      try await document.edit { $0 = "more" }
      try await document.edit(.undone) { $0 = "theirs" }
      #expect(!document.snapshot.canUndo && !document.hasUnsavedChanges)
    }
  }

  @Test("Without a policy nothing is kept, and nothing can be taken back")
  func nothing() async throws {
    try await withDocument(nil) { fixture, document in
      try await document.edit { $0 = "a" }
      #expect(try await document.undo() == false)
      #expect(await document.contents == "a" && !document.snapshot.canUndo)
    }
  }
}
