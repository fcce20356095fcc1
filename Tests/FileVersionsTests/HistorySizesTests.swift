import FileCoordination
import Foundation
import SystemInterface
import Testing

@testable import FileVersions

@Suite("The space that the versions of files take", .timeLimit(.minutes(4)))
struct HistorySizesTests {
  /// Every name below a directory, with what is there.
  private func tree(_ root: URL) throws -> [String: Data] {
    var tree: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
      tree[name] = (try? Data(contentsOf: root.appending(path: name))) ?? Data()
    }
    return tree
  }

  @Test("PP-3: Files are listed by the space of their versions, the largest first, each contents once")
  func order() async throws {
    try await withFixture { fixture in
      let versions = fixture.versions
      for (name, texts) in ["small": ["1", "22"], "large": ["1234567890", "other", "1234567890"], "big": ["1234567"]] {
        for text in texts { try await versions.addVersion(of: fixture.write(name, text)) }
      }
      let sizes = try await versions.historySizes(below: fixture.root)
      #expect(sizes.map(\.url.lastPathComponent) == ["large", "big", "small"])
      #expect(sizes.map(\.versionCount) == [3, 1, 2])
      #expect(sizes.map(\.byteCount) == [25, 7, 3] && sizes.map(\.storedByteCount) == [15, 7, 3])
      #expect(sizes.allSatisfy { $0.absenceDate == nil && $0.removedCount == 0 && $0.conflictCount == 0 })
      let large = fixture.root.appending(path: "large")
      #expect(sizes[0].oldestDate == (try await versions.versions(of: large))?.last?.additionDate)
      // A file, and a directory beside them.
      #expect(try await versions.historySizes(below: large) == [sizes[0]])
      #expect(try await versions.historySizes(below: fixture.root.appending(path: "none")) == [])
      let link = fixture.root.appending(path: "link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: fixture.root)
      #expect(try await versions.historySizes(below: link) == sizes)
    }
  }

  @Test(
    "PP-3: Removed versions and those of deleted files take space as well, conflicts are counted, and nothing is when all are gone"
  )
  func others() async throws {
    try await withFixture { fixture in
      let versions = fixture.versions
      let file = try fixture.write("a", "kept")
      try await versions.addVersion(of: file, isConflict: true)
      let removed = try await versions.addVersion(of: fixture.write("a", "removed"))
      try await versions.remove(removed, of: file)
      let gone = try fixture.write("b", "gone")
      try await versions.addVersion(of: gone)
      try FileManager.default.removeItem(at: gone)
      let sizes = try await versions.historySizes(below: fixture.root)
      #expect(sizes.map(\.url) == [file, gone] && sizes.map(\.storedByteCount) == [11, 4])
      #expect(sizes.map(\.byteCount) == [4, 4] && sizes.map(\.versionCount) == [1, 1])
      #expect(sizes.map(\.removedCount) == [1, 0] && sizes.map(\.conflictCount) == [1, 0])
      #expect(sizes.map { $0.absenceDate == nil } == [true, false])
      try await versions.itemWasDeleted(at: gone)
      let deleted = try #require(try await versions.deletedFile(at: gone))
      let noted = try await versions.historySizes(below: fixture.root)
      #expect(noted.map(\.absenceDate) == [nil, deleted.absenceDate])
      try await versions.removeVersions(of: deleted)
      #expect(try await versions.historySizes(below: fixture.root) == [sizes[0]])
    }
  }

  @Test("PP-3: Members that several versions of a package have count once")
  func packages() async throws {
    try await withFixture { fixture in
      let album = fixture.root.appending(path: "album")
      try FileManager.default.createDirectory(at: album, withIntermediateDirectories: false)
      try fixture.write("album/a", "12345")
      for text in ["1", "22"] {
        try fixture.write("album/b", text)
        try await fixture.versions.addVersion(of: album, isPackage: true)
      }
      let sizes = try await fixture.versions.historySizes(below: fixture.root)
      #expect(sizes.map(\.byteCount) == [13] && sizes.map(\.storedByteCount) == [8])
    }
  }

  @Test(
    "PP-3: The list changes nothing in the store: missed files, versions without directories and leftovers stay as they are"
  )
  func readingOnly() async throws {
    try await withFixture { fixture in
      let versions = fixture.versions
      let (file, gone) = (try fixture.write("a", "1"), try fixture.write("b", "22"))
      // Kept without a directory of its own.
      try await FileCoordinator(domain: fixture.domain).replaceContents(
        of: file, with: Data("333".utf8), keepingVersion: versions)
      try await versions.addVersion(of: gone)
      try FileManager.default.removeItem(at: gone)
      try fixture.write(".a.abcdefgh.fcsave", "left")
      let before = try tree(fixture.root)
      #expect(before.keys.contains { $0.contains("/bare/") })
      #expect(try await versions.historySizes(below: fixture.root).map(\.storedByteCount) == [2, 1])
      #expect(try tree(fixture.root) == before)
      // The file is only missed: it comes back with its history.
      try fixture.write("b", "22")
      #expect(try await versions.versions(of: gone)?.count == 1)
    }
  }

  @Test("PP-3: Nobody has to wait for the list, nor the list for anybody; it ends when its task is cancelled")
  func waits() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      try await fixture.versions.addVersion(of: file)
      try await FileCoordinator(domain: fixture.domain).write(fixture.root, options: .forReplacing) { _ in
        let sizes = try await fixture.versions.historySizes(below: fixture.root)
        #expect(sizes.count == 1)
      }
      let cancelled = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await codeOfError { _ = try await fixture.versions.historySizes(below: fixture.root) }
      }
      #expect(await cancelled.value == .coordination)
    }
  }

  @Test("PP-3: A version whose record is damaged isn't counted, and the list says that there is one")
  func damaged() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      try await fixture.versions.addVersion(of: file)
      let version = try await fixture.versions.addVersion(of: fixture.write("a", "22"))
      let record = version.url.deletingLastPathComponent().deletingLastPathComponent().appending(path: "record")
      try FileManager.default.removeItem(at: record)
      try Data("damaged".utf8).write(to: record)
      let sizes = try await fixture.versions.historySizes(below: fixture.root)
      #expect(sizes.map(\.versionCount) == [1] && sizes.map(\.damagedCount) == [1])
      #expect(sizes.map(\.storedByteCount) == [1])
    }
  }
}
