import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Crash journals of processes that are killed", .timeLimit(.minutes(8)))
struct JournalCrashTests {
  /// Enough for a process that writes and removes its journal to end by itself.
  private static let callCountMax = 200
  private static let ended: Int32 = 17

  @Test(
    "CD-62: A process that's killed at any call to the system leaves the last record or the one before, whole, or has saved"
  )
  func kills() async throws {
    try await withFixture { fixture in
      var found: Set<String> = []
      for number in 0..<Self.callCountMax {
        try fixture.write("old")
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          [path = fixture.root.path as String, number = number as Int] in
          try await Self.writeAndDie(path, atCall: number)
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let acknowledged = (0...3).last { said.contains("acknowledged \($0)") } ?? 0
        let text = try fixture.text()
        let document = fixture.document()
        try await document.open()
        let recoveries = await document.recoveries
        let texts = recoveries.map { $0.contents ?? "unreadable" } + [text]
        #expect(recoveries.count <= 1)
        let newest = (0...3).last { index in texts.contains(Self.texts[index]) } ?? 0
        #expect(newest >= acknowledged, "call \(number): \(texts), although \(acknowledged) was acknowledged")
        #expect(texts.allSatisfy { Self.texts.contains($0) }, "\(texts)")
        if text == Self.texts[3] { #expect(recoveries.allSatisfy { $0.contents != Self.texts[1] }) }
        found.formUnion(recoveries.compactMap(\.contents))
        for recovery in recoveries { try await document.resolve(recovery, by: .discarding) }
        try await document.close()
        if fixture.exists(fixture.journals) { try FileManager.default.removeItem(at: fixture.journals) }
        for name in try fixture.names() where name != "note.txt" {
          try FileManager.default.removeItem(at: fixture.url(name))
        }
        if result?.exitStatus == .exitCode(Self.ended) { break }
        #expect(result?.exitStatus == .signal(9))
        #expect(number < Self.callCountMax - 1)
      }
      #expect(found.isSuperset(of: Self.texts[1...2]))
    }
  }

  private static let texts = ["old", "first", "first, second", "first, second, third"]

  /// Types three times: twice into the journal, and then a save makes that needless.
  private static func writeAndDie(_ root: String, atCall number: Int) async throws {
    let left = Guarded(Int?.none)
    let files = ScriptedFileSystem(HostFileSystem()) { _ in
      left.withLock { left -> ScriptedAction in
        guard let count = left else { return .proceed }
        left = count - 1
        return count == 0 ? .killProcess : .proceed
      }
    }
    let fixture = Fixture(URL(filePath: root), files)
    let document = fixture.document()
    try await document.open()
    left.withLock { $0 = number }
    for index in 1...2 {
      try await document.edit { $0 = texts[index] }
      try await document.writeJournal()
      FileHandle.standardError.write(Data("acknowledged \(index)\n".utf8))
    }
    try await document.edit { $0 = texts[3] }
    try await document.save()
    FileHandle.standardError.write(Data("acknowledged 3\n".utf8))
    try await document.close()
    exit(ended)
  }
}
