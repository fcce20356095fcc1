import FileCoordination
import FileCoordinationTesting
import FilePackages
import FileVersions
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

extension Fixture {
  var album: URL { url("album") }

  func packageOptions(_ autosave: AutosavePolicy = .never) -> DocumentOptions<PackageTree> {
    var options = DocumentOptions<PackageTree>(domain: domain, versions: versions)
    options.autosave = autosave
    options.clock = clock
    options.observesUncoordinatedChanges = false
    return options
  }

  /// A package with these members.
  func makeAlbum(_ members: [String: String] = ["a.txt": "a", "b.txt": "b", "images/1.png": "one"]) throws {
    for (name, text) in members {
      let url = album.appending(path: name)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try write(text, to: url)
    }
  }

  func openAlbum(
    change: (inout DocumentOptions<PackageTree>) -> Void = { _ in }
  ) async throws -> FileDocument<PackageTree> {
    var options = packageOptions()
    change(&options)
    let document = FileDocument(album, as: .package, options: options, in: nil)
    try await document.open()
    return document
  }

  /// The members of a package on disk, with their texts; not what a save of one member that was cut off left.
  func members(of url: URL? = nil) throws -> [String: String] {
    let root = url ?? album
    var members: [String: String] = [:]
    for case let name as String in FileManager.default.enumerator(atPath: root.path) ?? .init() {
      let url = root.appending(path: name)
      if name.hasSuffix(".fcsave") { continue }
      if try status(of: url).kind == .regular { members[name] = try text(of: url) }
    }
    return members
  }

  /// The members of each version of the package that's kept, newest first.
  func albumVersions() async throws -> [[String: String]] {
    var found: [[String: String]] = []
    for version in try await versions.versions(of: album) ?? [] { found.append(try members(of: version.url)) }
    return found
  }
}

extension PackageTree {
  /// Sets the text of a member; the test fails elsewhere if that isn't possible.
  mutating func set(_ name: String, _ text: String) { try? update(SystemPath(name), Array(text.utf8)) }
}

extension FileDocument where Contents == PackageTree {
  func text(_ name: String) async throws -> String {
    String(decoding: try await contents(ofMember: SystemPath(name)), as: UTF8.self)
  }
}

@Suite("Documents that are packages", .timeLimit(.minutes(8)))
struct PackageDocumentTests {
  @Test("CD-68: A package is opened, edited and saved in one step; unchanged members are the same files")
  func saving() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let before = try ["b.txt", "images/1.png"].map { try fixture.status(of: fixture.album.appending(path: $0)).inode }
      let document = try await fixture.openAlbum()
      #expect(document.state.conditions == .normal)
      let directory = try fixture.status(of: fixture.album).inode
      try await document.edit { $0.set("a.txt", "changed") }
      #expect(document.hasUnsavedChanges)
      #expect(try await document.text("a.txt") == "changed")
      #expect(try fixture.members()["a.txt"] == "a")
      #expect(try await document.save())
      #expect(try fixture.members() == ["a.txt": "changed", "b.txt": "b", "images/1.png": "one"])
      let after = try ["b.txt", "images/1.png"].map { try fixture.status(of: fixture.album.appending(path: $0)).inode }
      #expect(before == after)
      // A member that wasn't read before is read from the new directory.
      #expect(try await document.text("images/1.png") == "one")
      // One member takes its place alone; more than that is another directory.
      #expect(try fixture.status(of: fixture.album).inode == directory)
      try await document.edit { $0.set("images/1.png", "two") }
      try await document.save()
      #expect(try fixture.status(of: fixture.album).inode == directory)
      #expect(try await document.text("images/1.png") == "two")
      try await document.edit { $0.set("images/1.png", "one") }
      try await document.edit { try? $0.remove(SystemPath("b.txt")) }
      #expect(try await document.close())
      #expect(try fixture.members() == ["a.txt": "changed", "images/1.png": "one"])
      #expect(try fixture.status(of: fixture.album).inode != directory)
      #expect(try fixture.names() == ["album"])
      #expect(try await fixture.albumVersions() == [])
    }
  }

  @Test("CD-68: A new package is made, saved elsewhere, moved, copied and deleted as a file is")
  func places() async throws {
    try await withFixture { fixture in
      let document = FileDocument(fixture.album, as: .package, options: fixture.packageOptions(), in: nil)
      let missing = await #expect(throws: DocumentError.self) { try await document.open() }
      #expect(missing?.code == .fileNotFound)
      var tree = PackageTree()
      tree.set("a.txt", "a")
      try await document.open(creatingWith: tree)
      #expect(try fixture.members() == ["a.txt": "a"])
      try await document.edit { $0.set("b.txt", "b") }
      try await document.duplicate(to: fixture.url("copy"))
      #expect(try fixture.members(of: fixture.url("copy")) == ["a.txt": "a", "b.txt": "b"])
      try await document.save(as: fixture.url("other"))
      try await document.edit { $0.set("c.txt", "c") }
      try await document.save()
      #expect(try fixture.members(of: fixture.url("other")) == ["a.txt": "a", "b.txt": "b", "c.txt": "c"])
      #expect(try fixture.members() == ["a.txt": "a", "b.txt": "b"])
      try await document.move(to: fixture.url("moved"))
      try await document.edit { $0.set("a.txt", "again") }
      try await document.save()
      #expect(try fixture.members(of: fixture.url("moved"))["a.txt"] == "again")
      try await document.delete()
      #expect(try fixture.names() == ["album", "copy"])
    }
  }

  @Test(
    "CD-33, CD-68, ND-6: An edit waits while the package is written, and isn't lost; one that can't wait is told so")
  func editingWhileSaving() async throws {
    let gate = TestGate()
    let isHeld = Guarded(false)
    let files = ScriptedFileSystem(HostFileSystem()) { call in
      if call.call == .rename, isHeld.withLock({ $0 }) { gate.passBlocking() }
      return .proceed
    }
    try await withFixture(files) { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      try await document.edit { $0.set("a.txt", "first") }
      isHeld.withLock { $0 = true }
      let saving = Task { try await document.save() }
      try await gate.waitForArrival()
      // The state says so right after the save has begun, and perhaps after it has come here.
      try await document.waitUntil { $0.state.editingObstacles == .saving }
      await #expect {
        try await document.editNow { $0.set("b.txt", "never") }
      } throws: { ($0 as? DocumentError)?.code == .editingDisabled }
      let editing = Task { try await document.edit { $0.set("b.txt", "second") } }
      isHeld.withLock { $0 = false }
      gate.open()
      _ = try await saving.value
      try await editing.value
      #expect(document.hasUnsavedChanges)
      try await document.close()
      #expect(try fixture.members() == ["a.txt": "first", "b.txt": "second", "images/1.png": "one"])
    }
  }

  @Test(
    "CD-30: A save that fails after the package took its place isn't the package of another program, and loses nothing",
    arguments: [1, 2], [true, false])
  func failedAfterwards(alteredCount: Int, isEdited: Bool) async throws {
    let faults = FaultsAfterRenames()
    try await withFixture(faults.files) { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      let names = ["a.txt", "b.txt"].prefix(alteredCount)
      try await document.edit { tree in for name in names { tree.set(name, "new") } }
      faults.begin()
      await #expect(throws: DocumentError.self) { try await document.save() }
      faults.end()
      #expect(document.hasUnsavedChanges)
      #expect(try fixture.members()["a.txt"] == "new")
      if isEdited { try await document.edit { $0.set("images/1.png", "two") } }
      #expect(try await document.save())
      let second = alteredCount == 2 ? "new" : "b"
      #expect(
        try fixture.members() == ["a.txt": "new", "b.txt": second, "images/1.png": isEdited ? "two" : "one"])
      #expect(document.state.conditions == .normal)
      #expect(try await fixture.albumVersions().isEmpty)
      try await document.close()
    }
  }

  @Test("CD-69: A document without unsaved changes takes over what another program did to a member, or to the package")
  func reloading() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      var revision = document.state.revision
      try await fixture.other.replaceContents(
        of: fixture.album.appending(path: "a.txt"), with: Data("theirs".utf8))
      try await document.waitUntil { [revision] in $0.state.revision > revision }
      try await document.edit { $0.set("b.txt", "mine") }
      #expect(try await document.text("a.txt") == "theirs")
      try await document.save()
      revision = document.state.revision
      try await fixture.other.write(fixture.album) { access in
        var tree = try PackageTree(openingPackageAt: access.canonicalPath)
        try tree.remove(SystemPath("images"))
        _ = try tree.write(to: access.canonicalPath)
      }
      try await document.waitUntil { [revision] in $0.state.revision > revision }
      try await document.edit { $0.set("c.txt", "mine too") }
      try await document.close()
      #expect(try fixture.members() == ["a.txt": "theirs", "b.txt": "mine", "c.txt": "mine too"])
      #expect(try await fixture.albumVersions() == [])
    }
  }

  @Test(
    "CD-69: If something is unsaved, the altered members are the document's, and the other package is a conflict version"
  )
  func conflict() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      try await document.edit { tree in
        tree.set("a.txt", "mine")
        try? tree.move(SystemPath("b.txt"), to: SystemPath("renamed.txt"))
      }
      // Another program's save, which takes the place of the directory that the document was opened on.
      var tree = try PackageTree(openingPackageAt: SystemPath(fixture.album.path))
      tree.set("a.txt", "theirs")
      tree.set("images/1.png", "their picture")
      _ = try tree.write(to: SystemPath(fixture.album.path))
      let revision = document.state.revision
      try await document.save()
      #expect(
        try fixture.members() == ["a.txt": "mine", "renamed.txt": "b", "images/1.png": "their picture"])
      #expect(
        try await fixture.albumVersions() == [["a.txt": "theirs", "b.txt": "b", "images/1.png": "their picture"]])
      try await document.waitUntil { $0.state.conditions == .inConflict }
      // Members are those of the other program, and views learn of that.
      #expect(document.state.revision > revision)
      try await document.close()
    }
  }

  @Test("CD-18, CD-69: A reader who has waited for that save gets what it has put together")
  func conflictWhileAsked() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      try await document.edit { $0.set("a.txt", "mine") }
      var tree = try PackageTree(openingPackageAt: SystemPath(fixture.album.path))
      tree.set("b.txt", "theirs")
      _ = try tree.write(to: SystemPath(fixture.album.path))
      let seen = try await fixture.other.read(fixture.album) { _ in try fixture.members() }
      #expect(seen == ["a.txt": "mine", "b.txt": "theirs", "images/1.png": "one"])
      try await document.close()
    }
  }

  @Test(
    "CD-43, CD-69: A revert whose version can't be kept in time has timed out, and is cancelled if its task is",
    arguments: [false, true])
  func unkeptInTime(isCancelled: Bool) async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      try await document.edit { $0.set("a.txt", "mine") }
      let gate = TestGate()
      async let writing: Void = fixture.other.write(fixture.album) { _ in try await gate.pass() }
      try await gate.waitForArrival()
      let reverting = Task { try await document.revert(within: .seconds(3)) }
      try await fixture.domain.waitUntil { $0.isWaiting("document 'album'") }
      if isCancelled { reverting.cancel() } else { fixture.clock.advance(by: .seconds(3)) }
      await #expect { try await reverting.value } throws: {
        ($0 as? DocumentError)?.code == (isCancelled ? .cancelled : .timedOut)
      }
      gate.open()
      try await writing
      #expect(try await document.text("a.txt") == "mine")
      try await document.close()
    }
  }

  @Test("CD-69: A package that's gone isn't reported as a version that couldn't be kept")
  func goneBeforeKept() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      try await document.edit { $0.set("a.txt", "mine") }
      try FileManager.default.removeItem(at: fixture.album)
      await #expect { try await document.revert() } throws: { ($0 as? DocumentError)?.code == .fileDeleted }
      #expect(try await document.text("a.txt") == "mine" && document.hasUnsavedChanges)
      try await document.close(discardingChanges: true)
    }
  }

  @Test(
    "CD-69: An altered member stays a file, although another program has made a directory or a link of it; that one is a version",
    arguments: [true, false])
  func conflictOfKinds(isDirectory: Bool) async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      try await document.edit { $0.set("a.txt", "mine") }
      let member = fixture.album.appending(path: "a.txt")
      try FileManager.default.removeItem(at: member)
      if isDirectory {
        try FileManager.default.createDirectory(at: member, withIntermediateDirectories: false)
        try fixture.write("theirs", to: member.appending(path: "inner.txt"))
      } else {
        try FileManager.default.createSymbolicLink(
          at: member, withDestinationURL: fixture.album.appending(path: "b.txt"))
      }
      try await document.save()
      #expect(try fixture.members() == ["a.txt": "mine", "b.txt": "b", "images/1.png": "one"])
      let versions = try await fixture.albumVersions()
      #expect(versions.map { $0["a.txt/inner.txt"] } == [isDirectory ? "theirs" : nil])
      #expect(versions.map { $0["a.txt"] } == [nil])
      try await document.close()
    }
  }

  @Test("CD-69: The program may merge the trees, or take the other one; its own is a version then")
  func merging() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let answers = Guarded<[DocumentResolution<PackageTree>?]>([])
      let document = try await fixture.openAlbum { options in
        options.merge = { trees in
          var merged = trees.theirs
          merged.set("merged.txt", "both")
          return answers.withLock { $0.removeFirst() } ?? .merged(merged)
        }
      }
      func writeTheirs(_ text: String) throws {
        var tree = try PackageTree(openingPackageAt: SystemPath(fixture.album.path))
        tree.set("b.txt", text)
        _ = try tree.write(to: SystemPath(fixture.album.path))
      }
      answers.withLock { $0 = [nil, .takeTheirs] }
      try await document.edit { $0.set("a.txt", "mine") }
      try writeTheirs("theirs")
      try await document.save()
      #expect(
        try fixture.members() == ["a.txt": "a", "b.txt": "theirs", "images/1.png": "one", "merged.txt": "both"])
      try await document.edit { $0.set("a.txt", "mine again") }
      try writeTheirs("theirs again")
      try await document.save()
      #expect(!document.hasUnsavedChanges)
      #expect(try await document.text("b.txt") == "theirs again")
      #expect(try await fixture.albumVersions().map { $0["a.txt"] } == ["mine again"])
      try await document.close()
    }
  }

  @Test("CD-69: Reverting drops what is unsaved, as a version")
  func reverting() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      try await document.edit { $0.set("a.txt", "dropped") }
      try await document.revert()
      #expect(try await document.text("a.txt") == "a")
      #expect(try await fixture.albumVersions().map { $0["a.txt"] } == ["dropped"])
      let version = try #require(try await fixture.versions.versions(of: fixture.album)?.first)
      try await document.revert(toContentsOf: version.url)
      #expect(try await document.text("a.txt") == "dropped")
      try await document.close()
      #expect(try fixture.members() == ["a.txt": "dropped", "b.txt": "b", "images/1.png": "one"])
    }
  }

  @Test("CD-70: A member is read and replaced alone, also beside another document's access to the package")
  func members() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let directory = try fixture.status(of: fixture.album).inode
      let document = try await fixture.openAlbum()
      try await document.replaceMember(SystemPath("images/1.png"), with: Data("two".utf8))
      #expect(try fixture.members()["images/1.png"] == "two")
      #expect(try await document.text("images/1.png") == "two")
      #expect(try fixture.status(of: fixture.album).inode == directory)
      #expect(!document.hasUnsavedChanges)
      // Unsaved changes aren't lost with it, and none of it is a change of another program.
      try await document.edit { $0.set("a.txt", "unsaved") }
      try await document.replaceMember(SystemPath("b.txt"), with: Data("new".utf8))
      #expect(try fixture.members() == ["a.txt": "unsaved", "b.txt": "new", "images/1.png": "two"])
      try await document.close()
      #expect(try await fixture.albumVersions() == [])
      let missing = try await fixture.openAlbum()
      let error = await #expect(throws: DocumentError.self) { try await missing.text("none") }
      #expect(error?.code == .fileNotFound)
      try await missing.close()
    }
  }

  @Test(
    "CD-22: A package that's deleted isn't made again; its contents can be saved elsewhere if all of them are in memory"
  )
  func deleting() async throws {
    try await withFixture { fixture in
      var tree = PackageTree()
      tree.set("a.txt", "a")
      let document = FileDocument(fixture.album, as: .package, options: fixture.packageOptions(), in: nil)
      try await document.open(creatingWith: tree)
      try await document.edit { tree in
        tree.set("b.txt", "b")
        try? tree.loadAll()
      }
      try await fixture.other.delete(fixture.album)
      let error = await #expect(throws: DocumentError.self) { try await document.save() }
      #expect(error?.code == .fileDeleted)
      // The remedy isn't that of a file.
      #expect(error?.message.contains("The package was deleted") == true)
      #expect(error?.message.contains("'contents(ofMember:)'") == true)
      #expect(try await document.contents(ofMember: SystemPath("a.txt")) == Data("a".utf8))
      #expect(!fixture.exists(fixture.album))
      try await document.save(as: fixture.url("rescued"))
      #expect(try fixture.members(of: fixture.url("rescued")) == ["a.txt": "a", "b.txt": "b"])
      try await document.close()
    }
  }
}
