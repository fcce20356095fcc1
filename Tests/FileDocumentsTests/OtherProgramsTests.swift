import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments
@testable import FileVersions

@Suite("Documents beside programs that use the same file", .timeLimit(.minutes(8)))
struct OtherProgramsTests {
  @Test(
    "CD-17: While another program writes, editing is disabled, and the state has said so before; afterwards it goes on")
  func disabling() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      let gate = TestGate()
      async let writing: Void = fixture.other.write(fixture.file) { access in
        #expect(document.state.conditions.contains(.editingDisabled))
        #expect(document.state.editingObstacles.contains(.writer))
        try await gate.pass()
        try await access.replaceContents(with: Data("theirs".utf8))
      }
      try await gate.waitForArrival()
      #expect(await document.assumeRefused())
      async let editing: Void = document.edit { $0 += " and mine" }
      gate.open()
      try await writing
      try await editing
      #expect(await document.contents == "theirs and mine")
      #expect(document.state.conditions == .normal)
      try await document.close()
      #expect(try fixture.text() == "theirs and mine")
      #expect(try await fixture.versionTexts() == [])
    }
  }

  @Test("CD-18: Another program reads what is unsaved, because the document saves first")
  func reading() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await document.edit { $0 = "unsaved" }
      #expect(try await fixture.other.contents(of: fixture.file) == Data("unsaved".utf8))
      #expect(!document.hasUnsavedChanges)
      try await document.edit { $0 = "later" }
      #expect(try await fixture.other.contents(of: fixture.file, options: .withoutChanges) == Data("unsaved".utf8))
      try await document.close()
    }
  }

  @Test("CD-18: A reader is told why the document couldn't save")
  func readingFails() async throws {
    try await withFixture { fixture in
      let format = GatedFormat()
      let document = try await fixture.open("old", format)
      try await document.edit { $0 = "unsaved" }
      format.refusesWriting.add(1)
      await #expect {
        _ = try await fixture.other.contents(of: fixture.file)
      } throws: { error in
        ((error as? FileCoordinationError)?.underlyingError as? DocumentError)?.code == .unwritableContents
      }
      #expect(document.state.conditions == .savingError)
      try await document.edit { $0 = "still here" }
      format.refusesWriting.add(-1)
      #expect(try await fixture.other.contents(of: fixture.file) == Data("still here".utf8))
      try await document.close()
    }
  }

  @Test("CD-19, UD-22: A document without unsaved changes takes over what another program has written")
  func reloading() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await fixture.other.replaceContents(of: fixture.file, with: Data("theirs".utf8))
      try await document.waitUntil { $0.state.revision > 1 && $0.state.editingObstacles.isEmpty }
      #expect(await document.contents == "theirs")
      #expect(!document.hasUnsavedChanges)
      try await document.close()
    }
  }

  @Test("CD-19: Contents of a program that doesn't coordinate are taken over as well")
  func uncoordinated() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open { $0.observesUncoordinatedChanges = true }
      try fixture.write("theirs")
      try await document.waitForContents("theirs")
      #expect(!document.hasUnsavedChanges)
      #expect(try await document.close() == false)
      #expect(try await fixture.versionTexts() == [])
    }
  }

  @Test(
    "CD-21, CD-22: Moves and deletions by programs that don't coordinate are noticed as well, and an editor's way to save isn't one"
  )
  func uncoordinatedPlaces() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open { $0.observesUncoordinatedChanges = true }
      try FileManager.default.moveItem(at: fixture.file, to: fixture.url("b.txt"))
      try await document.waitUntil { $0.url.lastPathComponent == "b.txt" && $0.state.conditions == .normal }
      // Another file takes its place.
      try Data("theirs".utf8).write(to: fixture.url("b.txt"), options: .atomic)
      try await document.waitForContents("theirs")
      #expect(document.url.lastPathComponent == "b.txt")
      try FileManager.default.removeItem(at: fixture.url("b.txt"))
      try await document.waitUntil { $0.state.conditions == .deleted && $0.state.editingObstacles.isEmpty }
      #expect(await document.contents == "theirs")
      try await document.close()
    }
  }

  @Test(
    "CD-21, CD-22: A save right after a move that nobody has reported yet goes to the new place; after a deletion it goes nowhere"
  )
  func unreportedMove() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open { $0.observesUncoordinatedChanges = true }
      for number in 0..<3 {
        try await document.edit { $0 = "new \(number)" }
        let place = fixture.url("\(number).txt")
        try FileManager.default.moveItem(at: document.url, to: place)
        try await document.save()
        #expect(try fixture.text(of: place) == "new \(number)")
        #expect(try fixture.names() == ["\(number).txt"])
      }
      try FileManager.default.removeItem(at: document.url)
      try await document.edit { $0 = "unsaved" }
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .fileDeleted }
      #expect(try fixture.names() == [])
      #expect(await document.contents == "unsaved")
      try await document.close(discardingChanges: true)
    }
  }

  @Test("CD-21: A save waits for the report of a move behind as many other messages as come before it")
  func reportBehindOthers() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open { $0.observesUncoordinatedChanges = true }
      let presenter = try #require(await document.presence?.presenter)
      try await document.edit { $0 = "new" }
      let messages = Task {
        while !Task.isCancelled {
          presenter.noteMessage()
          await Task.yield()
        }
      }
      defer { messages.cancel() }
      try FileManager.default.moveItem(at: fixture.file, to: fixture.url("b.txt"))
      try await document.save()
      #expect(try fixture.names() == ["b.txt"])
      #expect(try fixture.text(of: fixture.url("b.txt")) == "new")
      try await document.close()
    }
  }

  @Test("CD-20, UD-22: A change of attributes alone doesn't reload the contents")
  func attributes() async throws {
    try await withFixture { fixture in
      let format = GatedFormat()
      let document = try await fixture.open("old", format)
      let read = format.reading.value
      for mode in [0o600, 0o640] {
        try await fixture.other.write(fixture.file, options: .contentIndependentMetadataOnly) { access in
          try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: access.url.path)
        }
        try await fixture.domain.waitUntil { $0.arePresentersIdle }
        try await document.waitUntil { $0.state.editingObstacles.isEmpty }
      }
      #expect(format.reading.value == read)
      #expect(document.state.revision == 1)
      try await document.close()
    }
  }

  @Test("CD-21: When the file is moved, the document follows, and stays open")
  func moving() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      let moved = fixture.url("moved.txt")
      try await document.edit { $0 = "new" }
      try await fixture.other.move(fixture.file, to: moved)
      try await document.waitUntil { $0.url.lastPathComponent == "moved.txt" && $0.state.conditions == .normal }
      try await document.save()
      #expect(try fixture.text(of: moved) == "new")
      #expect(!fixture.exists())
      // It's known there from now on, and its former place is free.
      try fixture.write("another")
      let another = FileDocument(fixture.file, as: .text, options: fixture.options())
      try await another.open()
      let same = FileDocument(moved, as: .text, options: fixture.options())
      await #expect { try await same.open() } throws: { ($0 as? DocumentError)?.code == .alreadyOpen }
      try await another.close()
      try await document.close()
    }
  }

  @Test(
    "CD-22, SP-7, SP-9: When the file is deleted, the document has noticed before, and a save doesn't make it again")
  func deleting() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await document.edit { $0 = "unsaved" }
      try await fixture.other.write(fixture.file, options: .forDeleting) { access in
        #expect(document.state.conditions.contains(.deleted))
        try FileManager.default.removeItem(at: access.url)
      }
      try await document.waitUntil { $0.state.editingObstacles.isEmpty }
      #expect(document.state.conditions == .deleted)
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .fileDeleted }
      await #expect { try await document.close() } throws: { ($0 as? DocumentError)?.code == .fileDeleted }
      try await document.edit { $0 += " and here" }
      #expect(!fixture.exists())
      try await document.save(as: fixture.url("rescued.txt"))
      #expect(try fixture.text(of: fixture.url("rescued.txt")) == "unsaved and here")
      #expect(document.state.conditions == .normal && document.url.lastPathComponent == "rescued.txt")
      #expect(try await fixture.other.contents(of: fixture.url("rescued.txt")) == Data("unsaved and here".utf8))
      try await document.close()
      #expect(!fixture.exists())
    }
  }

  @Test("CD-22: A deletion that isn't carried out leaves the document as it was")
  func sparing() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await document.edit { $0 = "unsaved" }
      struct Stop: Error {}
      await #expect(throws: Stop.self) {
        try await fixture.other.write(fixture.file, options: .forDeleting) { _ in throw Stop() }
      }
      try await document.waitUntil { $0.state.conditions == .normal }
      try await document.close()
      #expect(try fixture.text() == "unsaved")
    }
  }

  @Test("CD-23, UD-23: A conflict of versions is in the state until it's resolved")
  func conflicts() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      let conflict = try await fixture.versions.addVersion(of: fixture.file, isConflict: true)
      try await document.waitUntil { $0.state.conditions == .inConflict }
      try await fixture.versions.markResolved(conflict, of: fixture.file)
      try await document.waitUntil { $0.state.conditions == .normal }
      // A conflict that's there already is found when the document is opened.
      try await fixture.versions.addVersion(of: fixture.file, isConflict: true)
      try await document.close()
      try await document.open()
      try await document.waitUntil { $0.state.conditions == .inConflict }
      try await document.close()
    }
  }

  @Test("CD-25, UD-21, ND-11: Reverting drops what is unsaved, as a version, and nothing can be edited meanwhile")
  func reverting() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await document.edit { $0 = "unsaved" }
      try await document.revert()
      #expect(await document.contents == "old")
      #expect(!document.hasUnsavedChanges && document.state.conditions == .normal)
      #expect(try await fixture.versionTexts() == ["unsaved"])
      let other = fixture.url("other.txt")
      try fixture.write("elsewhere", to: other)
      try await document.revert(toContentsOf: other)
      #expect(await document.contents == "elsewhere")
      try await document.close()
      #expect(try fixture.text() == "elsewhere")
      #expect(try await fixture.versionTexts().contains("old"))
    }
  }

  @Test(
    "CD-29, PP-8: Two writes in quick succession during a revert: all of them end, and the document has what the file has"
  )
  func revertingBesideWriters() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      for round in 0..<20 {
        try await document.edit { $0 = "mine \(round)" }
        async let first: Void = fixture.other.replaceContents(of: fixture.file, with: Data("first \(round)".utf8))
        async let reverting: Void = document.revert()
        async let second: Void = FileCoordinator(domain: fixture.domain)
          .replaceContents(of: fixture.file, with: Data("second \(round)".utf8))
        try await first
        try await second
        try await reverting
        try await fixture.domain.waitUntil { $0.arePresentersIdle }
        try await document.edit { _ in }
        try await document.save()
        #expect(try await fixture.text() == document.contents)
        #expect(try await fixture.versionTexts().contains("mine \(round)") || fixture.text() == "mine \(round)")
      }
      try await document.close()
    }
  }

  @Test("CD-30: A document's own saves aren't changes for it")
  func ownSaves() async throws {
    try await withFixture { fixture in
      let format = GatedFormat()
      let document = try await fixture.open("old", format)
      let read = format.reading.value
      for number in 0..<3 {
        try await document.edit { $0 = "new \(number)" }
        try await document.save()
      }
      try await fixture.domain.waitUntil { $0.arePresentersIdle }
      #expect(format.reading.value == read)
      #expect(document.state.revision == 4)
      try await document.close()
    }
  }
}

extension FileDocument where Contents == String {
  /// Whether an edit is refused right now because another program writes.
  func assumeRefused() -> Bool {
    do throws(DocumentError) {
      try editNow { $0 += "lost" }
      return false
    } catch { return error.code == .editingDisabled }
  }
}
