import FileCoordination
import FileCoordinationTesting
import FilePackages
import Foundation
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
}
