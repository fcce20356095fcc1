import FileCoordination
import FilePackages
import Foundation
import FileVersions
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Documents that are packages, of processes that are killed and in little memory", .timeLimit(.minutes(8)))
struct PackageDocumentCrashTests {
  private static let callCountMax = 300
  private static let saved: Int32 = 17

  @Test(
    "CD-71: A process that's killed at any call of a save leaves the old package, or the new one, which opens",
    arguments: [1, 2])
  func kills(alteredCount: Int) async throws {
    try await withFixture { fixture in
      var found: Set<[String: String]> = []
      let old = ["a.txt": "old", "b.txt": "b", "images/1.png": "one"]
      var new = ["a.txt": "new", "b.txt": "b", "images/1.png": "one"]
      if alteredCount == 2 { new["images/2.png"] = "two" }
      for number in 0..<Self.callCountMax {
        try fixture.makeAlbum(old)
        let result = await #expect(processExitsWith: .failure) {
          [path = fixture.root.path as String, number = number as Int, alteredCount = alteredCount as Int] in
          try await Self.saveAndDie(path, atCall: number, alteredCount)
        }
        let members = try fixture.members()
        #expect(members == old || members == new, "call \(number)")
        found.insert(members)
        let document = try await fixture.openAlbum()
        try await document.edit { $0.set("b.txt", "next") }
        try await document.close()
        #expect(try fixture.members()["b.txt"] == "next")
        for name in try fixture.names() { try FileManager.default.removeItem(at: fixture.url(name)) }
        if result?.exitStatus == .exitCode(Self.saved) { break }
        #expect(result?.exitStatus == .signal(9))
        #expect(number < Self.callCountMax - 1)
      }
      #expect(found == [old, new])
    }
  }

  private static func saveAndDie(_ root: String, atCall number: Int, _ alteredCount: Int) async throws {
    let left = Guarded(Int?.none)
    let files = ScriptedFileSystem(HostFileSystem()) { _ in
      left.withLock { left -> ScriptedAction in
        guard let count = left else { return .proceed }
        left = count - 1
        return count == 0 ? .killProcess : .proceed
      }
    }
    let fixture = Fixture(URL(filePath: root), files)
    let document = try await fixture.openAlbum()
    try await document.edit { tree in
      tree.set("a.txt", "new")
      if alteredCount == 2 { tree.set("images/2.png", "two") }
    }
    left.withLock { $0 = number }
    try await document.save()
    exit(saved)
  }

  @Test(
    "CD-71, PP-16: A package of 1,000 pictures takes no more memory than what's looked at, also when it's edited and saved"
  )
  func memory() async throws {
    try await withFixture { fixture in
      let picture = String(repeating: "x", count: 100 << 10)
      for number in 0..<1_000 {
        try FileManager.default.createDirectory(at: fixture.album, withIntermediateDirectories: true)
        try fixture.write(picture, to: fixture.album.appending(path: "\(number).png"))
      }
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        [path = fixture.root.path as String] in
        try await Self.lookAtSome(path)
      }
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      let growth = try #require(
        text.split(separator: "\n").compactMap { line in
          line.hasPrefix("KiB ") ? Int(line.dropFirst(4)) : nil
        }.first)
      // All of them are 100,000 KiB.
      #expect(growth < 16_384, "\(growth) KiB")
      #expect(try fixture.members().count == 1_001)
    }
  }

  /// Prints by how much the process has grown at its peak.
  private static func lookAtSome(_ root: String) async throws {
    let fixture = Fixture(URL(filePath: root))
    // Another document takes the memory first that every document shares.
    try await withFixture { other in
      try other.makeAlbum()
      let document = try await other.openAlbum()
      try await document.edit { $0.set("a.txt", "changed") }
      try await document.close()
    }
    let before = try peak()
    let document = try await fixture.openAlbum()
    for number in 0..<10 { _ = try await document.contents(ofMember: SystemPath("\(number).png")) }
    try await document.edit { tree in
      tree.set("0.png", "changed")
      tree.set("new.png", "new")
    }
    try await document.save()
    try await document.close()
    FileHandle.standardError.write(Data("KiB \(try peak() - before)\n".utf8))
  }

  /// VmHWM of proc_pid_status(5), in KiB.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return try #require(line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
  }
}
