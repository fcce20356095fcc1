import FileCoordination
import FileDocuments
import FileVersions
import Foundation
import SeededRandom
import SystemInterface
import TestSupport
import Testing

/// A document that reverts while other processes write its file.
@Suite("Documents that revert beside writers of other processes", .serialized, .blocking, .timeLimit(.minutes(4)))
struct RevertingTests {
  /// Texts whose reading waits until it may go on.
  private struct HeldFormat: DocumentFormat {
    /// Called before each reading.
    let gate = Guarded<(@Sendable () throws -> Void)?>(nil)

    func contents(of bytes: Data) throws -> String {
      try gate.withLock({ $0.take() })?()
      return String(decoding: bytes, as: UTF8.self)
    }

    func bytes(of contents: String) -> Data { Data(contents.utf8) }
  }

  /// ```
  /// document  edit  [ reads to revert          ]            [ check ]
  /// writer 1                 asks ·············[ writes ]
  /// writer 2                  asks ······················[ writes ]
  /// ```
  @Test(
    "CD-29: Two writes of other processes in quick succession during a revert: all of them end, and nothing is lost")
  func writersDuringRevert() async throws {
    let root = URL(filePath: "/tmp/reverting-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    defer { removeSurely(root.path) }
    let (file, socket) = (root.appending(path: "note.txt"), root.appending(path: "s").path)
    try Data("old".utf8).write(to: file)
    let domain = CoordinationDomain.socket(socket)
    let versions = FileVersions(domain: domain, storage: .directory(root.appending(path: "store")))
    var options = DocumentOptions<String>(domain: domain, versions: versions)
    options.autosave = .never
    options.deadline = .seconds(60)
    let format = HeldFormat()
    let document = FileDocument(file, as: format, options: options)
    try await document.open()
    let writers = [
      try HelperProcess(["overwrite", socket, file.path]), try HelperProcess(["overwrite", socket, file.path]),
    ]
    for writer in writers { #expect(try writer.line() == "ready") }
    for round in 0..<(Budget.isLong ? 50 : 10) {
      try await document.edit { $0 = "mine \(round)" }
      let isReading = ThreadEvent()
      let mayGoOn = ThreadEvent()
      format.gate.withLock {
        $0 = {
          isReading.signal()
          mayGoOn.wait()
        }
      }
      let reverting = Task { try await document.revert() }
      isReading.wait()
      for (number, writer) in writers.enumerated() { try writer.tell("theirs \(round).\(number)") }
      try await domain.waitUntil { snapshot in snapshot.accesses.filter { !$0.isGranted }.count == 2 }
      mayGoOn.signal()
      try await reverting.value
      for (number, writer) in writers.enumerated() { #expect(try writer.line() == "wrote theirs \(round).\(number)") }
      // The last news is read before anything is edited.
      try await document.edit { _ in }
      try await document.save()
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(text.hasPrefix("theirs \(round)."))
      #expect(await document.contents == text)
      var kept: [String] = []
      for version in try await versions.versions(of: file) ?? [] {
        kept.append(String(decoding: try await versions.contents(of: version), as: UTF8.self))
      }
      #expect(kept.contains("mine \(round)"))
    }
    try await document.close()
    for writer in writers {
      writer.finish()
      #expect(writer.status == 0)
    }
  }
}
