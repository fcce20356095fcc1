import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Documents whose file can't be read or saved where it is", .timeLimit(.minutes(8)))
struct HostilePlacesTests {
  @Test("CD-24: A directory that takes the place of the file stays, and so do the contents", arguments: [false, true])
  func becameDirectory(isObserved: Bool) async throws {
    try await withFixture { fixture in
      let document = try await fixture.open { $0.observesUncoordinatedChanges = isObserved }
      try await document.edit { $0 = "mine" }
      try FileManager.default.removeItem(at: fixture.file)
      try FileManager.default.createDirectory(at: fixture.file, withIntermediateDirectories: false)
      try fixture.write("theirs", to: fixture.file.appending(path: "inside.txt"))
      for text in ["mine, again", "mine, still"] {
        await #expect(throws: DocumentError.self) { try await document.save() }
        #expect(document.state.savingError != nil && document.hasUnsavedChanges)
        // Editing goes on.
        try await document.edit { $0 = text }
      }
      #expect(try fixture.text(of: fixture.file.appending(path: "inside.txt")) == "theirs")
      try await document.save(as: fixture.url("b.txt"))
      try await document.waitUntil { $0.state.conditions == .normal }
      #expect(try fixture.text(of: fixture.url("b.txt")) == "mine, still")
      try await document.close()
      #expect(try fixture.names() == ["b.txt", "note.txt"])
    }
  }

  @Test("CD-24, CD-34: On a full disk an autosave fails and changes nothing; the next one succeeds when there's room")
  func fullDisk() async throws {
    let isFull = Guarded(false)
    let files = ScriptedFileSystem { made in
      made.call == .write && isFull.withLock { $0 } ? .fail(SystemError.Number.noSpace.rawValue) : .proceed
    }
    try await withFixture(files) { fixture in
      let document = try await fixture.open("old", .text, AutosavePolicy(idleTime: .seconds(2)))
      isFull.withLock { $0 = true }
      try await document.edit { $0 = "new" }
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { $0.state.conditions == .savingError }
      #expect(document.state.savingError?.description.contains("ENOSPC") == true)
      #expect(document.state.savingError?.message.contains("save(as:)") == true)
      #expect(try fixture.text() == "old" && fixture.names() == ["note.txt"])
      isFull.withLock { $0 = false }
      try await document.edit { $0 += "er" }
      try await fixture.clock.waitForDeadline(within: .seconds(2))
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { $0.state.conditions == .normal && !$0.state.hasUnsavedChanges }
      #expect(try fixture.text() == "newer")
      try await document.close()
    }
  }

  @Test("CD-02: A file of four gibibytes isn't read into memory, unless the program allows it")
  func huge() async throws {
    try await withFixture { fixture in
      try fixture.write("")
      let handle = try FileHandle(forWritingTo: fixture.file)
      // A hole: it takes no room.
      try handle.truncate(atOffset: 4 << 30)
      try handle.close()
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      await #expect { try await document.open() } throws: { ($0 as? DocumentError)?.code == .fileTooLarge }
      #expect(document.state.conditions == .closed)
    }
  }

  @Test(
    "CD-25, CD-42: A revert that's requested during a save waits for it; the saved text stays, and the text typed meanwhile is a version"
  )
  func revertingDuringSave() async throws {
    try await withFixture { fixture in
      let gate = TestGate()
      let document = try await fixture.open("old", GatedFormat(gate: gate))
      try await document.edit { $0 = "saved" }
      async let saving = document.save()
      try await gate.waitForArrival()
      try await document.edit { $0 = "typed meanwhile" }
      async let reverting: Void = document.revert()
      while await document.core.calls.count < 2 { await Task.yield() }
      gate.open()
      #expect(try await saving)
      try await reverting
      #expect(await document.contents == "saved" && !document.hasUnsavedChanges)
      #expect(try fixture.text() == "saved")
      #expect(try await fixture.versionTexts() == ["typed meanwhile"])
      #expect(try await document.close() == false)
    }
  }

  @Test("CD-69, CD-70: A member that vanishes can't be read, and a save neither makes it again nor loses another one")
  func vanishedMember() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      #expect(try await document.text("a.txt") == "a")
      try FileManager.default.removeItem(at: fixture.album.appending(path: "a.txt"))
      await #expect(throws: (any Error).self) { try await document.text("a.txt") }
      #expect(try await document.text("b.txt") == "b")
      try await document.edit { $0.set("b.txt", "mine") }
      try await document.save()
      #expect(try fixture.members() == ["b.txt": "mine", "images/1.png": "one"])
      try await document.close()
    }
  }
}
