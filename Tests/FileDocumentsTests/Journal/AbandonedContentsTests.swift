import FileCoordination
import FileCoordinationTesting
import FilePackages
import Foundation
import Glibc
import SystemInterface
import Testing

@testable import FileDocuments

/// Journals that no opening of a file finds.
@Suite("Unsaved contents of killed processes whose file is gone", .timeLimit(.minutes(8)))
struct AbandonedContentsTests {
  @Test("CD-80: Contents whose file was saved and moved by others are listed, until they're discarded")
  func file() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      #expect(try await fixture.abandoned() == [], "its file is there")
      // A new inode at another place.
      try fixture.write("theirs", to: fixture.url("moved.txt"))
      try FileManager.default.removeItem(at: fixture.file)
      let moved = FileDocument(fixture.url("moved.txt"), as: .text, options: fixture.journaled(), in: nil)
      try await moved.open()
      #expect(await moved.recoveries.isEmpty)
      try await moved.close()

      let found = try await FileDocument.abandonedContents(as: .text, options: fixture.journaled())
      let first = try #require(found.first)
      #expect(found.count == 1 && first.contents == "typed" && first.bytes == Data("typed".utf8))
      #expect(first.formerURL == fixture.file && first.date == Date(timeIntervalSince1970: 1_700_000_000))
      #expect(first.baseHash?.count == 64)
      #expect(try await fixture.abandoned() == [], "nobody else gets it meanwhile")
      try await first.discard()
      #expect(try fixture.journalNames() == [])
    }
  }

  @Test("CD-80: They stay if nobody discards them, and are offered once there's a file at the place again")
  func kept() async throws {
    try await withFixture { fixture in
      try fixture.leaveOrphan("typed", base: nil)
      #expect(try await fixture.abandoned() == ["typed"])
      #expect(try await fixture.abandoned() == ["typed"])
      try fixture.write("anew")
      #expect(try await fixture.abandoned() == [])
      let document = fixture.document()
      try await document.open()
      #expect(await document.recoveries.map(\.contents) == ["typed"])
      try await document.close()
    }
  }

  @Test("CD-80: Of a package the altered members are listed")
  func package() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      try fixture.leavePackageOrphan { tree in
        tree.set("a.txt", "altered")
        try tree.move(SystemPath("images/1.png"), to: SystemPath("cover.png"))
      }
      try FileManager.default.removeItem(at: fixture.album)
      var options = DocumentOptions<PackageTree>(domain: fixture.domain, versions: fixture.versions)
      options.crashJournal = .directory(fixture.journals)
      #expect(try await fixture.abandoned() == [], "it isn't of a file")
      let found = try await FileDocument.abandonedContents(as: .package, options: options)
      let tree = try #require(found.first?.contents)
      #expect(try tree.contents(of: SystemPath("a.txt")) == Array("altered".utf8))
      #expect(try !tree.names().contains { $0.description == "cover.png" })
      try await found.first?.discard()
      #expect(try fixture.journalNames() == [])
    }
  }

  @Test("CD-80: Journals of living processes aren't listed, and those that can't be read keep none from being listed")
  func others() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let living = fixture.document()
      try await living.open()
      try await living.edit { $0 = "mine" }
      try await living.writeJournal()
      try FileManager.default.removeItem(at: fixture.file)
      #expect(try await fixture.abandoned() == [])
      try fixture.leaveOrphan("damaged", path: fixture.url("gone.txt").path)
      let names = Set(try fixture.journalNames())
      try fixture.leaveOrphan("typed", path: fixture.url("other.txt").path)
      // The lock of the first one is a link now.
      for name in names where name.hasSuffix(".lock") {
        let lock = fixture.journals.appending(path: name)
        if try fixture.status(of: lock).kind != .regular { continue }
        try FileManager.default.removeItem(at: lock)
        try FileManager.default.createSymbolicLink(at: lock, withDestinationURL: fixture.url("elsewhere"))
      }
      #expect(try await fixture.abandoned() == ["typed"])
      try await living.close(discardingChanges: true)
    }
  }

  @Test(
    "CD-80: Contents in a directory that this user can't write are listed, and stay there; those of living processes aren't"
  )
  func unwritable() async throws {
    try await withFixture { fixture in
      await #expect(processExitsWith: .success) { [path = fixture.root.path as String] in
        // Permissions mean nothing to the superuser.
        if geteuid() == 0 {
          try #require(chown(path, 65_534, 65_534) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
        }
        let fixture = Fixture(URL(filePath: path))
        try fixture.leaveOrphan("typed")
        try fixture.leaveOrphan("without a lock", path: fixture.url("b.txt").path)
        let living = JournalFile(.directory(fixture.journals), HostFileSystem())
        try living.write(Array("living".utf8), fixture.header(of: "c.txt"))
        // The lock of the second one was removed by somebody.
        for name in try fixture.journalNames() {
          let url = fixture.journals.appending(path: name)
          let lock = url.deletingPathExtension().appendingPathExtension("lock")
          let isSecond = try url.pathExtension != "lock" && fixture.text(of: url).contains("without a lock")
          if isSecond { try FileManager.default.removeItem(at: lock) }
        }
        for name in try fixture.journalNames() { chmod(fixture.journals.appending(path: name).path, 0o400) }
        try #require(chmod(fixture.journals.path, 0o500) == 0)
        try await fixture.checkThatJournalsStay(["typed", "without a lock"])
        // Those of a file that's there are offered (CD-60).
        try fixture.write("old")
        let document = fixture.document()
        try await document.open()
        #expect(await document.recoveries.map(\.contents) == ["typed"] && document.state.journalError == nil)
        try await document.close()
        try #require(chmod(fixture.journals.path, 0o700) == 0)
        withExtendedLifetime(living) {}
      }
    }
  }

  @Test(
    "CD-80: Contents on a volume that's read-only are listed, and stay there",
    .enabled(if: BoundVolume.isPossible, "needs to mount a directory"))
  func readOnlyVolume() async throws {
    try await withFixture { fixture in
      try fixture.leaveOrphan("typed")
      let volume = try BoundVolume(fixture.journals)
      defer { volume.unmount() }
      try volume.makeReadOnly()
      try await fixture.checkThatJournalsStay(["typed"])
    }
  }

  @Test("CD-80: Without a journal, and without its directory, there's nothing")
  func nothing() async throws {
    try await withFixture { fixture in
      let found = try await FileDocument.abandonedContents(as: .text, options: fixture.options())
      #expect(found.isEmpty)
      #expect(try await fixture.abandoned() == [])
    }
  }
}

extension Fixture {
  fileprivate func abandoned() async throws -> [String?] {
    try await FileDocument.abandonedContents(as: .text, options: journaled()).map(\.contents)
  }

  fileprivate func header(of name: String) -> JournalRecord.Header {
    JournalRecord.Header(sequence: 0, time: 1, path: SystemPath(url(name).path), identity: nil, base: nil)
  }

  /// Lists journals where nothing can be removed: twice, and tries to remove them in between.
  fileprivate func checkThatJournalsStay(_ texts: Set<String>) async throws {
    let names = try journalNames()
    do {
      let found = try await FileDocument.abandonedContents(as: .text, options: journaled())
      #expect(Set(found.map(\.contents)) == Set(texts.map { $0 }))
      for contents in found {
        await #expect { try await contents.discard() } throws: {
          ($0 as? DocumentError)?.code == .journalNotWritten
        }
      }
    }
    #expect(Set(try await abandoned()) == Set(texts.map { $0 }))
    #expect(try journalNames() == names)
  }
}
