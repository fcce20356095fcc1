import FileMetadata
import Foundation
import MetadataPredicates
import Testing

@Suite("The code about queries")
struct QuerySnippets {
  @Test("The example of the README")
  func readme() async throws {
    let place = try Place()
    let folder = place.url
    let small = try place.file("small.md", "a")
    _ = try place.file("big.md", String(repeating: "b", count: 20_000))
    // snippet: readme-query
    let query = try MetadataQuery(
      .fileName.hasSuffix(".md") && .fileSize > .kilobytes(10), in: [folder],
      sortedBy: [MetadataSortDescriptor("kMDItemFSName")])
    try query.start()
    let names = try await query.waitUntilCurrent().map(\.name)
    // end
    #expect(names == ["big.md"])

    async let changed = firstChange(of: query) { $0.added.map(\.item.name).contains("small.md") }
    try Data(repeating: UInt8(ascii: "a"), count: 20_000).write(to: small)
    #expect(await changed)
    #expect(query.results.map(\.name) == ["big.md", "small.md"])
    query.stop()
  }

  /// Whether there's a change that's wanted before the query is stopped.
  private func firstChange(of query: MetadataQuery, _ isWanted: @Sendable (MetadataQueryChange) -> Bool) async -> Bool {
    for await change in query.changes where isWanted(change) { return true }
    return false
  }
}
