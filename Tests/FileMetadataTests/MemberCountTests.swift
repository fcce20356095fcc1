import FileWatching
import Foundation
import MetadataPredicates
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("Queries by the number of members", .blocking, .serialized)
struct MemberCountTests {
  private static let attribute = "kMDItemFSNodeCount"
  /// More than an engine reads in one turn, so that directories are found before their members.
  private static let directoryCount = 1_500

  private func query(
    _ tree: TemporaryTree, _ predicate: MetadataPredicate, sortedBy order: [MetadataSortDescriptor] = [],
    _ depth: ScopeOptions.GatheringDepth = .attributes
  ) throws -> MetadataQuery {
    try MetadataQuery(
      predicate, in: [URL(filePath: tree.root.description)], sortedBy: order, batching: .immediate,
      options: ScopeOptions(gatheringDepth: depth))
  }

  private func fullTree() throws -> TemporaryTree {
    let tree = try TemporaryTree()
    for number in 0..<Self.directoryCount {
      try tree.makeDirectory("d\(number)")
      try tree.write("d\(number)/f")
    }
    return tree
  }

  @Test(
    "Directories that are found before their members aren't empty",
    arguments: [ScopeOptions.GatheringDepth.names, .attributes])
  func predicate(depth: ScopeOptions.GatheringDepth) async throws {
    let tree = try fullTree()
    let query = try query(tree, try MetadataPredicate(format: "kMDItemFSNodeCount == 0"), depth)
    try query.start()
    var live = LiveQuery(query)
    try await live.gather()
    #expect(try await query.waitUntilCurrent().map(\.path) == [])
    try tree.unlink("d7/f")
    #expect(try await query.waitUntilCurrent().map(\.name) == ["d7"])
    try tree.rename("d8/f", to: "d7/f")
    #expect(try await query.waitUntilCurrent().map(\.name) == ["d8"])
    query.stop()
  }

  @Test("R41: directories move as members come, and each is there once")
  func order() async throws {
    let tree = try fullTree()
    let query = try query(
      tree, try MetadataPredicate(format: "kMDItemFSName BEGINSWITH 'd'"),
      sortedBy: [.init(Self.attribute, .descending), .init("kMDItemPath")])
    try query.start()
    var live = LiveQuery(query)
    try await live.gather()
    #expect(live.items.count == Self.directoryCount)
    for name in ["g", "h"] { try tree.write("d9/\(name)") }
    try tree.unlink("d3/f")
    let results = try await query.waitUntilCurrent()
    #expect(results.count == Self.directoryCount && Set(results.map(\.path)).count == Self.directoryCount)
    #expect(results.first?.name == "d9" && results.last?.name == "d3")
    while live.items.first?.name != "d9" || live.items.last?.name != "d3" { _ = try await live.next() }
    query.stop()
  }

  @Test("A directory that's asked for alone is counted when it's asked for, and sorted as one without a number")
  func items() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b"] { try tree.makeDirectory(name) }
    try tree.write("a/1")
    let query = try MetadataQuery(
      .constant(true), scopes: [], items: ["a", "b"].map { URL(filePath: tree.path($0).description) },
      sortedBy: [.init(Self.attribute), .init("kMDItemPath")], batching: .immediate)
    try query.start()
    var live = LiveQuery(query)
    try await live.gather()
    for number in 0..<5 {
      try tree.write("b/\(number)")
      if number == 2 { try tree.unlink("a/1") }
      #expect(try await query.waitUntilCurrent().map(\.name) == ["a", "b"])
    }
    let counts = try await query.waitUntilCurrent().map { $0.value(forAttribute: Self.attribute) }
    #expect(counts == [0, 5])
    query.stop()
  }
}
