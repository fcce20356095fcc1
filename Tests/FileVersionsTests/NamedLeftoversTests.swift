import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

/// A save of a document exchanges its file with the former one; no store has a record of it.
@Suite("The leftovers of killed saves of documents", .timeLimit(.minutes(4)))
struct NamedLeftoversTests {
  /// Saves "result" over a file into which another program writes "theirs" in the last instant, in a process that ends right after the exchange.
  ///
  /// - Returns: The file that it leaves beside its own.
  @discardableResult
  private func save(_ name: String, _ fixture: Fixture) throws -> URL {
    let path = SystemPath(fixture.root.appending(path: name).path)
    let status = try #require(try HostFileSystem().statusIfPresent(of: path))
    let isOver = Guarded(false)
    let door = ScriptedFileSystem { call in
      if isOver.withLock({ $0 }) { return call.call == .close ? .proceed : .fail(5) }
      if call.call == .rename, call.paths.last == path.lastComponent {
        try? Data("theirs".utf8).write(to: fixture.root.appending(path: name))
        isOver.withLock { $0 = true }
      }
      return .proceed
    }
    #expect(throws: SystemError.self) {
      try door.replaceContents(of: path, with: Array("result".utf8), expecting: status)
    }
    #expect(try fixture.text(fixture.root.appending(path: name)) == "result")
    return try #require(try leftovers(fixture).first)
  }

  private func leftovers(_ fixture: Fixture) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(atPath: fixture.root.path).filter { $0.hasPrefix(".") }
      .map { fixture.root.appending(path: $0) }
  }

  @Test("CV-39: The leftover of a file that's gone becomes a version of that when deleted files are listed")
  func goneFile() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "mine")
      try await fixture.versions.addVersion(of: file)
      try save("a", fixture)
      try FileManager.default.removeItem(at: file)
      let deleted = try await fixture.versions.deletedFiles(below: fixture.root)
      #expect(deleted.map(\.url.lastPathComponent) == ["a"])
      let newest = try #require(deleted.first?.versions.first)
      #expect(try await fixture.versions.contents(of: newest) == Data("theirs".utf8))
      #expect(try leftovers(fixture) == [])
      #expect(try await fixture.versions.deletedFiles(below: fixture.root) == deleted)
    }
  }

  @Test("CV-39: A file that had no versions and is gone gets a history by what was left of it, and can be recovered")
  func goneWithoutHistory() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "mine")
      try save("a", fixture)
      try FileManager.default.removeItem(at: file)
      #expect(try await fixture.versions.keepLeftovers(of: file).count == 1)
      #expect(try await fixture.versions.keepLeftovers(of: file) == [])
      #expect(try leftovers(fixture) == [])
      let deleted = try #require(try await fixture.versions.deletedFile(at: file))
      #expect(deleted.versions.count == 1)
      try await fixture.versions.recover(deleted)
      #expect(try fixture.text(file) == "theirs")
      #expect(try await fixture.texts(file) == ["theirs"])
    }
  }

  @Test("CV-39: If the file has moved on with its history, the leftover becomes a version of it there")
  func movedHistory() async throws {
    try await withFixture { fixture in
      let (file, moved) = (try fixture.write("a", "mine"), fixture.root.appending(path: "moved"))
      try await fixture.versions.addVersion(of: file)
      try save("a", fixture)
      try FileManager.default.moveItem(at: file, to: moved)
      #expect(try await fixture.texts(moved) == ["mine"])
      let presenter = RecordingPresenter(moved)
      let registration = try await fixture.domain.register(presenter)
      let kept = try await fixture.versions.keepLeftovers(of: file)
      try await presenter.wait(for: .itemDidChangeVersion)
      #expect(presenter.messages.compactMap(\.version).map(\.version) == kept.map(\.description))
      #expect(try await fixture.texts(moved) == ["theirs", "mine"])
      #expect(try leftovers(fixture) == [])
      registration.end()
    }
  }

  @Test("CV-39: The same for what a document leaves, whether or not the file is there", arguments: [false, true])
  func document(isThere: Bool) async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "mine")
      let leftover = try save("a", fixture)
      if !isThere { try FileManager.default.removeItem(at: file) }
      let versions = VersionsWithinAccess(fixture.versions)
      let path = SystemPath(leftover.path)
      let isKept = await Offload.run { versions.keepLeftover(path, of: file) }
      #expect(isKept)
      let deleted = try await fixture.versions.deletedFile(at: file)?.versions.count
      #expect(deleted == (isThere ? nil : 1))
      #expect(try await fixture.texts(file) == (isThere ? ["theirs"] : []))
    }
  }

  @Test("CV-39: The leftovers of killed saves in a directory are listed, and nothing else")
  func listing() async throws {
    try await withFixture { fixture in
      let manager = FileManager.default
      for name in ["in", "in/deep", ".stversions", "store"] {
        try manager.createDirectory(at: fixture.root.appending(path: name), withIntermediateDirectories: true)
      }
      let left = [".a.abcdefgh.fcsave", "in/deep/.b.abcdefgh.fcsave"]
      let others = [
        "a", ".a.incoming.fcsave", ".a.goneabcd.fcsave", ".a.fcsave", "a.abcdefgh.fcsave", "in/.hidden",
        ".stversions/.a.abcdefgh.fcsave", "store/.a.abcdefgh.fcsave",
      ]
      for name in left + others { try fixture.write(name, "text") }
      // A link, and a file without contents.
      try fixture.write(".c.abcdefgh.fcsave", "")
      try manager.createSymbolicLink(
        at: fixture.root.appending(path: ".d.abcdefgh.fcsave"), withDestinationURL: fixture.root.appending(path: "a"))
      let listed = try await fixture.versions.leftovers(below: fixture.root)
      #expect(listed.map(\.url.path) == left.map { fixture.root.appending(path: $0).path })
      #expect(listed.map(\.fileURL.path) == ["a", "in/deep/b"].map { fixture.root.appending(path: $0).path })
      #expect(try await fixture.versions.keepLeftovers(of: listed[1].fileURL).count == 1)
      #expect(try await fixture.versions.leftovers(below: fixture.root).map(\.url) == [listed[0].url])
      await #expect(throws: FileVersionError.self) {
        try await fixture.versions.leftovers(below: fixture.root.appending(path: "none"))
      }
    }
  }

  @Test("CV-39: The file of a save that's under way isn't taken: its access ends first")
  func underWay() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "mine")
      let temporary = fixture.root.appending(path: ".a.abcdefgh.fcsave")
      let coordinator = FileCoordinator(label: "save", domain: fixture.domain)
      let keeping = try await coordinator.write(file) { _ in
        try fixture.write(".a.abcdefgh.fcsave", "new")
        // Otherwise it would be a part of this access.
        let keeping = Task.detached { try await fixture.versions.keepLeftovers(of: file) }
        try await fixture.domain.waitUntil { $0.accesses.contains { !$0.isGranted } }
        #expect(FileManager.default.fileExists(atPath: temporary.path))
        try FileManager.default.removeItem(at: temporary)
        return keeping
      }
      #expect(try await keeping.value == [])
      #expect(try await fixture.texts(file) == [])
    }
  }
}
