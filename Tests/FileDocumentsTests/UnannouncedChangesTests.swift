import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import FileDocuments
@testable import FileVersions

/// A door that does something once, right before a call.
private final class Interloper: Sendable {
  private let deed = Guarded<(@Sendable () throws -> Void)?>(nil)
  private let failure = Guarded<(any Error)?>(nil)

  func files(before call: SystemCall) -> ScriptedFileSystem {
    ScriptedFileSystem { [self] made in
      guard made.call == call, let deed = deed.withLock({ $0.take() }) else { return .proceed }
      do { try deed() } catch { failure.withLock { $0 = error } }
      return .proceed
    }
  }

  func next(_ deed: @escaping @Sendable () throws -> Void) { self.deed.withLock { $0 = deed } }
  func check() throws { if let error = failure.withLock({ $0 }) { throw error } }
}

@Suite(
  "Documents whose file is changed in the middle of their own work by programs that don't coordinate",
  .timeLimit(.minutes(8)))
struct UnannouncedChangesTests {
  private func withInterloper(
    before call: SystemCall, _ body: (Fixture, Interloper, FileDocument<String>) async throws -> Void
  ) async throws {
    let interloper = Interloper()
    try await withFixture(interloper.files(before: call)) { fixture in
      let document = try await fixture.open { $0.observesUncoordinatedChanges = true }
      try await body(fixture, interloper, document)
      try interloper.check()
    }
  }

  @Test("CD-21: A move in the last instant of a save is followed, and no file is made at the former place")
  func movedDuringSave() async throws {
    try await withInterloper(before: .rename) { fixture, interloper, document in
      try await document.edit { $0 = "new" }
      interloper.next { try FileManager.default.moveItem(at: fixture.file, to: fixture.url("b.txt")) }
      try await document.save()
      #expect(try fixture.names() == ["b.txt"])
      #expect(try fixture.text(of: fixture.url("b.txt")) == "new")
      #expect(document.url.lastPathComponent == "b.txt")
      // The file system may report the move only now: the document looks then, and nothing is wrong.
      try await document.waitUntil { $0.state.conditions == .normal }
      // It's presented there.
      try await document.edit { $0 = "newer" }
      #expect(try await fixture.other.contents(of: fixture.url("b.txt")) == Data("newer".utf8))
      try await document.close()
    }
  }

  @Test("CD-21: A move right after a save, before that ends, is followed")
  func movedAfterSave() async throws {
    try await withInterloper(before: .unlink) { fixture, interloper, document in
      try await document.edit { $0 = "new" }
      interloper.next { try FileManager.default.moveItem(at: fixture.file, to: fixture.url("b.txt")) }
      try await document.save()
      try await document.edit { $0 = "newer" }
      try await document.save()
      #expect(try fixture.names() == ["b.txt"])
      #expect(try fixture.text(of: fixture.url("b.txt")) == "newer")
      try await document.close()
    }
  }

  @Test("CD-22: A file that's removed in the last instant of a save isn't made again")
  func removedDuringSave() async throws {
    try await withInterloper(before: .rename) { fixture, interloper, document in
      try await document.edit { $0 = "new" }
      interloper.next { try FileManager.default.removeItem(at: fixture.file) }
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .fileDeleted }
      #expect(try fixture.names() == [])
      #expect(await document.contents == "new")
      try await document.close(discardingChanges: true)
    }
  }

  @Test("CD-36: Text that another program writes in the last instant of a save is kept")
  func writtenDuringSave() async throws {
    try await withInterloper(before: .rename) { fixture, interloper, document in
      try await document.edit { $0 = "new" }
      interloper.next { try fixture.write("theirs") }
      try await document.save()
      #expect(try fixture.text() == "new")
      #expect(try await fixture.versionTexts() == ["theirs"])
      try await document.close()
    }
  }

  @Test(
    "CD-36: Text that a program stores in a mapping of the file, which changes no date, is found by a save, and kept")
  func mappedBeforeSave() async throws {
    try await withFixture { fixture in
      try fixture.write("old text")
      let mapping = try #require(MappedFile(fixture.file.path))
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      try await document.open()
      let before = try fixture.status()
      mapping.store("theirs, ")
      // Otherwise the test would show nothing.
      #expect(try fixture.status().isUnchanged(since: before))
      try await document.edit { $0 = "new" }
      try await document.save()
      #expect(try fixture.text() == "new")
      #expect(try await fixture.versionTexts() == ["theirs, "])
      try await document.close()
    }
  }

  @Test("CD-36: So is text that's stored in a mapping in the last instant of a save")
  func mappedDuringSave() async throws {
    let interloper = Interloper()
    try await withFixture(interloper.files(before: .rename)) { fixture in
      try fixture.write("old text")
      let mapping = try #require(MappedFile(fixture.file.path))
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      try await document.open()
      try await document.edit { $0 = "new" }
      interloper.next { mapping.store("theirs, ") }
      try await document.save()
      try interloper.check()
      #expect(try fixture.text() == "new")
      #expect(try await fixture.versionTexts() == ["theirs, "])
      try await document.close()
    }
  }

  @Test("CD-19: Text that a coordinating program stores in its mapping is taken over after its access")
  func mappedWithinAccess() async throws {
    try await withFixture { fixture in
      try fixture.write("old text")
      let mapping = try #require(MappedFile(fixture.file.path))
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      try await document.open()
      let before = try fixture.status()
      try await fixture.other.write(fixture.file) { _ in mapping.store("theirs, ") }
      try await document.waitForContents("theirs, ")
      #expect(try fixture.status().isUnchanged(since: before))
      #expect(try await document.close() == false)
    }
  }

  @Test("CD-19: A program that removes the file and makes it anew, as git does, has changed it, and not deleted")
  func madeAnew() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open { options in
        options.observesUncoordinatedChanges = true
        // However long this test waits for the processor, it isn't taken for a deletion.
        options.reportMax = .seconds(3_600)
      }
      for number in 0..<5 {
        // The document looks in between: nobody has to be fast.
        try FileManager.default.removeItem(at: fixture.file)
        try await document.waitUntil { $0.state.editingObstacles.contains(.reloading) }
        try fixture.write("theirs \(number)")
        // A document whose file is deleted never reloads.
        try await document.waitForContents("theirs \(number)")
        try await document.waitUntil { $0.state.conditions == .normal }
      }
      try await document.close()
    }
  }

  @Test("Documents take no more descriptors than other presenters")
  func descriptors() async throws {
    try await withFixture { fixture in
      try fixture.write("text")
      let path = SystemPath(fixture.file.path)
      let budgeted = HeldFile(path, HostFileSystem())
      #expect(budgeted?.place == path)
      try FileManager.default.moveItem(at: fixture.file, to: fixture.url("b.txt"))
      #expect(budgeted?.place == SystemPath(fixture.url("b.txt").path))
      try FileManager.default.removeItem(at: fixture.url("b.txt"))
      #expect(budgeted?.place == nil)
      #expect(HeldFile(path, HostFileSystem()) == nil)
    }
  }
}

extension FileStatus {
  fileprivate func isUnchanged(since other: FileStatus) -> Bool {
    hasContents(of: other) && changeTime == other.changeTime
  }
}
