import FileCoordination
import FileDocuments
import FileVersions
import Foundation
import Glibc
import TestSupport
import Testing

/// Documents of a process that's asked to end by a signal.
@Suite("Documents of processes that are asked to end", .serialized, .blocking, .timeLimit(.minutes(4)))
struct EndingTests {
  /// A directory with a file that such a process has open.
  private struct Scene {
    let root = URL(filePath: "/tmp/ending-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    var file: URL { root.appending(path: "note.txt") }
    var socket: String { root.appending(path: "s").path }
    var versions: FileVersions { FileVersions(domain: domain, storage: .directory(root.appending(path: "store"))) }
    let domain: CoordinationDomain

    init() throws {
      domain = .socket(root.appending(path: "s").path)
      try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
      try Data("old".utf8).write(to: file)
    }

    func start(_ way: String = "") throws -> HelperProcess {
      let worker = try HelperProcess([
        "end", socket, file.path, root.appending(path: "store").path, root.appending(path: "journals").path, way,
      ])
      #expect(try worker.line() == "typed")
      return worker
    }

    var journalNames: [String] {
      get throws { try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "journals").path) }
    }

    var text: String { get throws { try String(contentsOf: file, encoding: .utf8) } }

    /// The recoveries that are offered to the next program that opens the file.
    func recovered() async throws -> [String?] {
      var options = DocumentOptions<String>(domain: domain, versions: versions)
      options.crashJournal = .directory(root.appending(path: "journals"))
      let document = FileDocument(file, as: .text, options: options)
      try await document.open()
      let texts = await document.recoveries.map(\.contents)
      try await document.close()
      return texts
    }
  }

  private func withScene(_ body: (Scene) async throws -> Void) async throws {
    let scene = try Scene()
    defer { removeSurely(scene.root.path) }
    try await body(scene)
  }

  @Test("CD-66: A signal that asks the process to end saves its documents, and then ends it", arguments: [1, 2, 15])
  func saving(signal: Int32) async throws {
    try await withScene { scene in
      let worker = try scene.start()
      #expect(try scene.text == "old")
      worker.send(signal)
      #expect(worker.status == 128 + signal)
      #expect(try scene.text == "old and typed")
      // Else it would be offered when another program has written the file.
      #expect(try scene.journalNames == [])
      #expect(try await scene.recovered() == [])
    }
  }

  @Test(
    "CD-67: Signals that come at once, as at the end of a session and of a terminal, don't keep documents from being saved"
  )
  func together() async throws {
    try await withScene { scene in
      let worker = try scene.start()
      for signal in [SIGTERM, SIGHUP, SIGTERM, SIGHUP] { worker.send(signal) }
      let status = worker.status
      #expect(status == 128 + SIGTERM || status == 128 + SIGHUP)
      #expect(try scene.text == "old and typed")
    }
  }

  @Test("CD-67: The program's own handler is called afterwards, and the next signal saves again")
  func formerHandler() async throws {
    try await withScene { scene in
      let worker = try scene.start("handler")
      worker.send(SIGTERM)
      #expect(try worker.line() == "handled")
      #expect(try scene.text == "old and typed")
      worker.send(SIGTERM)
      #expect(try worker.line() == "handled")
      // It goes on.
      try worker.tell("still here")
      #expect(try worker.line() == "still here")
      worker.send(SIGINT)
      #expect(worker.status == 128 + SIGINT)
    }
  }

  @Test("CD-67: An ignored signal stays ignored, and after a stop the signal does what it did before")
  func ignoredAndStopped() async throws {
    try await withScene { scene in
      let worker = try scene.start("ignored")
      worker.send(SIGTERM)
      try worker.tell("still here")
      #expect(try worker.line() == "still here")
      worker.send(SIGKILL)
      worker.waitUntilExit()
      let stopped = try scene.start("stopped")
      stopped.send(SIGTERM)
      #expect(stopped.status == 128 + SIGTERM)
      #expect(try scene.text == "old")
    }
  }

  @Test("CD-67: If another program has the file, the process ends at the deadline, and the journal has the text")
  func deadline() async throws {
    try await withScene { scene in
      let worker = try scene.start("impatient")
      let other = FileCoordinator(label: "other", domain: scene.domain)
      try await other.read(scene.file, options: .withoutChanges) { _ in
        worker.send(SIGTERM)
        #expect(worker.status == 128 + SIGTERM)
      }
      #expect(try scene.text == "old")
      #expect(try await scene.recovered() == ["old and typed"])
    }
  }

  @Test("CD-67: After a stop in the middle of a flush, that one is completed, and the next signal saves nothing")
  func stoppedMeanwhile() async throws {
    try await withScene { scene in
      let worker = try scene.start("handler")
      let other = FileCoordinator(label: "other", domain: scene.domain)
      try await other.read(scene.file, options: .withoutChanges) { _ in
        worker.send(SIGTERM)
        try await scene.domain.waitUntil {
          $0.accesses.contains { !$0.isGranted && $0.party.label.contains("note.txt") }
        }
        try worker.tell("stop")
        #expect(try worker.line() == "stop")
      }
      #expect(try worker.line() == "handled")
      #expect(try scene.text == "old and typed")
      try worker.tell("type")
      #expect(try worker.line() == "type")
      worker.send(SIGTERM)
      #expect(try worker.line() == "handled")
      #expect(try scene.text == "old and typed")
      worker.send(SIGKILL)
      worker.waitUntilExit()
    }
  }

  @Test("CD-67: A second signal ends the process at once")
  func secondSignal() async throws {
    try await withScene { scene in
      let worker = try scene.start()
      let other = FileCoordinator(label: "other", domain: scene.domain)
      try await other.read(scene.file, options: .withoutChanges) { _ in
        worker.send(SIGTERM)
        // It waits for this access now, for a minute.
        try await scene.domain.waitUntil {
          $0.accesses.contains { !$0.isGranted && $0.party.label.contains("note.txt") }
        }
        // Those of the first second belong to the same request.
        try await Task.sleep(for: .seconds(1))
        worker.send(SIGHUP)
        #expect(worker.status == 128 + SIGHUP)
      }
    }
  }
}
