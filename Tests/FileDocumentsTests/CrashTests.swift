import FileCoordination
import FileVersions
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Documents of processes that are killed", .timeLimit(.minutes(8)))
struct CrashTests {
  /// Enough for a process that saves to end by itself.
  private static let callCountMax = 100

  @Test(
    "CD-12, CD-14, UD-17: A process that's killed at any call to the system of a save leaves the old contents, or the new ones; the next open clears up"
  )
  func kills() async throws {
    try await withFixture { fixture in
      let path = fixture.file.path
      var texts: Set<String> = []
      for number in 0..<Self.callCountMax {
        try fixture.write("old")
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          [path = path as String, number = number as Int] in
          try await Self.saveAndDie(path, atCall: number)
        }
        let text = try fixture.text()
        #expect(text == "old" || text == "new")
        texts.insert(text)
        // The next one opens it, and saves.
        let document = FileDocument(fixture.file, as: .text, options: fixture.options())
        try await document.open()
        try await document.edit { $0 = "next" }
        try await document.close()
        #expect(try fixture.text() == "next")
        #expect(try fixture.names() == ["note.txt"])
        if result?.exitStatus == .exitCode(Self.saved) { break }
        #expect(result?.exitStatus == .signal(9))
        #expect(number < Self.callCountMax - 1)
      }
      #expect(texts == ["old", "new"])
    }
  }

  @Test(
    "CD-14: Text that another program has written in the last instant before a process dies that saves is in the file, or a version, after the next open"
  )
  func killsBesideAnother() async throws {
    try await withFixture { fixture in
      let path = fixture.file.path
      let mark = fixture.url("wrote")
      var leftoverCount = 0
      for number in 0..<Self.callCountMax {
        try fixture.write("old")
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          [path = path as String, mark = mark.path as String, number = number as Int] in
          try await Self.saveAndDie(path, atCall: number, besideAnother: mark)
        }
        let hasWritten = fixture.exists(mark)
        if hasWritten { try FileManager.default.removeItem(at: mark) }
        leftoverCount += try fixture.names().count - 1
        let document = FileDocument(fixture.file, as: .text, options: fixture.options())
        try await document.open()
        // A call whose turn comes after the clearing up.
        try await document.duplicate(to: fixture.url("copy.txt"))
        try await document.close()
        try FileManager.default.removeItem(at: fixture.url("copy.txt"))
        #expect(try fixture.names() == ["note.txt"])
        let texts = try await fixture.versionTexts() + [fixture.text()]
        if hasWritten { #expect(texts.contains("theirs"), "call \(number): \(texts)") }
        if result?.exitStatus == .exitCode(Self.saved) { break }
        #expect(result?.exitStatus == .signal(9))
        #expect(number < Self.callCountMax - 1)
        try await fixture.versions.removeOtherVersions(of: fixture.file)
      }
      #expect(leftoverCount > 0)
    }
  }

  private static let saved: Int32 = 17

  /// The save is through, and the process ends by itself, if there are fewer calls.
  ///
  /// Another program, which doesn't wait, writes its text into the file right before the exchange of names.
  private static func saveAndDie(_ path: String, atCall number: Int, besideAnother mark: String? = nil) async throws {
    let left = Guarded(Int?.none)
    var configuration = CoordinationDomain.Configuration()
    configuration.fileSystem = ScriptedFileSystem(HostFileSystem()) { call in
      left.withLock { left -> ScriptedAction in
        guard let count = left else { return .proceed }
        if let mark, call.call == .rename, !FileManager.default.fileExists(atPath: mark) {
          try? Data("theirs".utf8).write(to: URL(filePath: path))
          try? Data().write(to: URL(filePath: mark))
        }
        left = count - 1
        return count == 0 ? .killProcess : .proceed
      }
    }
    let domain = CoordinationDomain(configuration)
    let store = URL(filePath: path).deletingLastPathComponent().appending(path: "store")
    var options = DocumentOptions<String>(
      domain: domain, versions: FileVersions(domain: domain, storage: .directory(store)))
    options.observesUncoordinatedChanges = false
    options.autosave = .never
    let document = FileDocument(URL(filePath: path), as: .text, options: options)
    try await document.open()
    try await document.edit { $0 = "new" }
    left.withLock { $0 = number }
    try await document.save()
    exit(saved)
  }
}
