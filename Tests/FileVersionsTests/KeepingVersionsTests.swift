import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

@Suite("Verbs that keep what they overwrite", .timeLimit(.minutes(4)))
struct KeepingVersionsTests {
  @Test("A directory whose name has no extension is a package only if that's said, or if it was kept before")
  func directories() async throws {
    try await withFixture { fixture in
      try FileManager.default.createDirectory(
        at: fixture.root.appending(path: "folder"), withIntermediateDirectories: false)
      try FileManager.default.createDirectory(
        at: fixture.root.appending(path: "n.pages"), withIntermediateDirectories: false)
      let (folder, source) = (fixture.root.appending(path: "folder"), try fixture.write("n.pages/text", "1"))
      try fixture.write("folder/text", "1")
      let package = source.deletingLastPathComponent()
      for operation in [
        { try await fixture.versions.addVersion(of: folder) },
        { try await fixture.versions.addVersion(of: folder, contentsOf: package) },
      ] {
        let error = await #expect(throws: FileVersionError.self) { try await operation() }
        #expect(error?.code == .notAFile && error?.message.contains("isPackage") == true)
      }
      #expect(try await fixture.versions.versions(of: folder) == [])
      let first = try await fixture.versions.addVersion(of: folder, isPackage: true)
      let second = try await fixture.versions.addVersion(of: folder)
      #expect(try await fixture.versions.versions(of: folder) == [second, first] && first.isPackage)
      #expect(try await fixture.versions.addVersion(of: package).isPackage)
    }
  }

  @Test("Replaced contents are a version, by the file that had them, and the file keeps its permissions")
  func replacing() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.txt", "old")
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
      let inode = try fixture.inode(file)
      let coordinator = FileCoordinator(domain: fixture.domain)
      try await coordinator.replaceContents(of: file, with: Data("new".utf8), keepingVersion: fixture.versions)
      #expect(try fixture.text(file) == "new")
      let kept = try #require(try await fixture.versions.versions(of: file))
      #expect(try await fixture.texts(file) == ["old"])
      #expect(try fixture.inode(kept[0].url) == inode)
      let modes = try [file, kept[0].url].map {
        try FileManager.default.attributesOfItem(atPath: $0.path)[.posixPermissions] as? Int
      }
      #expect(modes == [0o640, 0o444])
      #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.root.path + "/store/steps") == [])
      // A file that has other names, which others may write to, is copied.
      try FileManager.default.linkItem(at: file, to: fixture.root.appending(path: "other"))
      try await coordinator.replaceContents(of: file, with: Data("newer".utf8), keepingVersion: fixture.versions)
      try fixture.write("other", "overwritten")
      #expect(try await fixture.texts(file) == ["new", "old"])
    }
  }

  @Test("A file that isn't there has nothing to keep; one that can't be replaced gets no version")
  func nothingToKeep() async throws {
    try await withFixture { fixture in
      let file = fixture.root.appending(path: "a")
      let coordinator = FileCoordinator(domain: fixture.domain)
      try await coordinator.replaceContents(of: file, with: Data("1".utf8), keepingVersion: fixture.versions)
      #expect(try await fixture.versions.versions(of: file) == [])
      let directory = fixture.root.appending(path: "directory")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
      await #expect(throws: (any Error).self) {
        try await coordinator.replaceContents(of: directory, with: Data(), keepingVersion: fixture.versions)
      }
      #expect(try await fixture.versions.versions(of: directory) == [])
    }
  }

  @Test("Verbs that can't keep a version throw an error that says what to do, and leave the file")
  func errors() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "old")
      try await fixture.versions.addVersion(of: file)
      let format = fixture.root.appending(path: "store/format")
      try FileManager.default.removeItem(at: format)
      try Data("of a later release".utf8).write(to: format)
      let coordinator = FileCoordinator(domain: fixture.domain)
      #expect(
        await codeOfError {
          try await coordinator.replaceContents(of: file, with: Data(), keepingVersion: fixture.versions)
        } == .unknownFormat)
      #expect(
        await codeOfError {
          try await coordinator.update(file, keepingVersion: fixture.versions) { $0 = Data() }
        } == .unknownFormat)
      #expect(
        await codeOfError {
          try await coordinator.update(fixture.root, keepingVersion: fixture.versions) { $0 = Data() }
        } == .fileSystem)
      #expect(try fixture.text(file) == "old")
    }
  }

  @Test("A failure of what replaces leaves the file, and no version")
  func failure() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "old")
      let keeper = fixture.versions.keeper
      struct Stop: Error {}
      await #expect(throws: (any Error).self) {
        try await fixture.versions.perform { _ in
          try keeper.coordinator.blocking.write(file) { access in try keeper.keep(access) { _, _, _ in throw Stop() } }
        }
      }
      #expect(try fixture.text(file) == "old")
      #expect(try await fixture.versions.versions(of: file) == [])
      // A program that wrote to the file in place instead doesn't write to the version.
      try await fixture.versions.perform { _ in
        try keeper.coordinator.blocking.write(file) { access in
          try keeper.keep(access) { path, _, _ in
            let handle = try FileHandle(forWritingTo: URL(filePath: path.description))
            try handle.seekToEnd()
            try handle.close()
          }
        }
      }
      try fixture.write("a", "new")
      #expect(try await fixture.texts(file) == ["old"])
    }
  }

  @Test("An update keeps what it has changed, and nothing if it leaves it")
  func updating() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let coordinator = FileCoordinator(domain: fixture.domain)
      for text in ["2", "", "3"] {
        try await coordinator.update(file, keepingVersion: fixture.versions) { $0.append(contentsOf: text.utf8) }
      }
      #expect(try fixture.text(file) == "123")
      #expect(try await fixture.texts(file) == ["12", "1"])
    }
  }

  @Test("A write in place, and one of a package, keep what was there before")
  func writing() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "old")
      let coordinator = FileCoordinator(domain: fixture.domain)
      try await coordinator.write(file, keepingVersion: fixture.versions) { access in
        try Data("new".utf8).write(to: access.url)
      }
      #expect(try await fixture.texts(file) == ["old"])
      let package = fixture.root.appending(path: "p.bundle")
      try FileManager.default.createDirectory(at: package, withIntermediateDirectories: false)
      try fixture.write("p.bundle/member", "1")
      try await coordinator.write(package, keepingVersion: fixture.versions) { access in
        try Data("2".utf8).write(to: access.url.appending(path: "member"))
      }
      let kept = try #require(try await fixture.versions.versions(of: package)?.first)
      #expect(kept.isPackage && kept.size == 1)
      try await fixture.versions.restore(kept, to: package)
      #expect(try fixture.text(package.appending(path: "member")) == "1")
    }
  }

  @Test("Stored contents that somebody has changed don't take the place of equal ones that come later")
  func damagedContents() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "same")
      let damaged = try await fixture.versions.addVersion(of: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: damaged.url.path)
      try Data("sane".utf8).write(to: damaged.url, options: [])
      let handle = try FileHandle(forWritingTo: damaged.url)
      try handle.write(contentsOf: Data("sane".utf8))
      try handle.close()
      let intact = try await fixture.versions.addVersion(of: file)
      #expect(try await fixture.versions.contents(of: intact) == Data("same".utf8))
      let third = try await fixture.versions.addVersion(of: file)
      #expect(try fixture.inode(third.url) == fixture.inode(intact.url))
    }
  }

  @Test("CV-09: A directory for new versions is empty, on the volume of the store, another one each time, and goes")
  func temporaryDirectory() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let (versions, first, second) = (fixture.versions, fixture.directories, fixture.directories)
      try await versions.withTemporaryDirectory(for: file) { directory in
        await first.set(directory)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
        let source = directory.appending(path: "draft")
        try Data("2".utf8).write(to: source)
        let inode = try fixture.inode(source)
        let version = try await versions.addVersion(of: file, contentsOf: source, byMoving: true)
        #expect(try fixture.inode(version.url) == inode)
      }
      try await versions.withTemporaryDirectory(for: file) { await second.set($0) }
      let (one, other) = (try #require(await first.url), try #require(await second.url))
      #expect(one != other)
      #expect(!FileManager.default.fileExists(atPath: one.path) && !FileManager.default.fileExists(atPath: other.path))
    }
  }

  @Test("CV-14: A version becomes discardable; the current one doesn't")
  func discardable() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let version = try await fixture.versions.addVersion(of: file)
      #expect(!version.isDiscardable)
      #expect(try await fixture.versions.markDiscardable(version, of: file).isDiscardable)
      #expect(try await fixture.versions.versions(of: file)?.first?.isDiscardable == true)
      let current = try #require(try await fixture.versions.currentVersion(of: file))
      await #expect { try await fixture.versions.markDiscardable(current, of: file) } throws: {
        ($0 as? FileVersionError)?.code == .isCurrent
      }
    }
  }
}
