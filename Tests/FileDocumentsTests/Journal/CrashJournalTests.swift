import ContentHashing
import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

extension Fixture {
  var journals: URL { root.appending(path: "journals") }

  func journaled(_ time: Int64? = nil) -> DocumentOptions<String> {
    var options = options()
    var journal = CrashJournal.directory(journals)
    if let time { journal.time = { time } }
    options.crashJournal = journal
    return options
  }

  func document(_ time: Int64? = nil) -> FileDocument<String> {
    FileDocument(file, as: .text, options: journaled(time), in: nil)
  }

  func journalNames() throws -> [String] {
    guard exists(journals) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: journals.path).sorted()
  }

  /// Leaves the journal of a process that had typed something and was killed: its lock goes with it.
  func leaveOrphan(
    _ text: String, base: String? = "old", path: String? = nil, time: Int64 = 1_700_000_000_000_000_000
  ) throws {
    var journal = CrashJournal.directory(journals)
    journal.time = { time }
    let file = JournalFile(journal, HostFileSystem())
    let path = SystemPath(path ?? self.file.path)
    let header = JournalRecord.Header(
      sequence: 0, time: time, path: path, identity: try HostFileSystem().statusIfPresent(of: path)?.identity,
      base: base.map { ContentHash(of: Array($0.utf8)) })
    try file.write(Array(text.utf8), header)
  }
}

extension Int64 {
  /// In nanoseconds since 1970.
  static var now: Int64 { Int64(Date.now.timeIntervalSince1970 * 1e9) }
}

@Suite("The crash journal of a document", .timeLimit(.minutes(8)))
struct CrashJournalTests {
  @Test("CD-66, UD-27: A signal right after the deletion of the file finds what is unsaved, and it's in the journal")
  func endAfterDeletion() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let document = fixture.document()
      try await document.open()
      try await document.edit { $0 = "new" }
      try await fixture.other.write(fixture.file, options: .forDeleting) { access in
        try FileManager.default.removeItem(at: access.url)
      }
      try await document.waitUntil { $0.state.conditions == .deleted && $0.state.editingObstacles.isEmpty }
      // Time stands still: the delay of the journal isn't over.
      #expect(try fixture.journalNames() == [])
      let found = TerminationFlush.documents.filter { $0 === document }
      #expect(found.count == 1)
      await found.first?.saveBeforeEnd(within: .seconds(10))
      #expect(try !fixture.journalNames().isEmpty)
      #expect(!fixture.exists(fixture.file))
      try await document.save(as: fixture.url("rescued.txt"))
      #expect(TerminationFlush.documents.count { $0 === document } == 1)
      try await document.close()
      #expect(!TerminationFlush.documents.contains { $0 === document })
    }
  }

  @Test("CD-61: Unsaved contents are in the journal after its delay; a save removes it, and without edits there's none")
  func writing() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let document = fixture.document()
      try await document.open()
      #expect(try fixture.journalNames() == [])
      try await document.edit { $0 = "new" }
      try await fixture.clock.waitForDeadline(within: .seconds(1))
      #expect(try fixture.journalNames() == [])
      fixture.clock.advance(by: .seconds(1))
      try await document.writeJournal()
      #expect(try fixture.journalNames().count == 2)
      #expect(try fixture.text() == "old")
      try await document.save()
      try await document.writeJournal()
      #expect(try fixture.journalNames() == [])
      try await document.edit { $0 = "newer" }
      try await document.writeJournal()
      #expect(try fixture.journalNames().count == 2)
      try await document.close(discardingChanges: true)
      #expect(try fixture.journalNames() == [])
    }
  }

  @Test("CD-65: Directory and files are the user's alone; a link that's planted in its place isn't followed")
  func permissions() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let document = fixture.document()
      try await document.open()
      try await document.edit { $0 = "new" }
      try await document.writeJournal()
      #expect(try fixture.status(of: fixture.journals).mode == 0o700)
      for name in try fixture.journalNames() {
        #expect(try fixture.status(of: fixture.journals.appending(path: name)).mode & 0o077 == 0)
      }
      try await document.close()
      try FileManager.default.removeItem(at: fixture.journals)
      let target = fixture.url("elsewhere")
      try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(at: fixture.journals, withDestinationURL: target)
      try await document.open()
      try await document.edit { $0 = "newer" }
      await #expect(throws: DocumentError.self) { try await document.writeJournal() }
      #expect(document.state.conditions == .journalError)
      #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == [])
      try await document.close()
    }
  }

  @Test("CD-64: A full disk is in the state, and stops neither editing nor saving; the record before stays")
  func fullDisk() async throws {
    let isFull = Guarded(false)
    let files = ScriptedFileSystem(HostFileSystem()) { call in
      let isJournal = call.openedPath?.description.contains("journals") ?? false
      return call.call == .write && isJournal && isFull.withLock { $0 } ? .fail(28) : .proceed
    }
    try await withFixture(files) { fixture in
      try fixture.write("old")
      let document = fixture.document()
      try await document.open()
      try await document.edit { $0 = "first" }
      try await document.writeJournal()
      isFull.withLock { $0 = true }
      try await document.edit { $0 = "second" }
      let error = await #expect(throws: DocumentError.self) { try await document.writeJournal() }
      #expect(error?.code == .journalNotWritten)
      #expect(document.state.journalError?.code == .journalNotWritten)
      try await document.edit { $0 += " and third" }
      // As the next process would find it.
      let records = try fixture.journalNames().compactMap { name in
        JournalRecord(Array(try Data(contentsOf: fixture.journals.appending(path: name))))
      }
      #expect(records.map { String(decoding: $0.contents, as: UTF8.self) } == ["first"])
      isFull.withLock { $0 = false }
      try await document.writeJournal()
      #expect(document.state.conditions == .normal)
      isFull.withLock { $0 = true }
      try await document.edit { $0 += " and fourth" }
      try await document.close()
      #expect(try fixture.text() == "second and third and fourth")
      #expect(try fixture.journalNames() == [])
    }
  }

  @Test(
    "CD-60, UD-27: Text that a killed process had typed is offered; restored it's an unsaved edit, and its journal goes"
  )
  func restoring() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      let document = fixture.document()
      try await document.open()
      #expect(document.state.conditions == .recoverable)
      let recovery = try #require(await document.recoveries.first)
      #expect(recovery.contents == "typed")
      #expect(recovery.bytes == Data("typed".utf8))
      #expect(recovery.date == Date(timeIntervalSince1970: 1_700_000_000))
      #expect(recovery.baseHash == ContentHash(of: Array("old".utf8)).description)
      #expect(!recovery.fileHasChanged)
      try await document.resolve(recovery, by: .restoring)
      #expect(await document.contents == "typed")
      #expect(document.hasUnsavedChanges)
      #expect(await document.recoveries.isEmpty)
      #expect(document.state.conditions == .normal)
      // It isn't anywhere else yet.
      #expect(try fixture.journalNames().count == 2)
      try await document.close()
      #expect(try fixture.text() == "typed")
      #expect(try fixture.journalNames() == [])
      #expect(try await fixture.versionTexts() == [])
      let error = await #expect(throws: DocumentError.self) { try await document.resolve(recovery, by: .discarding) }
      #expect(error?.code == .recoveryNotFound)
    }
  }

  @Test("CD-60: If the file has changed since, or something is unsaved, that's a version before it's replaced")
  func restoringOverOthers() async throws {
    try await withFixture { fixture in
      try fixture.write("changed meanwhile")
      try fixture.leaveOrphan("typed")
      let document = fixture.document()
      try await document.open()
      let recovery = try #require(await document.recoveries.first)
      #expect(recovery.fileHasChanged)
      try await document.edit { $0 += " and typed here" }
      try await document.resolve(recovery, by: .restoring)
      try await document.close()
      #expect(try fixture.text() == "typed")
      #expect(try await fixture.versionTexts() == ["changed meanwhile and typed here"])
    }
  }

  @Test(
    "CD-60: If the file has changed since the recovery was found, by another program or by a save, that's a version before it's replaced",
    arguments: [true, false])
  func restoringOverLaterContents(isForeign: Bool) async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      let document = fixture.document()
      try await document.open()
      let recovery = try #require(await document.recoveries.first)
      #expect(!recovery.fileHasChanged)
      if isForeign {
        try await fixture.other.replaceContents(of: fixture.file, with: Data("later".utf8))
        try await document.waitUntil { $0.state.revision > 1 && $0.state.editingObstacles.isEmpty }
        #expect(await document.contents == "later")
      } else {
        try await document.edit { $0 = "later" }
        try await document.save()
      }
      try await document.resolve(recovery, by: .restoring)
      try await document.close()
      #expect(try fixture.text() == "typed")
      #expect(try await fixture.versionTexts() == ["later"])
    }
  }

  @Test("CD-60: It may be kept as a version, or discarded; the contents stay as they are")
  func keeping() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("first", time: 1_700_000_000_000_000_000)
      try fixture.leaveOrphan("second", time: 1_700_000_001_000_000_000)
      let document = fixture.document()
      try await document.open()
      let recoveries = await document.recoveries
      #expect(recoveries.map(\.contents) == ["first", "second"])
      try await document.resolve(recoveries[0], by: .keepingAsVersion)
      try await document.resolve(recoveries[1], by: .discarding)
      #expect(try fixture.journalNames() == [])
      #expect(await document.contents == "old")
      #expect(!document.hasUnsavedChanges)
      #expect(try await fixture.versionTexts() == ["first"])
      try await document.close()
    }
  }

  @Test("CD-60: If nothing is decided it's offered again, to one document at a time")
  func undecided() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      let document = fixture.document()
      try await document.open()
      #expect(await document.recoveries.count == 1)
      // Another process, as far as locks are concerned.
      let directory = JournalDirectory(directory: SystemPath(fixture.journals.path), files: HostFileSystem())
      #expect(try directory.takeOrphans(of: SystemPath(fixture.file.path), notBefore: .min).orphans.isEmpty)
      try await document.close()
      #expect(await document.recoveries.isEmpty)
      #expect(document.state.conditions == .closed)
      try await document.open()
      #expect(await document.recoveries.count == 1)
      try await document.close()
    }
  }

  @Test("CD-63: The journal of a document that's open is left alone, also while it's being searched for old ones")
  func living() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let document = fixture.document(0)
      try await document.open()
      try await document.edit { $0 = "typed" }
      try await document.writeJournal()
      let directory = JournalDirectory(directory: SystemPath(fixture.journals.path), files: HostFileSystem())
      #expect(try directory.takeOrphans(of: SystemPath(fixture.file.path), notBefore: .min).orphans.isEmpty)
      #expect(try directory.takeOrphans(of: SystemPath(fixture.file.path), notBefore: .max).orphans.isEmpty)
      #expect(try fixture.journalNames().count == 2)
      try await document.close()
    }
  }

  @Test("CD-60: A journal follows its file: if it was moved before the kill, after it, or the file is gone")
  func moving() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let document = fixture.document()
      try await document.open()
      try await document.edit { $0 = "typed" }
      try await document.writeJournal()
      try await document.move(to: fixture.url("moved.txt"))
      try await document.edit { $0 = "typed more" }
      try await document.writeJournal()
      let newest = try fixture.journalNames().compactMap { name in
        JournalRecord(Array(try Data(contentsOf: fixture.journals.appending(path: name))))
      }.max { $0.header.sequence < $1.header.sequence }
      #expect(newest?.header.path == SystemPath(fixture.url("moved.txt").path))
      try await document.close()

      try fixture.leaveOrphan("after the kill", path: fixture.url("moved.txt").path, time: .now)
      try FileManager.default.moveItem(at: fixture.url("moved.txt"), to: fixture.url("again.txt"))
      let again = FileDocument(fixture.url("again.txt"), as: .text, options: fixture.journaled(), in: nil)
      try await again.open()
      #expect(await again.recoveries.map(\.contents) == ["after the kill"])
      try await again.close()

      // Somebody else's file at the old place: both may be meant, and the path decides.
      try fixture.write("another", to: fixture.url("moved.txt"))
      try await again.open()
      #expect(await again.recoveries.isEmpty)
      try await again.close()
      try FileManager.default.removeItem(at: fixture.url("moved.txt"))
      let gone = FileDocument(fixture.url("moved.txt"), as: .text, options: fixture.journaled(), in: nil)
      try await gone.open(creatingWith: "")
      #expect(await gone.recoveries.map(\.fileHasChanged) == [true])
      try await gone.close()
    }
  }

  @Test(
    "CD-62: Contents that were saved before the kill aren't offered, damaged records neither, and those that are too old go"
  )
  func needless() async throws {
    try await withFixture { fixture in
      try fixture.write("saved")
      try fixture.leaveOrphan("saved")
      let document = fixture.document()
      try await document.open()
      #expect(await document.recoveries.isEmpty)
      #expect(try fixture.journalNames() == [])
      try await document.close()

      try fixture.leaveOrphan("damaged")
      for name in try fixture.journalNames() where name.hasSuffix(".1") {
        let url = fixture.journals.appending(path: name)
        try (try Data(contentsOf: url)).dropLast().write(to: url)
      }
      try await document.open()
      #expect(await document.recoveries.isEmpty)
      try await document.close()

      // Files get the time of this machine, so that of the journal is later.
      let later = Int64(Date.now.timeIntervalSince1970 * 1e9)
      let month = Int64(30 * 86_400) * 1_000_000_000
      let soon = fixture.document(later + 2 * month)
      try await soon.open()
      #expect(try fixture.journalNames() != [])
      try await soon.close()
      let late = fixture.document(later + 4 * month)
      try await late.open()
      #expect(try fixture.journalNames() == [])
      try await late.close()
    }
  }

  @Test("CD-62: Files that aren't journals are left alone, and never waited for")
  func foreignFiles() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      let names = ["README", "a.b.c", "later.0"]
      for name in names { try fixture.write("something else", to: fixture.journals.appending(path: name)) }
      #expect(mkfifo(fixture.journals.appending(path: "pipe.0").path, 0o600) == 0)
      try FileManager.default.createSymbolicLink(
        at: fixture.journals.appending(path: "link.0"), withDestinationURL: fixture.file)
      let document = fixture.document()
      try await document.open()
      #expect(await document.recoveries.map(\.contents) == ["typed"])
      try await document.close()
      #expect(try Set(fixture.journalNames()).isSuperset(of: names + ["pipe.0", "link.0"]))
    }
  }

  @Test("CD-60: Contents that the document's format can't read are offered as bytes, and can be kept")
  func unreadable() async throws {
    try await withFixture { fixture in
      struct Upper: DocumentFormat {
        struct Refusal: Error {}
        func contents(of bytes: Data) throws -> String {
          let text = try TextFormat().contents(of: bytes)
          if text != text.uppercased() { throw Refusal() }
          return text
        }
        func bytes(of contents: String) -> Data { Data(contents.utf8) }
      }
      try fixture.write("OLD")
      try fixture.leaveOrphan("typed", base: "OLD")
      let document = FileDocument(fixture.file, as: Upper(), options: fixture.journaled(), in: nil)
      try await document.open()
      let recovery = try #require(await document.recoveries.first)
      #expect(recovery.contents == nil)
      let error = await #expect(throws: DocumentError.self) { try await document.resolve(recovery, by: .restoring) }
      #expect(error?.code == .unreadableContents)
      try await document.resolve(recovery, by: .keepingAsVersion)
      #expect(try await fixture.versionTexts() == ["typed"])
      try await document.close()
    }
  }
}
