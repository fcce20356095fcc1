import FileMetadata
import Foundation
import MetadataPredicates
import Testing

@Suite("The code about queries", .serialized)
struct QuerySnippets {
  private func log(_ text: String) { Issue.record("\(text)") }

  @Test("The example of the README")
  func readme() async throws {
    let place = try Place()
    let folder = place.url
    let small = try place.file("small.md", "a")
    _ = try place.file("big.md", String(repeating: "b", count: 20_000))
    // snippet: readme-query
    let query = try MetadataQuery(
      .fileName.hasSuffix(".md") && .fileSize > .kilobytes(10), in: [folder],
      sortedBy: [MetadataSortDescriptor(.fileName)])
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

  @Test("The examples of the guide")
  func guide() async throws {
    let place = try Place()
    let folder = place.url
    _ = try place.file("a.md", "a")
    _ = try place.file("b.md", "bb")
    _ = try place.file("c.txt", "c")
    // snippet: query-once
    let query = try MetadataQuery(.fileName.hasSuffix(".md"), in: [folder])
    try query.start()
    let notes = try await query.waitUntilCurrent()
    query.stop()
    // end
    #expect(Set(notes.map(\.name)) == ["a.md", "b.md"])
    // snippet: query-groups
    let types = notes.valueList(of: "kMDItemContentType")
    let bySize = notes.groups(by: ["kMDItemFSSize"]).map(\.items.count)
    // end
    #expect(types.map(\.count) == [2] && bySize == [1, 1])
    try query.start()
    #expect(await follow(query) == Set(["a.md", "b.md"]))
    try await places(folder)
    try await provide(folder)
    try query.start()
    // snippet: query-audit
    if let audit = await query.audit(), !audit.isClean {
      for difference in audit.differences { log("\(difference)") }
    }
    // end
    try await query.waitUntilCurrent()
    let cursor = try #require(query.cursor)
    _ = try place.file("d.md", "d")
    let uploads = Uploads()
    let next = try await uploads.synchronize(query, since: cursor)
    #expect(next == query.cursor && next != cursor && uploads.names == ["d.md"])
    let (shown, continuation) = AsyncStream.makeStream(of: [String].self)
    let observation = await observe(query, List(continuation))
    for await names in shown where Set(names) == ["a.md", "b.md", "d.md"] { break }
    observation.cancel()
  }

  @MainActor private struct List {
    let shown: AsyncStream<[String]>.Continuation

    nonisolated init(_ shown: AsyncStream<[String]>.Continuation) { self.shown = shown }

    func show(_ names: [String], isComplete: Bool) { shown.yield(names) }
  }

  private func observe(_ query: MetadataQuery, _ list: List) async -> MetadataQueryObservation {
    // snippet: query-observe
    let observation = query.observe { @MainActor query, change in
      list.show(change.results.map(\.name), isComplete: !change.isGathering)
    }
    // end
    return observation
  }

  private final class Uploads {
    var names: [String] = []

    func upload(_ items: [MetadataItem]) { names += items.map(\.name) }

    // snippet: query-cursor
    func synchronize(_ query: MetadataQuery, since cursor: MetadataQueryCursor) async throws -> MetadataQueryCursor? {
      try await query.waitUntilCurrent()
      switch query.changes(since: cursor) {
      case .changes(let change, let next)?:
        upload(change.added.map(\.item) + change.changed.map(\.new))
        return next
      case .tooOld(let everything, let next)?:
        upload(Array(everything))
        return next
      case nil: return nil
      }
    }
    // end
  }

  private func provide(_ folder: URL) async throws {
    try Data("1\n2\n3\n4".utf8).write(to: folder.appending(path: "long.md"))
    // snippet: query-provider
    let lengths = AttributeProvider(["lineCount"], for: ["public.text"]) { url in
      let text = try String(contentsOf: url, encoding: .utf8)
      return ["lineCount": .integer(Int64(text.split(separator: "\n").count))]
    }
    let long = try MetadataQuery(
      MetadataPredicate(format: "kMDItemFSName ENDSWITH '.md' AND lineCount > 2"), in: [folder],
      sortedBy: [MetadataSortDescriptor("lineCount", .descending)], providers: [lengths])
    // end
    try long.start()
    #expect(try await long.waitUntilCurrent().map(\.name) == ["long.md"])
    try FileManager.default.removeItem(at: folder.appending(path: "long.md"))
  }

  private func places(_ project: URL) async throws {
    // snippet: query-scopes
    let settings = try MetadataQuery(
      .constant(true), scopes: [.directory(project.appending(path: "Plugins"))],
      items: [project.appending(path: "settings.json")])
    // end
    try settings.start()
    #expect(try await settings.waitUntilCurrent().isEmpty)
    try FileManager.default.createDirectory(
      at: project.appending(path: "Plugins/one"), withIntermediateDirectories: true)
    try Data().write(to: project.appending(path: "settings.json"))
    #expect(try await Set(settings.waitUntilCurrent().map(\.name)) == ["one", "settings.json"])
  }

  @Test("The example of an index that's kept")
  func kept() async throws {
    let (place, otherPlace) = (try Place(), try Place())
    let (project, caches) = (place.url, otherPlace.url)
    _ = try place.file("new.md", "")
    // snippet: query-kept
    let notes = try MetadataQuery(
      .fileName.hasSuffix(".md"), in: [project],
      options: ScopeOptions(gatheringDepth: .names, indexDirectory: caches.appending(path: "index")))
    // end
    try notes.start()
    #expect(try await notes.waitUntilCurrent().map(\.name) == ["new.md"])
    try await notes.saveIndex()
    #expect(try FileManager.default.contentsOfDirectory(atPath: caches.appending(path: "index").path).count == 1)
  }

  private func follow(_ query: MetadataQuery) async -> Set<String> {
    // snippet: query-follow
    var items: [MetadataItem] = []
    for await change in query.changes {
      items = change.applied(to: items)
      if change.finishesGathering { break }
    }
    // end
    return Set(items.map(\.name))
  }

  /// Whether an expected change comes before the query is stopped.
  private func firstChange(of query: MetadataQuery, _ isWanted: @Sendable (MetadataQueryChange) -> Bool) async -> Bool {
    for await change in query.changes where isWanted(change) { return true }
    return false
  }
}
