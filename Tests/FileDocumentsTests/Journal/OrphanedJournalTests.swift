import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

/// Cases in which the journal of a killed process wasn't found, or was offered although it's needless.
@Suite("Crash journals that are hard to find", .timeLimit(.minutes(8)))
struct OrphanedJournalTests {
  @Test("CD-61: A record that a save has made needless goes at once, also if something was edited during the save")
  func savedOver() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let (gate, format) = (TestGate(), OpenGateFormat())
      let document = FileDocument(fixture.file, as: format, options: fixture.journaled(), in: nil)
      try await document.open()
      try await document.edit { $0 = "first" }
      try await document.writeJournal()
      format.gate.withLock { $0 = gate }
      async let saving = document.save()
      try await gate.waitForArrival()
      try await document.edit { $0 = "second" }
      format.gate.withLock { $0 = nil }
      gate.open()
      #expect(try await saving)
      try await document.writeJournal()
      #expect(try fixture.journalRecords() == ["second"])
      try await document.close(discardingChanges: true)
    }
  }

  @Test("CD-60: The file's own journals are offered however old they seem; the clock may have been wrong")
  func old() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      try fixture.write("another", to: fixture.url("other.txt"))
      let late = fixture.document(.max)
      try await late.open()
      #expect(await late.recoveries.map(\.contents) == ["typed"])
      try await late.close()
      let other = FileDocument(fixture.url("other.txt"), as: .text, options: fixture.journaled(.max), in: nil)
      try await other.open()
      #expect(try fixture.journalNames() == [])
      try await other.close()
    }
  }

  @Test("CD-60: A journal that can't be read is in the state, and keeps no other one from being offered")
  func unreadableNeighbours() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("damaged")
      let lock = try #require(try fixture.journalNames().first { $0.hasSuffix(".lock") })
      try FileManager.default.removeItem(at: fixture.journals.appending(path: lock))
      try FileManager.default.createSymbolicLink(
        at: fixture.journals.appending(path: lock), withDestinationURL: fixture.file)
      try fixture.leaveOrphan("typed")
      let document = fixture.document()
      try await document.open()
      #expect(await document.recoveries.map(\.contents) == ["typed"])
      #expect(document.state.journalError?.code == .journalNotRead)
      #expect(document.state.conditions == [.recoverable, .journalError])
      try await document.close()
    }
  }

  @Test("CD-60: A journal follows a file that was moved and has left a link behind")
  func linked() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed", time: .now)
      try FileManager.default.moveItem(at: fixture.file, to: fixture.url("moved.txt"))
      try FileManager.default.createSymbolicLink(at: fixture.file, withDestinationURL: fixture.url("moved.txt"))
      let document = fixture.document()
      try await document.open()
      #expect(await document.recoveries.map(\.contents) == ["typed"])
      try await document.close()
    }
  }

  @Test(
    "CD-60: A file that was made later isn't the one that the journal is of, although the kernel has given it the same inode"
  )
  func reusedInode() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try #require(try fixture.status().creationTime != nil)
      // As if the journal had been written before, about another file with this inode.
      try fixture.leaveOrphan("typed", time: .now - 3_600_000_000_000)
      try FileManager.default.moveItem(at: fixture.file, to: fixture.url("later.txt"))
      let document = FileDocument(fixture.url("later.txt"), as: .text, options: fixture.journaled(), in: nil)
      try await document.open()
      #expect(await document.recoveries.isEmpty)
      try await document.close()
    }
  }

  @Test("CD-64: If the volume of the file has no room for a journal it's in the data home, and is found there")
  func nextDirectory() async throws {
    let isFull = Guarded(true)
    let files = ScriptedFileSystem(HostFileSystem()) { call in
      let isJournal = call.openedPath?.description.contains("journals") ?? false
      return call.call == .write && isJournal && isFull.withLock { $0 } ? .fail(28) : .proceed
    }
    try await withFixture(files) { fixture in
      try fixture.write("old")
      let home = fixture.url("home")
      var options = fixture.journaled()
      options.crashJournal = .directories(SystemPath(fixture.journals.path), SystemPath(home.path))
      let document = FileDocument(fixture.file, as: .text, options: options, in: nil)
      try await document.open()
      try await document.edit { $0 = "first" }
      try await document.writeJournal()
      try await document.edit { $0 = "second" }
      try await document.writeJournal()
      #expect(document.state.conditions == .normal)
      #expect(try fixture.journalRecords() == [])
      #expect(try fixture.journalRecords(in: home).sorted() == ["first", "second"])
      // There's room again.
      isFull.withLock { $0 = false }
      try await document.edit { $0 = "third" }
      try await document.writeJournal()
      #expect(try fixture.journalRecords() == ["third"])
      #expect(try fixture.journalRecords(in: home) == [])
      try await document.close(discardingChanges: true)

      try fixture.leaveOrphan("typed")
      try FileManager.default.removeItem(at: home)
      try FileManager.default.moveItem(at: fixture.journals, to: home)
      try await document.open()
      #expect(await document.recoveries.map(\.contents) == ["typed"])
      try await document.close()
    }
  }

  @Test(
    "CD-60: Journals of files on another volume are looked for in the data home, too, where they are if its top can't be written"
  )
  func otherVolumes() async throws {
    try await withFixture { fixture in
      await #expect(processExitsWith: .success) { [root = fixture.root.path as String] in
        // The fixture is in memory; `/tmp` isn't.
        setenv("XDG_DATA_HOME", "/tmp", 1)
        let directories = try CrashJournal.standard.directories(for: SystemPath("\(root)/note.txt"))
        #expect(directories.last == SystemPath("/tmp/file-journals"))
      }
    }
  }
}

/// Waits at a gate, as long as one is there.
private struct OpenGateFormat: DocumentFormat {
  let gate = Guarded<TestGate?>(nil)

  func contents(of bytes: Data) throws -> String { try TextFormat().contents(of: bytes) }

  func bytes(of contents: String) throws -> Data {
    if let gate = gate.withLock({ $0 }) { gate.passBlocking() }
    return Data(contents.utf8)
  }
}

extension Fixture {
  /// The contents of all whole records.
  fileprivate func journalRecords(in directory: URL? = nil) throws -> [String] {
    let directory = directory ?? journals
    guard exists(directory) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: directory.path).compactMap { name in
      JournalRecord(Array(try Data(contentsOf: directory.appending(path: name))))
    }.map { String(decoding: $0.contents, as: UTF8.self) }
  }
}
