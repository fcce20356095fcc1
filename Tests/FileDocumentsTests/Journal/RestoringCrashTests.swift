import FileCoordination
import FileCoordinationTesting
import FilePackages
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Processes that are killed while they restore, or keep the journal of a package", .timeLimit(.minutes(8)))
struct RestoringCrashTests {
  /// Enough for each of these processes to end by itself.
  private static let callCountMax = 400
  private static let ended: Int32 = 17

  /// The file system of a process that dies at a call, once that's said.
  private struct Mortal: Sendable {
    let left = Guarded(Int?.none)

    var files: ScriptedFileSystem {
      ScriptedFileSystem(HostFileSystem()) { [left] _ in
        left.withLock { left -> ScriptedAction in
          guard let count = left else { return .proceed }
          left = count - 1
          return count == 0 ? .killProcess : .proceed
        }
      }
    }

    func die(atCall number: Int) { left.withLock { $0 = number } }
  }

  @Test(
    "CD-75: A process that's killed at any call after it has begun to restore leaves one offer, which has all of it",
    arguments: [true, false])
  func killedWhileRestoring(isPackage: Bool) async throws {
    try await withFixture { fixture in
      var found: Set<String> = []
      for number in 0..<Self.callCountMax {
        if isPackage {
          try fixture.makeAlbum()
          try fixture.leavePackageOrphan { $0.set("a.txt", "typed") }
        } else {
          try fixture.write("old")
          try fixture.leaveOrphan("typed")
        }
        let result = await #expect(processExitsWith: .failure) {
          [path = fixture.root.path as String, number = number as Int, isPackage = isPackage as Bool] in
          try await isPackage ? Self.restorePackageAndDie(path, number) : Self.restoreAndDie(path, number)
        }
        let texts = try await isPackage ? Self.offeredMembers(fixture) : Self.offeredTexts(fixture)
        #expect(texts.count == 1 && texts.allSatisfy { $0.hasPrefix("typed") }, "call \(number): \(texts)")
        found.formUnion(texts)
        for name in try fixture.names() { try FileManager.default.removeItem(at: fixture.url(name)) }
        if result?.exitStatus == .exitCode(Self.ended) { break }
        #expect(result?.exitStatus == .signal(9))
        #expect(number < Self.callCountMax - 1)
      }
      #expect(found == ["typed", "typed, and more"])
    }
  }

  private static func offeredTexts(_ fixture: Fixture) async throws -> [String] {
    let document = fixture.document()
    try await document.open()
    defer { Task { try await document.close() } }
    return await document.recoveries.map { $0.contents ?? "unreadable" }
  }

  private static func offeredMembers(_ fixture: Fixture) async throws -> [String] {
    let document = try await fixture.openJournaledAlbum()
    let texts = try await document.recoveries.map { try $0.contents?.listing()["a.txt"] ?? "unreadable" }
    try await document.close()
    return texts
  }

  private static func restoreAndDie(_ root: String, _ number: Int) async throws {
    let mortal = Mortal()
    let document = Fixture(URL(filePath: root), mortal.files).document()
    try await document.open()
    let recovery = try #require(await document.recoveries.first)
    mortal.die(atCall: number)
    try await document.resolve(recovery, by: .restoring)
    try await document.edit { $0 += ", and more" }
    try await document.writeJournal()
    await document.journaling?.releasing?.value
    exit(ended)
  }

  private static func restorePackageAndDie(_ root: String, _ number: Int) async throws {
    let mortal = Mortal()
    let document = try await Fixture(URL(filePath: root), mortal.files).openJournaledAlbum()
    let recovery = try #require(await document.recoveries.first)
    mortal.die(atCall: number)
    try await document.resolve(recovery, by: .restoring)
    try await document.edit { $0.set("a.txt", "typed, and more") }
    try await document.writeJournal()
    await document.journaling?.releasing?.value
    exit(ended)
  }

  private static let texts = ["a", "first", "second", "third"]

  @Test("CD-62, CD-74: A killed process's package has what was acknowledged, in the journal or on disk")
  func killedWhileEditing() async throws {
    try await withFixture { fixture in
      var found: Set<String> = []
      for number in 0..<Self.callCountMax {
        try fixture.makeAlbum()
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          [path = fixture.root.path as String, number = number as Int] in
          try await Self.editAndDie(path, number)
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let acknowledged = (0...3).last { said.contains("acknowledged \($0)") } ?? 0
        let onDisk = try fixture.members()
        let offered = try await Self.offeredMembers(fixture)
        let texts = [try #require(onDisk["a.txt"])] + offered
        let newest = (0...3).last { texts.contains(Self.texts[$0]) } ?? 0
        #expect(newest >= acknowledged, "call \(number): \(texts), although \(acknowledged) was acknowledged")
        #expect(offered.count <= 1 && texts.allSatisfy(Self.texts.contains), "call \(number): \(texts)")
        // All of a save or nothing.
        #expect(onDisk["new.txt"] == (onDisk["a.txt"] == "third" ? "new" : nil), "call \(number)")
        found.formUnion(offered)
        for name in try fixture.names() { try FileManager.default.removeItem(at: fixture.url(name)) }
        if result?.exitStatus == .exitCode(Self.ended) { break }
        #expect(result?.exitStatus == .signal(9))
        #expect(number < Self.callCountMax - 1)
      }
      #expect(found.isSuperset(of: Self.texts[1...2]))
    }
  }

  /// Edits three times: twice into the journal, and then a save of the whole package makes that needless.
  private static func editAndDie(_ root: String, _ number: Int) async throws {
    let mortal = Mortal()
    let document = try await Fixture(URL(filePath: root), mortal.files).openJournaledAlbum()
    mortal.die(atCall: number)
    for index in 1...2 {
      try await document.edit { $0.set("a.txt", texts[index]) }
      try await document.writeJournal()
      FileHandle.standardError.write(Data("acknowledged \(index)\n".utf8))
    }
    try await document.edit { tree in
      tree.set("a.txt", texts[3])
      tree.set("new.txt", "new")
    }
    try await document.save()
    FileHandle.standardError.write(Data("acknowledged 3\n".utf8))
    try await document.close()
    exit(ended)
  }
}
