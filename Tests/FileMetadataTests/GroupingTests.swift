import Foundation
import MetadataPredicates
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("Value lists and groups of results", .serialized, .timeLimit(.minutes(4)))
struct GroupingTests {
  /// Files of three types in two sizes.
  private func makeTree() throws -> TemporaryTree {
    let tree = try TemporaryTree()
    for (name, text) in [("a.md", "1"), ("b.md", "22"), ("c.txt", "1"), ("d.png", "22"), ("e.md", "1")] {
      try tree.write(tree.path(name), text)
    }
    return tree
  }

  private func results(_ tree: TemporaryTree) async throws -> MetadataResults {
    let query = try MetadataQuery(
      .constant(true), in: [URL(filePath: tree.root.description)], sortedBy: [MetadataSortDescriptor("kMDItemFSName")])
    try query.start()
    return try await query.waitUntilCurrent()
  }

  @Test("R26: a value list has each value once, and its counts add up to the number of results")
  func valueList() async throws {
    let results = try await results(try makeTree())
    let list = results.valueList(of: "kMDItemContentType")
    #expect(list.map(\.value) == ["net.daringfireball.markdown", "public.plain-text", "public.png"])
    #expect(list.map(\.count) == [3, 1, 1])
    #expect(results.valueList(of: "kMDItemFSSize").map(\.count) == [3, 2])
  }

  @Test("R27: results without the attribute are counted under no value")
  func missing() async throws {
    let results = try await results(try makeTree())
    #expect(results.valueList(of: "kMDItemAlbum").map { [$0.value, .integer(Int64($0.count))] } == [[.null, 5]])
    #expect(results.groups(by: ["kMDItemAlbum"]).map(\.items.count) == [5])
  }

  @Test("A result with several values counts for each of them")
  func severalValues() async throws {
    let list = try await results(try makeTree()).valueList(of: "kMDItemContentTypeTree")
    let counts = Dictionary(uniqueKeysWithValues: list.map { ($0.value, $0.count) })
    #expect(counts["public.data"] == 5 && counts["public.text"] == 4 && counts["public.image"] == 1)
  }

  @Test("R28, R42: groups by the first attribute have groups by the second, and all results below")
  func groups() async throws {
    let groups = try await results(try makeTree()).groups(by: ["kMDItemContentType", "kMDItemFSSize"])
    #expect(groups.map(\.value) == ["net.daringfireball.markdown", "public.plain-text", "public.png"])
    #expect(groups.map(\.attribute) == ["kMDItemContentType", "kMDItemContentType", "kMDItemContentType"])
    let first = try #require(groups.first)
    #expect(first.items.map(\.name) == ["a.md", "b.md", "e.md"])
    let subgroups = try #require(first.subgroups)
    #expect(subgroups.map(\.value) == [1, 2])
    #expect(subgroups.map { $0.items.map(\.name) } == [["a.md", "e.md"], ["b.md"]])
    #expect(subgroups.allSatisfy { $0.subgroups == nil })
    #expect(try await results(try makeTree()).groups(by: []).isEmpty)
  }

  @Test("R25: value lists and groups go by what was put in the place of a value")
  func replacements() async throws {
    let results = try await results(try makeTree())
    func isLarge(_ value: MetadataValue) -> MetadataValue { value == 2 ? "large" : "small" }
    #expect(results.valueList(of: "kMDItemFSSize", replacing: isLarge).map(\.value) == ["small", "large"])
    let groups = results.groups(by: ["kMDItemFSSize"]) { attribute, value in
      attribute == "kMDItemFSSize" ? isLarge(value) : value
    }
    #expect(groups.map { $0.items.map(\.name) } == [["a.md", "c.txt", "e.md"], ["b.md", "d.png"]])
  }

  @Test("R29: the next results have the next value list and groups, and the ones before stay as they are")
  func live() async throws {
    let tree = try makeTree()
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)])
    try query.start()
    let before = try await query.waitUntilCurrent()
    try tree.unlink("d.png")
    try tree.write("f.txt")
    let after = try await query.waitUntilCurrent()
    func counts(_ results: MetadataResults) -> [MetadataValue: Int] {
      let pairs = results.valueList(of: "kMDItemContentType").map { ($0.value, $0.count) }
      return Dictionary(uniqueKeysWithValues: pairs)
    }
    let markdown: MetadataValue = "net.daringfireball.markdown"
    #expect(counts(before) == [markdown: 3, "public.plain-text": 1, "public.png": 1])
    #expect(counts(after) == [markdown: 3, "public.plain-text": 2])
    #expect(after.groups(by: ["kMDItemContentType"]).count == 2)
  }
}
