import FilePackages
import FileVersions
import Foundation
import SeededRandom
import SystemInterface
import TestSupport
import Testing

@testable import FileDocuments

@Suite("Processes that are killed while they save a package to which another program stores", .timeLimit(.minutes(8)))
struct PackageMappingCrashTests {
  private static let callCountMax = 1_500
  private static let saved: Int32 = 17

  @Test(
    "CD-14: Text in a mapping that's stored right before the exchange is in the package, or in a version, after the next open",
    arguments: [1, 2])
  func kills(alteredCount: Int) async throws {
    try await withFixture { fixture in
      let (path, mark) = (fixture.root.path, fixture.url("stored"))
      var number = 0
      while true {
        try fixture.makeAlbum(["a.txt": "old text", "b.txt": "b"])
        let result = await #expect(processExitsWith: .failure) {
          [path = path as String, mark = mark.path as String, count = alteredCount as Int, number = number as Int] in
          try await Self.saveAndDie(path, count, atCall: number, mark)
        }
        let hasStored = fixture.exists(mark)
        if hasStored { try FileManager.default.removeItem(at: mark) }
        let document = try await fixture.openAlbum()
        // A call whose turn comes after the clearing up.
        try await document.duplicate(to: fixture.url("copy"))
        try await document.close()
        try FileManager.default.removeItem(at: fixture.url("copy"))
        let states = try await fixture.albumVersions() + [fixture.members()]
        if hasStored { #expect(states.contains { $0["a.txt"] == "theirs, " }, "call \(number): \(states)") }
        #expect(try fixture.names() == ["album"], "call \(number)")
        if result?.exitStatus == .exitCode(Self.saved) { break }
        #expect(result?.exitStatus == .signal(9))
        try await fixture.versions.removeOtherVersions(of: fixture.album)
        try FileManager.default.removeItem(at: fixture.album)
        number += Budget.isLong ? 1 : 13
        try #require(number < Self.callCountMax)
      }
    }
  }

  private static func saveAndDie(_ root: String, _ alteredCount: Int, atCall number: Int, _ mark: String) async throws {
    let album = URL(filePath: root).appending(path: "album")
    let mapping = try #require(MappedFile(album.appending(path: "a.txt").path))
    let left = Guarded(Int?.none)
    let files = ScriptedFileSystem(HostFileSystem()) { call in
      left.withLock { left -> ScriptedAction in
        guard let count = left else { return .proceed }
        if call.call == .rename, !FileManager.default.fileExists(atPath: mark) {
          mapping.store("theirs, ")
          try? Data().write(to: URL(filePath: mark))
        }
        left = count - 1
        return count == 0 ? .killProcess : .proceed
      }
    }
    let document = try await Fixture(URL(filePath: root), files).openAlbum()
    try await document.edit { tree in
      tree.set("a.txt", "mine")
      if alteredCount > 1 { tree.set("c.txt", "mine too") }
    }
    left.withLock { $0 = number }
    try await document.save()
    exit(saved)
  }
}
