import FileCoordination
import FileCoordinationTesting
import FilePackages
import FileVersions
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

extension Fixture {
  func openJournaledAlbum(_ journal: CrashJournal? = nil) async throws -> FileDocument<PackageTree> {
    try await openAlbum { $0.crashJournal = journal ?? .directory(journals) }
  }

  /// Leaves the journal of a process that had altered the package and was killed.
  func leavePackageOrphan(_ change: (inout PackageTree) throws -> Void) throws {
    let path = SystemPath(album.path)
    var tree = try PackageTree(openingPackageAt: path)
    let (base, identity) = (try tree.stamp(), tree.top?.directory.identity)
    try change(&tree)
    let header = JournalRecord.Header(
      sequence: 0, time: 1_700_000_000_000_000_000, path: path, identity: identity, base: base, form: .package)
    try JournalFile(.directory(journals), HostFileSystem()).write(PackageManifest(tree, of: identity).bytes, header)
  }
}

@Suite("The crash journal of a package", .timeLimit(.minutes(8)))
struct PackageJournalTests {
  @Test(
    "CD-74: Changes that a killed process had made to a package are offered, and restored to the package; its journal goes"
  )
  func restoring() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let picture = try fixture.status(of: fixture.album.appending(path: "images/1.png")).inode
      try fixture.leavePackageOrphan { tree in
        tree.set("a.txt", "altered")
        tree.set("new.txt", "new")
        try tree.remove(SystemPath("b.txt"))
        try tree.move(SystemPath("images/1.png"), to: SystemPath("cover.png"))
        try tree.makeDirectory(SystemPath("empty"))
      }
      let document = try await fixture.openJournaledAlbum()
      #expect(document.state.conditions == .recoverable)
      let recovery = try #require(await document.recoveries.first)
      #expect(!recovery.fileHasChanged && recovery.missingMembers == [] && recovery.changedMembers == [])
      #expect(
        try recovery.contents?.names().map(\.description) == ["a.txt", "cover.png", "empty", "images", "new.txt"])
      #expect(try fixture.members() == ["a.txt": "a", "b.txt": "b", "images/1.png": "one"])
      try await document.resolve(recovery, by: .restoring)
      #expect(document.hasUnsavedChanges && document.state.conditions == .normal)
      try await document.close()
      #expect(try fixture.members() == ["a.txt": "altered", "new.txt": "new", "cover.png": "one"])
      #expect(try fixture.status(of: fixture.album.appending(path: "cover.png")).inode == picture)
      #expect(try fixture.status(of: fixture.album.appending(path: "empty")).kind == .directory)
      #expect(try fixture.journalNames() == [])
      #expect(try await fixture.albumVersions() == [])
    }
  }

  @Test("CD-74: A journal of a package has the size of the changes; a save removes it")
  func size() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum(["a.txt": "a", "large": String(repeating: "x", count: 1 << 20)])
      let document = try await fixture.openJournaledAlbum()
      try await document.edit { tree in
        tree.set("a.txt", "altered")
        try? tree.move(SystemPath("large"), to: SystemPath("moved"))
      }
      try await document.writeJournal()
      let sizes = try fixture.journalNames().map { try fixture.status(of: fixture.journals.appending(path: $0)).size }
      #expect(sizes.count == 2 && sizes.reduce(0, +) < 1_024, "\(sizes)")
      try await document.save()
      try await document.writeJournal()
      #expect(try fixture.journalNames() == [])
      try await document.close()
    }
  }

  @Test("CD-74: A member that somebody has changed meanwhile is named, and in a version before it's replaced")
  func foreignChanges() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      try fixture.leavePackageOrphan { tree in
        tree.set("a.txt", "mine")
        try tree.remove(SystemPath("images/1.png"))
      }
      for name in ["a.txt", "b.txt", "images/1.png"] {
        try fixture.write("theirs", to: fixture.album.appending(path: name))
      }
      let document = try await fixture.openJournaledAlbum()
      let recovery = try #require(await document.recoveries.first)
      #expect(recovery.fileHasChanged)
      #expect(recovery.changedMembers.map(\.description) == ["a.txt", "images/1.png"])
      try await document.resolve(recovery, by: .restoring)
      try await document.close()
      #expect(try fixture.members() == ["a.txt": "mine", "b.txt": "theirs"])
      #expect(
        try await fixture.albumVersions() == [["a.txt": "theirs", "b.txt": "theirs", "images/1.png": "theirs"]])
    }
  }

  @Test("CD-74: Changes between the offer and its restoring are in a version as well", arguments: [true, false])
  func laterChanges(isForeign: Bool) async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      try fixture.leavePackageOrphan { $0.set("a.txt", "mine") }
      let document = try await fixture.openJournaledAlbum()
      let recovery = try #require(await document.recoveries.first)
      if isForeign {
        let revision = document.state.revision
        try await fixture.other.write(fixture.album) { access in
          var tree = try PackageTree(openingPackageAt: access.canonicalPath)
          tree.set("a.txt", "later")
          tree.set("c.txt", "c")
          _ = try tree.write(to: access.canonicalPath)
        }
        try await document.waitUntil { $0.state.revision > revision && $0.state.editingObstacles.isEmpty }
      } else {
        // Two members, so that the package is in another directory afterwards.
        try await document.edit { tree in
          tree.set("a.txt", "later")
          tree.set("c.txt", "c")
        }
        try await document.save()
      }
      try await document.resolve(recovery, by: .restoring)
      try await document.close()
      #expect(try fixture.members() == ["a.txt": "mine", "b.txt": "b", "c.txt": "c", "images/1.png": "one"])
      #expect(
        try await fixture.albumVersions() == [["a.txt": "later", "b.txt": "b", "c.txt": "c", "images/1.png": "one"]])
    }
  }

  @Test("CD-74: A moved member that's gone from the package since is named; all others are restored")
  func missingMembers() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      try fixture.leavePackageOrphan { tree in
        try tree.move(SystemPath("b.txt"), to: SystemPath("moved.txt"))
        tree.set("a.txt", "mine")
      }
      try FileManager.default.removeItem(at: fixture.album.appending(path: "b.txt"))
      let document = try await fixture.openJournaledAlbum()
      let recovery = try #require(await document.recoveries.first)
      #expect(recovery.missingMembers == [SystemPath("moved.txt")])
      #expect(recovery.changedMembers == [SystemPath("b.txt")])
      try await document.resolve(recovery, by: .restoring)
      try await document.close()
      #expect(try fixture.members() == ["a.txt": "mine", "images/1.png": "one"])
    }
  }

  @Test("CD-62, CD-74: Changes that the package has already aren't offered", arguments: [1, 2])
  func needless(alteredCount: Int) async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      func change(_ tree: inout PackageTree) throws {
        tree.set("a.txt", "altered")
        if alteredCount > 1 { try tree.move(SystemPath("b.txt"), to: SystemPath("images/b.txt")) }
      }
      try fixture.leavePackageOrphan(change)
      var tree = try PackageTree(openingPackageAt: SystemPath(fixture.album.path))
      try change(&tree)
      _ = try tree.write(to: SystemPath(fixture.album.path))
      let document = try await fixture.openJournaledAlbum()
      #expect(await document.recoveries.isEmpty)
      #expect(try fixture.journalNames() == [])
      try await document.close()
    }
  }

  @Test("CD-74: The changes may be kept as a version of the package, or discarded")
  func keeping() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      try fixture.leavePackageOrphan { $0.set("a.txt", "first") }
      try fixture.leavePackageOrphan { $0.set("a.txt", "second") }
      let document = try await fixture.openJournaledAlbum()
      let recoveries = await document.recoveries
      try #require(recoveries.count == 2)
      let first = try #require(try recoveries.first { try $0.contents?.listing()["a.txt"] == "first" })
      try await document.resolve(first, by: .keepingAsVersion)
      for recovery in recoveries where recovery.id != first.id {
        try await document.resolve(recovery, by: .discarding)
      }
      #expect(!document.hasUnsavedChanges)
      #expect(try fixture.journalNames() == [])
      #expect(try await fixture.albumVersions() == [["a.txt": "first", "b.txt": "b", "images/1.png": "one"]])
      try await document.close()
    }
  }

  @Test("CD-74: Members of a version that the document took over are in the journal, which needs no version then")
  func contentsOfVersions() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openJournaledAlbum()
      try await document.edit { $0.set("images/1.png", "dropped") }
      try await document.revert()
      let version = try #require(try await fixture.versions.versions(of: fixture.album)?.first)
      let path = SystemPath(version.url.path(percentEncoded: false))
      let tree = try PackageTree(openingPackageAt: path.parent.appending(path.lastComponent))
      try await document.edit { $0 = tree }
      try await document.writeJournal()
      let records = try fixture.journalNames().compactMap { name in
        JournalRecord(Array(try Data(contentsOf: fixture.journals.appending(path: name))))
      }
      let manifest = try PackageManifest(bytes: try #require(records.first).contents)
      #expect(
        try manifest.applied(to: PackageTree()).tree.listing()
          == ["a.txt": "a", "b.txt": "b", "images": "directory", "images/1.png": "dropped"])
      try await document.close(discardingChanges: true)
    }
  }

  @Test("CD-73: Changes that are larger than a journal may be are in the state")
  func tooLarge() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      var journal = CrashJournal.directory(fixture.journals)
      journal.byteCountMax = 1_000
      let document = try await fixture.openJournaledAlbum(journal)
      try await document.edit { $0.set("a.txt", String(repeating: "x", count: 1_001)) }
      let error = await #expect(throws: DocumentError.self) { try await document.writeJournal() }
      #expect(error?.code == .journalNotWritten)
      #expect(document.state.conditions == .journalError)
      try await document.edit { $0.set("a.txt", "less") }
      try await document.writeJournal()
      #expect(document.state.conditions == .normal)
      try await document.close(discardingChanges: true)
    }
  }

  @Test("CD-74: The journal of a file isn't offered to a package at its place, nor the other way round")
  func otherForms() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      try fixture.leaveOrphan("typed", path: fixture.album.path)
      let document = try await fixture.openJournaledAlbum()
      #expect(await document.recoveries.isEmpty && document.state.conditions == .normal)
      try await document.close()
      try fixture.leavePackageOrphan { $0.set("a.txt", "altered") }
      try FileManager.default.removeItem(at: fixture.album)
      try fixture.write("a file", to: fixture.album)
      let file = FileDocument(fixture.album, as: .text, options: fixture.journaled(), in: nil)
      try await file.open()
      #expect(await file.recoveries.map(\.contents) == ["typed"])
      try await file.close()
    }
  }
}
