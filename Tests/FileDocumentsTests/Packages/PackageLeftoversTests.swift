import FileCoordination
import FilePackages
import FileVersions
import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import FileDocuments

/// A process is killed at each call of the save of a package, right before whose exchange another program has written a member.
@Suite("Packages of processes that are killed", .timeLimit(.minutes(8)))
struct PackageLeftoversTests {
  enum Save: String, CaseIterable, Sendable {
    /// The package is exchanged as a whole.
    case whole
    /// One member is.
    case member

    /// The member that the other program writes.
    var theirs: String { self == .whole ? "b.txt" : "a.txt" }
  }

  private static let callCountMax = 1_500
  private static let saved: Int32 = 17

  @Test(
    "CD-14: A member that another program has written in the last instant before a process dies that saves the package is in it, or in a version, after the next open",
    arguments: Save.allCases)
  func kills(save: Save) async throws {
    try await withFixture { fixture in
      var leftCount = 0
      let (path, mark) = (fixture.album.path, fixture.url("wrote"))
      var number = 0
      while true {
        try fixture.makeAlbum()
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          [path = path as String, mark = mark.path as String, kind = save.rawValue as String, number = number as Int] in
          let save = try #require(Save(rawValue: kind))
          try await Self.saveAndDie(path, save, atCall: number, mark)
        }
        let hasWritten = fixture.exists(mark)
        if hasWritten { try FileManager.default.removeItem(at: mark) }
        let before = try leftovers(fixture)
        leftCount += before.isEmpty ? 0 : 1
        try await openNext(fixture)
        let comment: Comment = "\(save), call \(number)"
        #expect(try leftovers(fixture) == [], comment)
        #expect(try fixture.names() == ["album"], comment)
        let states = try await fixture.albumVersions() + [fixture.members()]
        if hasWritten { #expect(states.contains { $0[save.theirs] == "theirs" }, comment) }
        // A part of a package is none.
        #expect(states.allSatisfy { $0.count == 3 }, "\(comment): \(states), left \(before)")
        if result?.exitStatus == .exitCode(Self.saved) { break }
        #expect(result?.exitStatus == .signal(9))
        try await fixture.versions.removeOtherVersions(of: fixture.album)
        try FileManager.default.removeItem(at: fixture.album)
        // A save makes some hundred calls, and how many depends on the moment: only all of them meet those between a name and its removal for certain.
        number += Budget.isLong ? 1 : 13
        try #require(number < Self.callCountMax)
      }
      #expect(leftCount > 0 || !Budget.isLong)
    }
  }

  @Test(
    "CD-14: A save of the whole package keeps what a killed save of a member has left in it, or doesn't replace the package"
  )
  func beforeSaving() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      try fixture.write("theirs", to: fixture.album.appending(path: "images/.1.png.abcdefgh.fcsave"))
      try await document.edit { $0.set("a.txt", "mine") }
      try await document.edit { $0.set("b.txt", "mine") }
      try await document.save()
      #expect(try fixture.members()["b.txt"] == "mine")
      let kept = try await fixture.albumVersions()
      #expect(kept == [["a.txt": "a", "b.txt": "b", "images/1.png": "theirs"]])
      #expect(try leftovers(fixture) == [])
      // The same again is in a version already.
      try fixture.write("theirs", to: fixture.album.appending(path: "images/.1.png.abcdefgh.fcsave"))
      try await document.edit { $0.set("a.txt", "more") }
      try await document.save()
      #expect(try await fixture.albumVersions() == kept)
      #expect(try leftovers(fixture) == [])
      try await document.close()
    }
  }

  /// Opens and closes the package: a call in between has its turn after the clearing up.
  private func openNext(_ fixture: Fixture) async throws {
    let document = try await fixture.openAlbum()
    try await document.duplicate(to: fixture.url("copy"))
    try await document.close()
    try FileManager.default.removeItem(at: fixture.url("copy"))
  }

  /// The names of temporary items beside the package and in it.
  private func leftovers(_ fixture: Fixture) throws -> [String] {
    let inside = FileManager.default.enumerator(atPath: fixture.album.path)?.compactMap { $0 as? String } ?? []
    return try (fixture.names() + inside).filter { $0.hasSuffix(".fcsave") }
  }

  private static func saveAndDie(_ path: String, _ save: Save, atCall number: Int, _ mark: String) async throws {
    let left = Guarded(Int?.none)
    let place = save == .whole ? "album" : "a.txt"
    var configuration = CoordinationDomain.Configuration()
    configuration.fileSystem = ScriptedFileSystem(HostFileSystem()) { call in
      left.withLock { left -> ScriptedAction in
        guard let count = left else { return .proceed }
        if call.call == .rename, call.paths.last?.lastComponent == SystemPath(place),
          !FileManager.default.fileExists(atPath: mark)
        {
          try? Data("theirs".utf8).write(to: URL(filePath: path).appending(path: save.theirs))
          try? Data().write(to: URL(filePath: mark))
        }
        left = count - 1
        return count == 0 ? .killProcess : .proceed
      }
    }
    let domain = CoordinationDomain(configuration)
    let store = URL(filePath: path).deletingLastPathComponent().appending(path: "store")
    var options = DocumentOptions<PackageTree>(
      domain: domain, versions: FileVersions(domain: domain, storage: .directory(store)))
    options.observesUncoordinatedChanges = false
    options.autosave = .never
    let document = FileDocument(URL(filePath: path), as: .package, options: options)
    try await document.open()
    try await document.edit { $0.set("a.txt", "new") }
    if save == .whole { try await document.edit { $0.set("images/1.png", "new") } }
    left.withLock { $0 = number }
    try await document.save()
    exit(saved)
  }
}
