import FileCoordination
import FileCoordinationTesting
import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import FileDocuments
@testable import FileVersions

/// Each domain object takes part for itself, over the socket, like a process.
@Suite("Documents of several parties that meet at a socket: Concurrency", .timeLimit(.minutes(8)))
struct ConcurrencyManyDomainsTests {
  private struct Party: Sendable {
    let domain: CoordinationDomain
    let options: DocumentOptions<String>

    init(_ fixture: Fixture) {
      var configuration = CoordinationDomain.Configuration()
      configuration.standsForProcess = true
      domain = .socket(fixture.url("s").path, configuration)
      var options = DocumentOptions<String>(
        domain: domain, versions: FileVersions(domain: domain, storage: .directory(fixture.url("store"))))
      options.autosave = .never
      self.options = options
    }
  }

  @Test("Two documents of one file take turns: each has what the other has saved, and no version is needed")
  func turns() async throws {
    try await withFixture { fixture in
      try fixture.write("")
      let parties = [Party(fixture), Party(fixture)]
      var documents: [FileDocument<String>] = []
      for party in parties {
        let document = FileDocument(fixture.file, as: .text, options: party.options)
        try await document.open()
        documents.append(document)
      }
      var expected = ""
      for turn in 0..<10 {
        let (writer, reader) = (documents[turn % 2], documents[1 - turn % 2])
        let revision = reader.state.revision
        try await writer.edit { $0 += "\(turn)" }
        try await writer.save()
        expected += "\(turn)"
        try await reader.waitUntil { $0.state.revision > revision && $0.state.editingObstacles.isEmpty }
        #expect(await reader.contents == expected)
      }
      for document in documents { try await document.close() }
      #expect(try fixture.text() == expected)
      #expect(try await fixture.versionTexts() == [])
    }
  }

  @Test("CD-18, CD-22: Another party reads what is unsaved, moves the file, and deletes it")
  func otherParty() async throws {
    try await withFixture { fixture in
      let (mine, theirs) = (Party(fixture), Party(fixture))
      let document = FileDocument(fixture.file, as: .text, options: mine.options)
      try await document.open(creatingWith: "old")
      try await document.edit { $0 = "unsaved" }
      let other = FileCoordinator(label: "other", domain: theirs.domain)
      #expect(try await other.contents(of: fixture.file) == Data("unsaved".utf8))
      try await other.move(fixture.file, to: fixture.url("b.txt"))
      try await document.waitUntil { $0.url.lastPathComponent == "b.txt" }
      try await document.edit { $0 = "moved" }
      #expect(try await other.contents(of: fixture.url("b.txt")) == Data("moved".utf8))
      try await other.delete(fixture.url("b.txt"))
      try await document.waitUntil { $0.state.conditions == .deleted }
      #expect(await document.contents == "moved")
      try await document.close()
      #expect(!fixture.exists(fixture.url("b.txt")))
    }
  }

  /// A line for each edit, so that each can be found again.
  private static func merge(_ texts: DocumentMerge<String>) -> String {
    let mine = texts.mine.split(separator: "\n")
    let known = Set(texts.theirs.split(separator: "\n"))
    return texts.theirs + mine.filter { !known.contains($0) }.map { $0 + "\n" }.joined()
  }

  @Test(
    "In each order of operations, each edit is in the file or in a version",
    arguments: Budget.seeds(normal: 4, long: 200))
  func everything(seed: UInt64) async throws {
    try await withFixture { fixture in
      try fixture.write("")
      let parties = [Party(fixture), Party(fixture)]
      let lines = Guarded<Set<String>>([])
      try await withThrowingTaskGroup { group in
        for (number, party) in parties.enumerated() {
          group.addTask { try await Self.edit(fixture, party, number, seed, lines) }
        }
        group.addTask {
          var random = SplitMix(seed: seed &* 3 &+ 2)
          let other = FileCoordinator(label: "other", domain: Party(fixture).domain)
          for round in 0..<12 {
            let line = "other \(round)"
            if random.chance(1, in: 2) {
              try await other.update(fixture.file) { $0.append(Data("\(line)\n".utf8)) }
            } else {
              // Doesn't ask for what is unsaved.
              try await other.write(fixture.file) { access in
                var contents = try await access.contents()
                contents.append(Data("\(line)\n".utf8))
                try await access.replaceContents(with: contents)
              }
            }
            lines.withLock { _ = $0.insert(line) }
          }
        }
        try await group.waitForAll()
      }
      var found = Set(try fixture.text().split(separator: "\n").map(String.init))
      for text in try await fixture.versionTexts() { found.formUnion(text.split(separator: "\n").map(String.init)) }
      let lost = lines.withLock { $0.subtracting(found) }
      #expect(lost == [], "seed \(seed)")
    }
  }

  /// One document, opened several times, with edits, saves, reverts, and readers.
  private static func edit(
    _ fixture: Fixture, _ party: Party, _ number: Int, _ seed: UInt64, _ lines: Guarded<Set<String>>
  ) async throws {
    var random = SplitMix(seed: seed &* 3 &+ UInt64(number))
    var options = party.options
    if seed % 2 == 0 { options.merge = { texts in .merged(Self.merge(texts)) } }
    let document = FileDocument(fixture.file, as: .text, options: options)
    for session in 0..<3 {
      try await document.open()
      for round in 0..<8 {
        let line = "\(number).\(session).\(round)"
        try await document.edit { $0 += line + "\n" }
        lines.withLock { _ = $0.insert(line) }
        switch random.below(5) {
        case 0: try await document.save()
        case 1: try await document.revert()
        case 2: _ = try await FileCoordinator(domain: party.domain).contents(of: fixture.file)
        default: break
        }
      }
      try await document.close()
    }
  }
}
