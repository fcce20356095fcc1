import FileCoordination
import FileCoordinationTesting
import FilePackages
import FileVersions
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Saves that keep what they overwrite", .timeLimit(.minutes(8)))
struct KeptVersionsTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let policy: DocumentVersionPolicy
    /// The texts of all versions after two sessions, newest first.
    let texts: [String]
  }

  static let cases = [
    Case(testDescription: "never", policy: .never, texts: []),
    Case(testDescription: "first save", policy: .firstSave, texts: ["3", "0"]),
    Case(testDescription: "every save", policy: .everySave, texts: ["4", "3", "2", "1", "0"]),
    Case(testDescription: "at most every 10 s", policy: .atMostEvery(.seconds(10)), texts: ["3", "2", "0"]),
  ]

  @Test(
    "CD-49, ND-1: The former contents become a version before a save overwrites them, as the program requests",
    arguments: cases)
  func policies(_ example: Case) async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("0") { $0.versionPolicy = example.policy }
      for (text, time) in [("1", 0), ("2", 9), ("3", 1)] {
        fixture.clock.advance(by: .seconds(time))
        try await document.edit { $0 = text }
        try await document.save()
      }
      // Without a change nothing is overwritten.
      #expect(try await document.save() == false)
      try await document.close()
      try await document.open()
      for text in ["4", "5"] {
        try await document.edit { $0 = text }
        try await document.save()
      }
      #expect(try fixture.text() == "5")
      #expect(try await fixture.versionTexts() == example.texts)
      #expect(try await fixture.versions.unresolvedConflicts(of: fixture.file) == [])
      try await document.close()
    }
  }

  @Test("CD-49: Without the version nothing is overwritten, and a save that's repeated keeps nothing twice")
  func obstacles() async throws {
    let isFull = Guarded(false)
    let files = ScriptedFileSystem { made in
      // Not in the store.
      let isSave = made.call == .rename && made.paths.contains { $0.lastComponent == SystemPath("note.txt") }
      return isSave && isFull.withLock { $0 } ? .fail(SystemError.Number.noSpace.rawValue) : .proceed
    }
    try await withFixture(files) { fixture in
      // Somebody's file is where the store would be.
      let store = fixture.url("store")
      try fixture.write("no store", to: store)
      let document = try await fixture.open("old") { $0.versionPolicy = .everySave }
      try await document.edit { $0 = "new" }
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .versionNotKept }
      #expect(try fixture.text() == "old" && document.state.savingError?.code == .versionNotKept)
      try FileManager.default.removeItem(at: store)
      isFull.withLock { $0 = true }
      for _ in 0..<3 { await #expect(throws: DocumentError.self) { try await document.save() } }
      isFull.withLock { $0 = false }
      #expect(try fixture.text() == "old" && document.hasUnsavedChanges)
      try await document.save()
      #expect(try fixture.text() == "new")
      #expect(try await fixture.versionTexts() == ["old"])
      try await document.close()
    }
  }

  @Test("CD-46, CD-49: Packages are kept as well, before a save of one member, of several, or of a member alone")
  func packages() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum(["a.txt": "0", "b.txt": "b"])
      let document = try await fixture.openAlbum { options in
        options.versionPolicy = .everySave
        options.backupName = { $0 + "~" }
      }
      try await document.edit { $0.set("a.txt", "1") }
      try await document.save()
      try await document.edit { tree in
        tree.set("a.txt", "2")
        tree.set("c.txt", "c")
      }
      try await document.save()
      try await document.replaceMember(SystemPath("a.txt"), with: Data("3".utf8))
      #expect(try fixture.members() == ["a.txt": "3", "b.txt": "b", "c.txt": "c"])
      #expect(
        try await fixture.albumVersions() == [
          ["a.txt": "2", "b.txt": "b", "c.txt": "c"], ["a.txt": "1", "b.txt": "b"], ["a.txt": "0", "b.txt": "b"],
        ])
      #expect(try fixture.members(of: fixture.url("album~")) == ["a.txt": "0", "b.txt": "b"])
      try await document.close()
      // The next session's takes the place of the backup; nothing else does.
      try await document.open()
      try await document.edit { $0.set("a.txt", "4") }
      try await document.save()
      #expect(try fixture.members(of: fixture.url("album~"))["a.txt"] == "3")
      try await document.close()
      try FileManager.default.removeItem(at: fixture.url("album~"))
      try fixture.write("somebody's", to: fixture.url("album~"))
      try await document.open()
      try await document.edit { $0.set("a.txt", "5") }
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .backupNotKept }
      #expect(try fixture.members()["a.txt"] == "4" && fixture.text(of: fixture.url("album~")) == "somebody's")
      try await document.close(discardingChanges: true)
    }
  }
}
