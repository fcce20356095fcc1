import FileCoordination
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

@Suite("Looks at versions, and what a restoration keeps", .timeLimit(.minutes(4)))
struct LooksAtVersionsTests {
  enum Look: CaseIterable, Sendable {
    case versions, newestVersions, currentVersion, version
  }

  @Test(
    "CV-29: A file that a look has missed begins a history of its own two seconds later, and goes on with its own before that",
    arguments: Look.allCases, [VersionStore.gracePeriod - 1, VersionStore.gracePeriod])
  func missed(look: Look, later: Int64) async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let version = try await fixture.versions.addVersion(of: file)
      try FileManager.default.removeItem(at: file)
      let path = SystemPath(file.path)
      let stored = try #require(version.stored)
      let isMissed = try await fixture.versions.perform { _ in
        let keeper = self.keeper(fixture, at: 1_000)
        return switch look {
        case .versions: try keeper.versions(at: path) == nil
        case .newestVersions: try keeper.newestVersions(at: path, countMax: 1) == nil
        case .currentVersion: try keeper.currentVersion(at: path) == nil
        case .version: try keeper.version(stored.id, of: stored.item, at: path) == nil
        }
      }
      #expect(isMissed)
      try fixture.write("a", "2")
      let found = try await fixture.versions.perform { _ in
        try self.keeper(fixture, at: 1_000 + later).versions(at: path)
      }
      #expect(found == (later < VersionStore.gracePeriod ? [version] : []))
    }
  }

  private func keeper(_ fixture: Fixture, at time: Int64) -> VersionKeeper {
    VersionKeeper(fixture.domain, fixture.storage, fixture.versions.keeper.attributes) { time }
  }

  @Test(
    "On a full volume the versions of a file that has come there are listed where they were, however much of a store there's room for",
    arguments: ["", "/contents", "/items", "/places", "/removed", "/steps"])
  func fullVolume(last: String) async throws {
    try await withFixture { fixture in
      let tops = ["x", "y"].map { fixture.root.appending(path: $0) }
      for top in tops { try FileManager.default.createDirectory(at: top, withIntermediateDirectories: true) }
      let storage = VersionStorage.volumes(tops.map { SystemPath($0.path) })
      let versions = FileVersions(domain: fixture.domain, storage: storage)
      let (old, new) = (tops[0].appending(path: "a"), tops[1].appending(path: "a"))
      try Data("1".utf8).write(to: old)
      let version = try await versions.addVersion(of: old)
      try FileManager.default.moveItem(at: old, to: new)
      let own = SystemPath(tops[1].path + "/file-versions")
      let (place, isFull) = (SystemPath(own.description + last), Guarded(false))
      let door = ScriptedFileSystem { call in
        guard call.call == .makeDirectory, let path = call.paths.last, path == own || path.isInside(own) else {
          return .proceed
        }
        return isFull.withLock { isFull in
          if isFull { return .fail(28) }
          isFull = path == place
          return .proceed
        }
      }
      let keeper = VersionKeeper(fixture.domain, storage, versions.keeper.attributes, files: door) { 1_000 }
      let path = SystemPath(new.path)
      // The second look doesn't try to take the history over.
      for _ in 1...2 {
        let found = try await versions.perform { _ in
          try keeper.looking(at: path) { store in try store.tags(of: path).flatMap { try store.versions(of: $0) } }
        }
        #expect(found.map(\.id) == [version.stored?.id])
      }
      #expect(isFull.withLock { $0 })
      let listed = try await versions.perform { _ in try keeper.versions(at: path) }
      #expect(listed?.map(\.id) == [version.id])
    }
  }

  @Test("A look at a path where nothing ever was makes no store")
  func nothing() async throws {
    try await withFixture { fixture in
      let versions = try await fixture.versions.versions(of: fixture.root.appending(path: "a"))
      let names = try FileManager.default.contentsOfDirectory(atPath: fixture.root.path)
      #expect(versions == nil && names == [])
    }
  }

  @Test("A symbolic link has no versions, and the error says where it leads")
  func links() async throws {
    try await withFixture { fixture in
      let link = fixture.root.appending(path: "link")
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "a")
      for isThere in [false, true] {
        if isThere { try fixture.write("a", "1") }
        for error in [
          await errorOf { try await fixture.versions.versions(of: link) },
          await errorOf { try await fixture.versions.addVersion(of: link) },
        ] {
          #expect(error?.code == .notAFile)
          #expect(error?.message.contains("'\(link.path)' is a symbolic link to 'a'") == true, "\(error as Any)")
        }
      }
    }
  }

  @Test("A store that has lost its format is still one, and has its versions")
  func lostFormat() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let version = try await fixture.versions.addVersion(of: file)
      let format = fixture.root.appending(path: "store/format")
      let text = try fixture.text(format)
      try FileManager.default.removeItem(at: format)
      #expect(try await fixture.versions.versions(of: file) == [version])
      #expect(try fixture.text(format) == text)
    }
  }

  @Test("CV-17: Contents that the newest version has are overwritten without a second version of them")
  func keptOnce() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let first = try await fixture.versions.addVersion(of: file)
      try fixture.write("a", "2")
      try await fixture.versions.addVersion(of: file)
      try await fixture.versions.restore(first, to: file)
      #expect(try fixture.text(file) == "1")
      #expect(try await fixture.texts(file) == ["2", "1"])
      // The newest one has other contents now.
      let second = try #require(try await fixture.versions.versions(of: file)?.first)
      try await fixture.versions.restore(second, to: file)
      #expect(try await fixture.texts(file) == ["1", "2", "1"])
    }
  }

  enum Doubt: CaseIterable, Sendable {
    case conflict, discardable, damaged, otherMode
  }

  @Test("CV-17: They're kept once more if the newest version may go, or isn't what it was", arguments: Doubt.allCases)
  func keptTwice(doubt: Doubt) async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let first = try await fixture.versions.addVersion(of: file)
      try fixture.write("a", "2")
      let second = try await fixture.versions.addVersion(of: file, isConflict: doubt == .conflict)
      switch doubt {
      case .conflict: break
      case .discardable: try await fixture.versions.markDiscardable(second, of: file)
      case .damaged:
        let path = second.url.path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try Data("3".utf8).write(to: second.url)
      case .otherMode: try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      }
      try await fixture.versions.restore(first, to: file)
      let versions = try #require(try await fixture.versions.versions(of: file))
      #expect(versions.count == 3)
      #expect(try await fixture.versions.contents(of: versions[0]) == Data("2".utf8))
    }
  }

  @Test("A merge keeps the contents that it overwrites once")
  func merging() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "mine")
      try await fixture.versions.addVersion(of: file, contentsOf: fixture.write("b", "theirs"), isConflict: true)
      try await fixture.versions.addVersion(of: file)
      try await fixture.versions.resolve(at: file, keepsOthers: true) { _ in .merged(Data("both".utf8)) }
      #expect(try fixture.text(file) == "both")
      #expect(try await fixture.texts(file) == ["mine", "theirs"])
    }
  }
}
