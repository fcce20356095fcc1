import FileCoordination
import Foundation
import SystemInterface
import Testing
import VersionStore

@testable import FileVersions

@Suite("Files that were kept a moment ago")
struct KeptFilesTests {
  /// A file that was written an hour ago, and a version of it.
  private func withKeptFile(_ body: (Fixture, URL, SystemPath, StoredVersion) throws -> Void) async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "text")
      try FileManager.default.setAttributes(
        [.modificationDate: Date.now.addingTimeInterval(-3_600)], ofItemAtPath: file.path)
      let version = try await fixture.versions.addVersion(of: file)
      try body(fixture, file, SystemPath(file.path), #require(version.stored))
    }
  }

  @Test("A file's tag is no change of its contents; each write is, also one of the same length")
  func comparison() async throws {
    try await withKeptFile { fixture, _, path, version in
      func isSurelyKept() throws -> Bool {
        version.surelyIs(try #require(try HostFileSystem().statusIfPresent(of: path)))
      }
      #expect(try isSurelyKept())
      try fixture.write("a", "next")
      #expect(try !isSurelyKept())
      try fixture.write("a", "longer")
      #expect(try !isSurelyKept())
    }
  }

  @Test("A version that was made within two seconds of the write says nothing: another write may not show")
  func fresh() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "text")
      let version = try #require(try await fixture.versions.addVersion(of: file).stored)
      let status = try #require(try HostFileSystem().statusIfPresent(of: SystemPath(file.path)))
      #expect(!version.surelyIs(status))
    }
  }

  @Test("One change of each is explained, and no more are remembered than the limit")
  func limit() async throws {
    try await withKeptFile { _, _, path, version in
      var kept = KeptFiles()
      kept.note(path, version)
      #expect(kept.take(path) == version)
      #expect(kept.take(path) == nil)
      for number in 0..<KeptFiles.countMax { kept.note(path.appending("\(number)"), version) }
      #expect(kept.take(path.appending("0")) == version)
      kept.note(path.appending("0"), version)
      kept.note(path, version)
      #expect(kept.take(path.appending("0")) == nil)
      #expect(kept.take(path) == version)
    }
  }
}
