import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments
@testable import FileVersions

@Suite("Saves that must not be made, and large files", .timeLimit(.minutes(8)))
struct SafeSavingTests {
  private struct TooOld: Error {}

  @Test("CD-45, ND-7: A program may refuse that the document saves by itself; a save that's asked for is made")
  func refusing() async throws {
    try await withFixture { fixture in
      let links = Counter()
      let document = try await fixture.open("old", .text, AutosavePolicy(idleTime: .seconds(2))) { options in
        options.autosaveCheck = { question in
          links.add(question.linkCount)
          if question.contents != "allowed" { throw TooOld() }
        }
      }
      try FileManager.default.linkItem(at: fixture.file, to: fixture.url("link.txt"))
      try await document.edit { $0 = "new" }
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { $0.state.savingError?.code == .autosaveRefused }
      #expect(links.value == 2)
      #expect(try fixture.text() == "old")
      // A reader gets the reason, and not the former contents.
      await #expect {
        _ = try await fixture.other.contents(of: fixture.file)
      } throws: { error in
        ((error as? FileCoordinationError)?.underlyingError as? DocumentError)?.code == .autosaveRefused
      }
      try await document.save()
      #expect(try fixture.text() == "new" && document.state.conditions == .normal)
      try await document.edit { $0 = "allowed" }
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      try await document.edit { $0 = "closed" }
      try await document.close()
      #expect(try fixture.text() == "closed")
    }
  }

  @Test(
    "CD-46, ND-4: The first save of a session keeps what the file had, in a file beside it, if the program wants that")
  func backups() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("first") { $0.backupName = { $0 + "~" } }
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: fixture.file.path)
      for text in ["second", "third"] {
        try await document.edit { $0 = text }
        try await document.save()
        #expect(try fixture.text(of: fixture.url("note.txt~")) == "first")
      }
      #expect(try fixture.status(of: fixture.url("note.txt~")).mode == 0o640)
      try await document.close()
      try await document.open()
      try await document.edit { $0 = "fourth" }
      try await document.close()
      #expect(try fixture.text(of: fixture.url("note.txt~")) == "third")
      #expect(try fixture.names() == ["note.txt", "note.txt~"])
    }
  }

  @Test("CD-46: Without the backup nothing is overwritten", arguments: ["", "note.txt", "a/b", "directory"])
  func missingBackup(name: String) async throws {
    try await withFixture { fixture in
      try FileManager.default.createDirectory(at: fixture.url("directory/inside"), withIntermediateDirectories: true)
      let document = try await fixture.open("old") { $0.backupName = { _ in name } }
      try await document.edit { $0 = "new" }
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .backupNotKept }
      #expect(try fixture.text() == "old" && document.state.savingError?.code == .backupNotKept)
      try await document.close(discardingChanges: true)
    }
  }

  @Test(
    "CD-32: A file that can't be written opens, and reports that; edits stay in memory, and can be saved elsewhere"
  )
  func notWritable() async throws {
    let isWritable = Guarded(false)
    let files = ScriptedFileSystem { call in
      call.call == .writePermission && !isWritable.withLock { $0 }
        ? .fail(SystemError.Number.permissionDenied.rawValue) : .proceed
    }
    try await withFixture(files) { fixture in
      let document = try await fixture.open()
      #expect(!document.snapshot.isWritable)
      try await document.edit { $0 = "new" }
      for _ in 0..<2 {
        await #expect { try await document.close() } throws: { ($0 as? DocumentError)?.code == .notWritable }
      }
      #expect(document.state.savingError?.code == .notWritable && document.hasUnsavedChanges)
      #expect(try fixture.text() == "old")
      isWritable.withLock { $0 = true }
      try await document.save(as: fixture.url("b.txt"))
      #expect(document.url.lastPathComponent == "b.txt" && document.snapshot.isWritable)
      #expect(document.state.conditions == .normal)
      try await document.close()
      #expect(try fixture.text(of: fixture.url("b.txt")) == "new" && fixture.text() == "old")
    }
  }

  @Test("CD-02: A file with too many bytes isn't read")
  func tooLarge() async throws {
    try await withFixture { fixture in
      try fixture.write("12345")
      var options = fixture.options()
      options.byteCountMax = 4
      let document = FileDocument(fixture.file, as: .text, options: options)
      await #expect { try await document.open() } throws: { ($0 as? DocumentError)?.code == .fileTooLarge }
      #expect(document.state.conditions == .closed)
      try fixture.write("1234")
      try await document.open()
      // The limit holds for reading the contents of another program, too.
      try await fixture.other.replaceContents(of: fixture.file, with: Data("12345".utf8))
      try await document.waitUntil { $0.state.readingError?.code == .fileTooLarge }
      #expect(await document.contents == "1234")
      try await document.close()
    }
  }

  @Test("CD-26, UD-5: The progress of large files is there exactly while the state says so, and grows")
  func progress() async throws {
    // Looked at while pieces are read and written: a reader of states may get none of those in between.
    let (watched, seen) = (Guarded<FileDocument<String>?>(nil), Guarded<[SystemCall: [DocumentSnapshot]]>([:]))
    let files = ScriptedFileSystem { made in
      if [.read, .write].contains(made.call), let document = watched.withLock({ $0 }) {
        let snapshot = document.snapshot
        seen.withLock { $0[made.call, default: []].append(snapshot) }
      }
      return .proceed
    }
    try await withFixture(files) { fixture in
      let large = String(repeating: "x", count: 9 << 20)
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      watched.withLock { $0 = document }
      defer { watched.withLock { $0 = nil } }
      try fixture.write(large)
      try await document.open()
      #expect(document.snapshot.progress == nil && document.state.conditions == .normal)
      let reading = seen.withLock { $0[.read] ?? [] }
      try await document.edit { $0 += "y" }
      try await document.close()
      #expect(document.snapshot.progress == nil)
      let writing = seen.withLock { $0[.write] ?? [] }
      for snapshot in reading + writing {
        #expect((snapshot.progress != nil) == snapshot.state.conditions.contains(.progressAvailable))
      }
      for snapshots in [reading, writing] {
        let progress = snapshots.compactMap(\.progress)
        #expect(progress.allSatisfy { $0.totalByteCount >= 9 << 20 })
        let fractions = progress.map(\.fractionCompleted)
        #expect(fractions == fractions.sorted() && fractions.first == 0 && fractions.last ?? 0 > 0.5)
      }
    }
  }

  @Test(
    "CD-43: A format that never ends keeps no call beyond its deadline, and no other document",
    arguments: [true, false])
  func hungFormat(isCancelled: Bool) async throws {
    try await withFixture { fixture in
      let format = StuckFormat()
      defer { format.gate.open() }
      try fixture.write("old")
      // More than there are threads for tasks.
      var calls: [Task<Void, any Error>] = []
      for number in 0..<16 {
        try fixture.write("old", to: fixture.url("\(number).txt"))
        let document = FileDocument(fixture.url("\(number).txt"), as: format, options: fixture.options(), in: nil)
        calls.append(Task { try await document.open(within: .seconds(5)) })
      }
      try await format.gate.waitForArrival(count: 16)
      // Others go on.
      let other = FileDocument(fixture.file, as: .text, options: fixture.options(), in: nil)
      try await other.open()
      try await other.close()
      if isCancelled { for call in calls { call.cancel() } } else { fixture.clock.advance(by: .seconds(5)) }
      for call in calls {
        await #expect { try await call.value } throws: {
          ($0 as? DocumentError)?.code == (isCancelled ? .cancelled : .timedOut)
        }
      }
    }
  }

  @Test("CD-46, CD-43: A name for the backup that never comes keeps neither the call nor the access to the file")
  func hungBackupName() async throws {
    try await withFixture { fixture in
      let gate = TestGate()
      defer { gate.open() }
      let document = try await fixture.open { options in
        options.deadline = .seconds(5)
        options.backupName = { name in
          gate.passBlocking()
          return "\(name)~"
        }
      }
      try await document.edit { $0 = "new" }
      let saving = Task { try await document.save() }
      try await gate.waitForArrival()
      fixture.clock.advance(by: .seconds(5))
      await #expect { try await saving.value } throws: { ($0 as? DocumentError)?.code == .timedOut }
      #expect(try await fixture.other.contents(of: fixture.file, options: .withoutChanges) == Data("old".utf8))
      gate.open()
      try await document.save()
      #expect(try fixture.text(of: fixture.url("note.txt~")) == "old" && fixture.text() == "new")
      try await document.close()
    }
  }

  @Test("CD-45, CD-43: A check of an autosave that never answers keeps no access to the file beyond the deadline")
  func hungAutosaveCheck() async throws {
    try await withFixture { fixture in
      let gate = TestGate()
      defer { gate.open() }
      let document = try await fixture.open("old", .text, AutosavePolicy(idleTime: .seconds(2))) { options in
        options.deadline = .seconds(5)
        options.autosaveCheck = { _ in gate.passBlocking() }
      }
      try await document.edit { $0 = "new" }
      fixture.clock.advance(by: .seconds(2))
      try await gate.waitForArrival()
      fixture.clock.advance(by: .seconds(5))
      try await document.waitUntil { $0.state.savingError?.code == .timedOut }
      #expect(try await fixture.other.contents(of: fixture.file, options: .withoutChanges) == Data("old".utf8))
      try await document.save()
      #expect(try fixture.text() == "new")
      try await document.close()
    }
  }

  @Test("CD-43: A revert whose version can't be kept in time has timed out")
  func timedOutRevert() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await document.edit { $0 = "new" }
      let gate = TestGate()
      async let writing: Void = fixture.other.write(fixture.file) { _ in try await gate.pass() }
      try await gate.waitForArrival()
      let reverting = Task { try await document.revert(within: .seconds(3)) }
      try await fixture.domain.waitUntil { $0.isWaiting("document 'note.txt'") }
      fixture.clock.advance(by: .seconds(3))
      await #expect { try await reverting.value } throws: { ($0 as? DocumentError)?.code == .timedOut }
      gate.open()
      try await writing
      #expect(await document.contents == "new")
      try await document.close()
    }
  }

  @Test("CD-28: A document isn't moved over the file of another one of the process")
  func movingOverAnother() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try fixture.write("old", to: fixture.url("b.txt"))
      let other = FileDocument(fixture.url("b.txt"), as: .text, options: fixture.options())
      try await other.open()
      try await other.edit { $0 = "other" }
      await #expect { try await document.move(to: fixture.url("b.txt"), replacing: true) } throws: {
        ($0 as? DocumentError)?.code == .alreadyOpen
      }
      try await other.close()
      #expect(try fixture.text(of: fixture.url("b.txt")) == "other")
      try await document.move(to: fixture.url("b.txt"), replacing: true)
      // The former place is free, and the new one is taken.
      try fixture.write("new")
      let third = FileDocument(fixture.file, as: .text, options: fixture.options())
      try await third.open()
      await #expect { try await other.open() } throws: { ($0 as? DocumentError)?.code == .alreadyOpen }
      try await third.close()
      try await document.close()
      #expect(try fixture.names() == ["b.txt", "note.txt"])
    }
  }
}

/// Never ends reading, until the gate opens.
private struct StuckFormat: DocumentFormat {
  let gate = TestGate()

  func contents(of bytes: Data) -> String {
    gate.passBlocking()
    return String(decoding: bytes, as: UTF8.self)
  }

  func bytes(of contents: String) -> Data { Data(contents.utf8) }
}
