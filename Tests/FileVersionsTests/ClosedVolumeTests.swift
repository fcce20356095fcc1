import FileCoordination
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

/// The versions of files on a volume on which no store can be made are in the data home, and there they are found.
@Suite("A volume whose top can't be written", .timeLimit(.minutes(2)))
struct ClosedVolumeTests {
  private struct Volumes {
    let fixture: Fixture
    let home: URL
    let closed: URL

    init(_ fixture: Fixture) throws {
      self.fixture = fixture
      home = fixture.root.appending(path: "home")
      closed = fixture.root.appending(path: "closed")
      for top in [home, closed] { try FileManager.default.createDirectory(at: top, withIntermediateDirectories: true) }
    }

    func storage(isOpen: Bool = false) -> VersionStorage {
      let tops = [home, closed].map { SystemPath($0.path) }
      return .volumes(tops, closed: isOpen ? [] : [tops[1]])
    }

    func versions(isOpen: Bool = false) -> FileVersions {
      FileVersions(domain: fixture.domain, storage: storage(isOpen: isOpen), deviceName: "desk", author: "me")
    }

    func keeper(at time: Int64) -> VersionKeeper {
      VersionKeeper(fixture.domain, storage(), fixture.versions.keeper.attributes) { time }
    }

    func write(_ text: String, _ name: String = "d/a") throws -> URL {
      let file = closed.appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      return file
    }

    /// Whether a store is on the closed volume.
    var isMade: Bool { FileManager.default.fileExists(atPath: closed.path + "/file-versions") }
  }

  private func removeTag(of file: URL) throws {
    try HostFileSystem().withDescriptor(SystemPath(file.path), flags: [.nonBlocking]) { (file) throws(SystemError) in
      try HostFileSystem().removeExtendedAttribute(VersionStore.tagName, of: file)
    }
  }

  @Test("The versions of a deleted file are listed, sized and brought back")
  func deleted() async throws {
    try await withFixture { fixture in
      let (volumes, folder) = try (Volumes(fixture), Volumes(fixture).closed)
      let versions = volumes.versions()
      #expect(try await versions.deletedFiles(below: folder) == [] && !volumes.isMade)
      let file = try volumes.write("text")
      let version = try await versions.addVersion(of: file)
      #expect(try await versions.historySizes(below: folder).map(\.url) == [file])
      try FileManager.default.removeItem(at: folder.appending(path: "d"))
      let deleted = try #require(try await versions.deletedFiles(below: folder).first)
      #expect(deleted.url == file && deleted.versions == [version])
      #expect(try await versions.historySizes(below: folder).first?.absenceDate != nil)
      try await versions.recover(deleted)
      #expect(try fixture.text(file) == "text")
      #expect(try await versions.versions(of: file) == [version])
      try FileManager.default.removeItem(at: file)
      let again = try #require(try await versions.deletedFiles(below: folder).first)
      try await versions.removeVersions(of: again)
      #expect(try await versions.deletedFiles(below: folder) == [])
      #expect(try await versions.historySizes(below: folder) == [] && !volumes.isMade)
    }
  }

  @Test("CV-29: A new file at the path of a deleted one begins a history of its own two seconds later")
  func missed() async throws {
    try await withFixture { fixture in
      let volumes = try Volumes(fixture)
      let file = try volumes.write("1")
      let path = SystemPath(file.path)
      try await volumes.versions().addVersion(of: file)
      try FileManager.default.removeItem(at: file)
      #expect(try await fixture.versions.perform { _ in try volumes.keeper(at: 1_000).versions(at: path) } == nil)
      _ = try volumes.write("2")
      let later = 1_000 + VersionStore.gracePeriod
      #expect(try await fixture.versions.perform { _ in try volumes.keeper(at: later).versions(at: path) } == [])
      #expect(!volumes.isMade)
    }
  }

  @Test(
    "A file that can't say which history it has keeps the one of its place, also when a store can be made on its volume"
  )
  func untagged() async throws {
    try await withFixture { fixture in
      let volumes = try Volumes(fixture)
      let file = try volumes.write("1")
      let version = try await volumes.versions().addVersion(of: file)
      try removeTag(of: file)
      #expect(try await volumes.versions().versions(of: file) == [version])
      // A look makes no store; the next version does.
      try removeTag(of: file)
      #expect(try await volumes.versions(isOpen: true).versions(of: file) == [version] && !volumes.isMade)
      try removeTag(of: file)
      let second = try await volumes.versions(isOpen: true).addVersion(of: file)
      #expect(volumes.isMade)
      #expect(try await volumes.versions(isOpen: true).versions(of: file) == [second, version])
      let home = try VersionStore(at: SystemPath(volumes.home.path + "/file-versions"), worker: "1", time: { 1 })
      #expect(!home.hasHistory(of: try #require(version.stored).item))
    }
  }

  @Test("A history follows moves on the volume, and to another one")
  func moves() async throws {
    try await withFixture { fixture in
      let volumes = try Volumes(fixture)
      let versions = volumes.versions()
      let file = try volumes.write("1")
      let version = try await versions.addVersion(of: file)
      try removeTag(of: file)
      let (other, last) = (volumes.closed.appending(path: "b"), volumes.home.appending(path: "c"))
      try FileManager.default.moveItem(at: file, to: other)
      try await versions.itemDidMove(from: file, to: other)
      #expect(try await versions.versions(of: other) == [version])
      try FileManager.default.moveItem(at: other, to: last)
      try await versions.itemDidMove(from: other, to: last)
      #expect(try await versions.versions(of: last) == [version])
      #expect(try await versions.versions(of: other) == nil && !volumes.isMade)
    }
  }

  @Test("A link or a directory of another user in the place of the store isn't used, not even for a look")
  func planted() async throws {
    try await withFixture { fixture in
      let volumes = try Volumes(fixture)
      let versions = volumes.versions()
      let planted = volumes.closed.appending(path: "file-versions")
      // A whole store, of a file that doesn't exist, behind the link.
      let foreign = fixture.root.appending(path: "foreign")
      let file = try volumes.write("1")
      try await FileVersions(domain: fixture.domain, storage: .directory(foreign)).addVersion(of: file)
      try removeTag(of: file)
      try FileManager.default.createSymbolicLink(at: planted, withDestinationURL: foreign)
      let before = try FileManager.default.subpathsOfDirectory(atPath: foreign.path).sorted()
      #expect(try await versions.historySizes(below: volumes.closed) == [])
      #expect(try await versions.versions(of: file) == [])
      #expect(try await versions.deletedFiles(below: volumes.closed) == [])
      #expect(try await versions.versions(of: volumes.closed.appending(path: "none")) == nil)
      #expect(try FileManager.default.subpathsOfDirectory(atPath: foreign.path).sorted() == before)
      if HostUser.effectiveUserID != 0 {
        print("left out: a directory of another user, which only root can make")
        return
      }
      try FileManager.default.removeItem(at: planted)
      try FileManager.default.moveItem(at: foreign, to: planted)
      try FileManager.default.setAttributes([.ownerAccountID: 4_711], ofItemAtPath: planted.path)
      #expect(try await versions.historySizes(below: volumes.closed) == [])
      #expect(try await versions.versions(of: file) == [])
    }
  }
}
