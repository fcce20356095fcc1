import FileCoordination
import FileVersions
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Documents of processes that are killed", .timeLimit(.minutes(4)))
struct CrashTests {
  /// Enough for a process that saves to end by itself.
  private static let callCountMax = 100

  @Test(
    "CD-12, CD-14: A process that's killed at any call to the system of a save leaves the old contents, or the new ones; the next open clears up"
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

  private static let saved: Int32 = 17

  /// The save is through, and the process ends by itself, if there are fewer calls.
  private static func saveAndDie(_ path: String, atCall number: Int) async throws {
    let left = Guarded(Int?.none)
    var configuration = CoordinationDomain.Configuration()
    configuration.fileSystem = ScriptedFileSystem(HostFileSystem()) { _ in
      left.withLock { left -> ScriptedAction in
        guard let count = left else { return .proceed }
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
