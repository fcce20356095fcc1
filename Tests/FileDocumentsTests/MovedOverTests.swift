import FileCoordination
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments
@testable import FileVersions

@Suite("Two documents of one process, whose files another process brings together", .timeLimit(.minutes(8)))
struct MovedOverTests {
  /// The move, and whether the document whose file is replaced has unsaved changes.
  enum Scene: String, CaseIterable, Sendable {
    case coordinated, coordinatedBesideEdits, uncoordinated, uncoordinatedBesideEdits

    var isCoordinated: Bool { self == .coordinated || self == .coordinatedBesideEdits }
    var hasEdits: Bool { self == .coordinatedBesideEdits || self == .uncoordinatedBesideEdits }
  }

  @Test(
    "CD-28: If another process moves one document's file over another one's, the first document follows, and the other one keeps its contents in memory",
    arguments: Scene.allCases)
  func movedOver(scene: Scene) async throws {
    try await withFixture { fixture in
      let socket = fixture.url("s").path
      let (source, target) = (fixture.url("a.txt"), fixture.url("b.txt"))
      let domain = CoordinationDomain.socket(socket)
      func document(_ url: URL, _ text: String) async throws -> FileDocument<String> {
        try fixture.write(text, to: url)
        var options = fixture.options()
        options.domain = domain
        options.versions = FileVersions(domain: domain, storage: .directory(fixture.root.appending(path: "store")))
        options.observesUncoordinatedChanges = true
        options.clock = domain.configuration.clock
        let document = FileDocument(url, as: .text, options: options)
        try await document.open()
        return document
      }
      let (first, second) = (try await document(source, "first"), try await document(target, "second"))
      if scene.hasEdits { try await second.edit { $0 += ", edited" } }
      await #expect(processExitsWith: .success) {
        [
          socket = socket as String, from = source.path as String, to = target.path as String,
          isCoordinated = scene.isCoordinated as Bool
        ] in
        if isCoordinated {
          try await FileCoordinator(label: "mover", domain: .socket(socket))
            .move(URL(filePath: from), to: URL(filePath: to), replacing: true)
        } else {
          try HostFileSystem().moveItem(from: SystemPath(from), to: SystemPath(to), replacing: true)
        }
      }
      try await first.waitUntil { $0.url.lastPathComponent == "b.txt" }
      // A coordinated move announces that the file goes, and takes it away then: the document waits for the end of the mover.
      try await second.waitUntil { $0.state.conditions == .deleted && $0.state.editingObstacles.isEmpty }
      await #expect { try await second.save() } throws: { ($0 as? DocumentError)?.code == .fileDeleted }
      // The first one goes on, and nothing of the other one is in its file.
      try await first.edit { $0 += ", moved" }
      try await first.save()
      #expect(try fixture.text(of: target) == "first, moved" && !fixture.exists(source))
      // The document may still look into a change that the file system reported, and disables editing meanwhile.
      try await first.waitUntil { $0.state.conditions == .normal }
      // The other one's contents can be saved elsewhere.
      let expected = scene.hasEdits ? "second, edited" : "second"
      #expect(await second.contents == expected)
      try await second.save(as: fixture.url("c.txt"))
      #expect(try fixture.text(of: fixture.url("c.txt")) == expected)
      let versions = try await fixture.versionTexts(of: target)
      #expect(versions == [])
      try await second.close()
      try await first.close()
      #expect(try fixture.names().filter { $0.hasSuffix(".txt") } == ["b.txt", "c.txt"])
    }
  }
}
