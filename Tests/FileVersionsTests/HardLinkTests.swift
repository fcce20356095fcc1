import FileCoordination
import Foundation
import SystemInterface
import Testing

@testable import FileVersions

@Suite("Versions of files with two names", .timeLimit(.minutes(1)))
struct HardLinkTests {
  /// A file `a` with another name `b`.
  private func withLinkedFile(_ body: (Fixture, _ file: URL, _ other: URL) async throws -> Void) async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "one")
      let other = fixture.root.appending(path: "b")
      try FileManager.default.linkItem(at: file, to: other)
      #expect(try fixture.inode(file) == fixture.inode(other))
      try await body(fixture, file, other)
    }
  }

  @Test("CV-38: A version of a file with two names isn't changed by writing to the file, by whichever name")
  func keeping() async throws {
    try await withLinkedFile { fixture, file, other in
      let version = try await fixture.versions.addVersion(of: file)
      try fixture.write("b", "two")
      #expect(try fixture.text(file) == "two")
      #expect(try await fixture.versions.contents(of: version) == Data("one".utf8))
      try await fixture.versions.verify(version)
      #expect(try fixture.inode(version.url) != fixture.inode(file))
      // Keeping leaves the two names one file.
      #expect(try fixture.inode(file) == fixture.inode(other))
    }
  }

  @Test("CV-38: Each name of a file has a history of its own")
  func histories() async throws {
    try await withLinkedFile { fixture, file, other in
      try await fixture.versions.addVersion(of: file)
      #expect(try await fixture.texts(other) == [])
      try fixture.write("a", "two")
      try await fixture.versions.addVersion(of: other)
      for _ in 0..<2 {
        #expect(try await fixture.texts(file) == ["one"])
        #expect(try await fixture.texts(other) == ["two"])
      }
      // They stay apart when one name is gone.
      try FileManager.default.removeItem(at: file)
      #expect(try await fixture.texts(other) == ["two"])
      #expect(try await fixture.versions.versions(of: file) == nil)
    }
  }

  @Test(
    "CV-38: A restoration gives the file of one name other contents; the other name keeps what it has, and its file")
  func restoring() async throws {
    try await withLinkedFile { fixture, file, other in
      let version = try await fixture.versions.addVersion(of: file)
      try fixture.write("a", "two")
      let inode = try fixture.inode(other)
      try await fixture.versions.restore(version, to: file)
      #expect(try fixture.text(file) == "one")
      #expect(try fixture.text(other) == "two")
      #expect(try fixture.inode(other) == inode)
      #expect(try fixture.inode(file) != inode)
      // The overwritten text is a version.
      #expect(try await fixture.texts(file) == ["two", "one"])
      #expect(try await fixture.texts(other) == [])
      // From now on they are two files.
      try fixture.write("b", "three")
      #expect(try fixture.text(file) == "one")
    }
  }

  @Test("CV-38: A save that keeps a version copies a file with two names, and parts them")
  func saving() async throws {
    try await withLinkedFile { fixture, file, other in
      let coordinator = FileCoordinator(domain: fixture.domain)
      try await coordinator.replaceContents(of: file, with: Data("two".utf8), keepingVersion: fixture.versions)
      #expect(try fixture.text(other) == "one")
      #expect(try await fixture.texts(file) == ["one"])
      try fixture.write("b", "three")
      #expect(try await fixture.texts(file) == ["one"])
    }
  }

  @Test(
    "CV-38: A file with two names that's moved into the store loses the name that was passed, and the other one isn't a way into the store"
  )
  func moving() async throws {
    try await withLinkedFile { fixture, source, other in
      let file = try fixture.write("c", "text")
      let version = try await fixture.versions.addVersion(of: file, contentsOf: source, byMoving: true)
      #expect(!FileManager.default.fileExists(atPath: source.path))
      try fixture.write("b", "two")
      #expect(try await fixture.versions.contents(of: version) == Data("one".utf8))
      #expect(try fixture.text(other) == "two")
    }
  }
}
