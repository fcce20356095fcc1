import FileCoordination
import FilePackages
import FileVersions
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

/// Journals that can be read, and not removed.
@Suite(
  "Crash journals on a volume that's read-only", .enabled(if: BoundVolume.isPossible, "needs to mount a directory"),
  .timeLimit(.minutes(8)))
struct ReadOnlyJournalTests {
  /// Runs `body` with files on a volume, which becomes read-only after `prepare`, and a directory for journals elsewhere.
  private func withVolume(
    _ prepare: (Fixture) throws -> Void, _ body: (_ fixture: Fixture, _ home: URL) async throws -> Void
  ) async throws {
    try await withFixture { outer in
      let root = outer.url("volume")
      try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
      let volume = try BoundVolume(root)
      defer { volume.unmount() }
      let fixture = Fixture(root)
      try prepare(fixture)
      try volume.makeReadOnly()
      try await body(fixture, outer.url("home"))
    }
  }

  /// The same, with the journal of a killed process that has typed something.
  private func withOrphan(_ body: (Fixture, _ home: URL) async throws -> Void) async throws {
    try await withVolume { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
    } _: { fixture, home in
      try await body(fixture, home)
    }
  }

  private func options(_ fixture: Fixture, _ home: URL) -> DocumentOptions<String> {
    var options = fixture.journaled()
    options.crashJournal = .directories(SystemPath(fixture.journals.path), SystemPath(home.path))
    return options
  }

  @Test("CD-60: The unsaved contents of a killed process are offered by an open, and can be saved elsewhere")
  func restoring() async throws {
    try await withOrphan { fixture, home in
      let names = try fixture.journalNames()
      let document = FileDocument(fixture.file, as: .text, options: options(fixture, home), in: nil)
      try await document.open()
      let found = await document.recoveries
      #expect(found.map(\.contents) == ["typed"] && document.state.journalError == nil)
      try await document.resolve(try #require(found.first), by: .restoring)
      #expect(await document.recoveries.isEmpty && document.hasUnsavedChanges)
      try await document.writeJournal()
      #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).count == 2)
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .notWritable }
      let place = home.deletingLastPathComponent().appending(path: "rescued.txt")
      try await document.save(as: place)
      try await document.close()
      #expect(try fixture.text(of: place) == "typed" && fixture.text() == "old")
      #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).isEmpty)
      #expect(try fixture.journalNames() == names)
    }
  }

  @Test("CD-72: A damaged journal is reported once in a process")
  func damaged() async throws {
    var url: URL?
    try await withVolume { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      let name = try #require(try fixture.journalNames().first { $0.hasSuffix(".1") })
      let damaged = fixture.journals.appending(path: name)
      var bytes = try Data(contentsOf: damaged)
      bytes[bytes.count - 70] ^= 1
      try bytes.write(to: damaged)
      url = damaged
    } _: { fixture, home in
      let damaged = try #require(url)
      let document = FileDocument(fixture.file, as: .text, options: options(fixture, home), in: nil)
      try await document.open()
      let error = try #require(document.state.journalError)
      #expect(error.code == .journalDamaged && error.message.contains("'\(damaged.path)'"), "\(error)")
      try await document.close()
      for document in [document, FileDocument(fixture.file, as: .text, options: options(fixture, home), in: nil)] {
        try await document.open()
        #expect(document.state.journalError == nil)
        try await document.close()
      }
    }
  }

  @Test("CD-75: A journal that stands for another one which can't be removed is the only one that's offered")
  func replaced() async throws {
    try await withOrphan { fixture, home in
      let lock = try #require(try fixture.journalNames().first { $0.hasSuffix(".lock") })
      let header = JournalRecord.Header(
        sequence: 0, time: .now, path: SystemPath(fixture.file.path), identity: nil, base: nil,
        replaced: [String(lock.dropLast(5))])
      // As a process leaves it that has restored the first one.
      try JournalFile(.directory(home), HostFileSystem()).write(Array("typed more".utf8), header)
      let document = FileDocument(fixture.file, as: .text, options: options(fixture, home), in: nil)
      try await document.open()
      #expect(await document.recoveries.map(\.contents) == ["typed more"] && document.state.journalError == nil)
      try await document.close()
    }
  }

  @Test("CD-60: A journal that can't be removed is offered again, and the error of the attempt says why")
  func discarding() async throws {
    try await withOrphan { fixture, home in
      let document = FileDocument(fixture.file, as: .text, options: options(fixture, home), in: nil)
      try await document.open()
      let found = try #require(await document.recoveries.first)
      await #expect { try await document.resolve(found, by: .discarding) } throws: {
        ($0 as? DocumentError)?.code == .journalNotWritten
      }
      #expect(await document.recoveries.map(\.contents) == ["typed"])
      try await document.close()
      try await document.open()
      #expect(await document.recoveries.map(\.contents) == ["typed"])
      try await document.close()
    }
  }

  @Test("CD-60: A journal that can't be removed is kept as a version once, however often that's tried")
  func keepingAsVersion() async throws {
    try await withOrphan { fixture, home in
      var options = options(fixture, home)
      options.versions = FileVersions(
        domain: fixture.domain, storage: .directory(home.deletingLastPathComponent().appending(path: "versions")))
      let document = FileDocument(fixture.file, as: .text, options: options, in: nil)
      try await document.open()
      let found = try #require(await document.recoveries.first)
      for _ in 0..<2 {
        await #expect { try await document.resolve(found, by: .keepingAsVersion) } throws: {
          ($0 as? DocumentError)?.code == .journalNotWritten
        }
      }
      try await document.close()
      let kept = try #require(try await options.versions.versions(of: fixture.file))
      #expect(kept.count == 1)
      #expect(try await options.versions.contents(of: #require(kept.first)) == Data("typed".utf8))
    }
  }

  @Test("CD-60: Those of packages are offered as well")
  func package() async throws {
    try await withVolume { fixture in
      try fixture.makeAlbum()
      try fixture.leavePackageOrphan { $0.set("a.txt", "altered") }
    } _: { fixture, home in
      var options = DocumentOptions<PackageTree>(domain: fixture.domain, versions: fixture.versions)
      options.crashJournal = .directory(fixture.journals)
      let album = FileDocument(fixture.album, as: .package, options: options, in: nil)
      try await album.open()
      let found = await album.recoveries
      #expect(try found.first?.contents?.contents(of: SystemPath("a.txt")) == Array("altered".utf8))
      #expect(found.count == 1 && album.state.journalError == nil)
      try await album.close()
    }
  }

  @Test("CD-60: Journals of other files that are too old stay where they can't be removed, which is no error")
  func oldOnes() async throws {
    try await withVolume { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("another's", path: fixture.url("other.txt").path)
    } _: { fixture, home in
      var options = options(fixture, home)
      options.crashJournal?.time = { .max }
      let document = FileDocument(fixture.file, as: .text, options: options, in: nil)
      try await document.open()
      #expect(await document.recoveries.isEmpty && document.state.journalError == nil)
      try await document.close()
    }
  }
}

@Suite("Files that are reported once")
struct ReportedFilesTests {
  private func status(_ time: Int64) -> FileStatus {
    FileStatus(
      kind: .regular, mode: 0o600, owner: 0, group: 0, size: 1, allocatedSize: 0, modificationTime: time,
      changeTime: 0, identity: FileIdentity(device: 1, inode: 1))
  }

  @Test("CD-72: A file that was reported is reported again when it has been written")
  func altered() {
    let reported = ReportedFiles()
    #expect([1, 1, 2, 2, 1].map { reported.note(SystemPath("/a"), status($0)) } == [true, false, true, false, false])
    #expect(reported.note(SystemPath("/b"), status(1)))
  }

  @Test("CD-72: Files that aren't remembered, since there are too many, are reported each time")
  func tooMany() {
    let reported = ReportedFiles()
    for number in 1...Int64(ReportedFiles.countMax) { #expect(reported.note(SystemPath("/a"), status(number))) }
    #expect(!reported.note(SystemPath("/a"), status(Int64(ReportedFiles.countMax))))
    for _ in 0..<2 { #expect(reported.note(SystemPath("/a"), status(0))) }
  }
}
