import FileCoordination
import FileCoordinationTesting
import FileVersions
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Documents in the harness that checks presenters", .timeLimit(.minutes(8)))
struct ConformanceTests {
  @Test("CD-17 to CD-22: The harness for presenters finds no fault with a document", arguments: [false, true])
  func findings(isEdited: Bool) async throws {
    try await withFixture { fixture in
      // The harness has presenters only; it's the documents that have to live.
      let documents = Guarded<[ObjectIdentifier: FileDocument<String>]>([:])
      let edit: PresenterConformance.Edit = { presenter in
        guard let document = documents.withLock({ $0[ObjectIdentifier(presenter)] }) else { throw CancellationError() }
        let line = "\(UUID())\n"
        try await document.edit { $0 += line }
        return Data(line.utf8)
      }
      let harness = PresenterConformance(edit: isEdited ? edit : nil) { url, domain in
        var options = DocumentOptions<String>(
          domain: domain, versions: FileVersions(domain: domain, storage: .directory(fixture.url("store"))))
        options.autosave = .never
        let document = FileDocument(url, as: .text, options: options)
        try await document.open()
        guard let presenter = await document.presence?.presenter else { throw CancellationError() }
        documents.withLock { $0[ObjectIdentifier(presenter)] = document }
        return presenter
      }
      let findings = await harness.run()
      #expect(findings == [], "\(findings)")
    }
  }
}
