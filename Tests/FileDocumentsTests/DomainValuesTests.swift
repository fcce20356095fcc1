import FileCoordination
import Foundation
import Testing

@testable import FileDocuments

@Suite("Documents in several values of one domain", .timeLimit(.minutes(8)))
struct DomainValuesTests {
  private func options(_ domain: CoordinationDomain, _ fixture: Fixture) -> DocumentOptions<String> {
    var options = DocumentOptions<String>(domain: domain, versions: fixture.versions)
    options.autosave = .never
    options.observesUncoordinatedChanges = false
    return options
  }

  @Test(
    "CD-28, PP-7: Domains of one socket are one domain: a second document of an item is refused, or joins, in each of them"
  )
  func oneSocket() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try FileManager.default.createSymbolicLink(at: fixture.url("link"), withDestinationURL: fixture.root)
      let first = FileDocument(
        fixture.file, as: .text, options: options(.socket(fixture.url("s").path), fixture), in: nil)
      try await first.open()
      // Processes may spell the way to the socket differently, and so may one process.
      for path in [fixture.url("s").path, fixture.url("link/s").path] {
        let same = options(.socket(path), fixture)
        let second = FileDocument(fixture.file, as: .text, options: same, in: nil)
        await #expect { try await second.open() } throws: { ($0 as? DocumentError)?.code == .alreadyOpen }
        let joined = try await FileDocument.opened(fixture.file, as: .text, options: same, in: nil)
        #expect(joined === first)
        try await joined.close()
      }
      #expect(first.state.conditions == .normal)
      try await first.edit { $0 = "new" }
      try await first.close()
      let next = FileDocument(
        fixture.file, as: .text, options: options(.socket(fixture.url("s").path), fixture), in: nil)
      try await next.open()
      #expect(await next.contents == "new")
      try await next.close()
    }
  }

  @Test("CD-28: A document that's moved by one value of a domain is found by another one where it is")
  func moved() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let first = FileDocument(
        fixture.file, as: .text, options: options(.socket(fixture.url("s").path), fixture), in: nil)
      try await first.open()
      try await first.rename(to: "b.txt")
      let second = options(.socket(fixture.url("s").path), fixture)
      #expect(try await FileDocument.opened(fixture.url("b.txt"), as: .text, options: second, in: nil) === first)
      try await first.close()
      try await first.close()
    }
  }

  @Test("CD-28: Documents in other domains know nothing of each other")
  func otherDomains() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let domains = [
        CoordinationDomain.socket(fixture.url("s").path), .socket(fixture.url("t").path), CoordinationDomain(),
        CoordinationDomain(),
      ]
      let documents = domains.map { FileDocument(fixture.file, as: .text, options: options($0, fixture), in: nil) }
      for document in documents { try await document.open() }
      for document in documents { try await document.close() }
    }
  }
}
