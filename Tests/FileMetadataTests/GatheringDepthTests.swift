import FileWatching
import Foundation
import MetadataPredicates
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("First searches for names alone", .blocking)
struct GatheringDepthTests {
  private func query(
    _ tree: TemporaryTree, _ predicate: MetadataPredicate, sortedBy order: [MetadataSortDescriptor] = []
  ) throws -> MetadataQuery {
    try MetadataQuery(
      predicate, in: [URL(filePath: tree.root.description)], sortedBy: order, batching: .immediate,
      options: ScopeOptions(gatheringDepth: .names))
  }

  private func tree() throws -> TemporaryTree {
    let tree = try TemporaryTree()
    for name in ["a", "b", "c"] {
      try tree.makeDirectory(name)
      for number in 0..<50 { try tree.write("\(name)/f\(number)", String(repeating: "x", count: number)) }
    }
    tree.waitForFileTime()
    return tree
  }

  @Test("They find what others find, and items have sizes and dates")
  func agreement() async throws {
    let tree = try tree()
    let query = try query(tree, .fileName.hasPrefix("f"))
    try query.start()
    let results = try await query.waitUntilCurrent()
    #expect(results.count == 150)
    #expect(results.allSatisfy { $0.size == Int64($0.name.dropFirst()) })
    query.stop()
  }

  @Test("Sizes decide as soon as a query asks for them, in the same index", arguments: [false, true])
  func furtherQuery(isGathered: Bool) async throws {
    let tree = try tree()
    let names = try query(tree, .fileName.hasPrefix("f"))
    let sizes = try query(tree, .fileSize >= .bytes(40) && .fileName.hasPrefix("f"), sortedBy: [.init("kMDItemFSSize")])
    try names.start()
    if isGathered { try await names.waitUntilCurrent() }
    try sizes.start()
    let results = try await sizes.waitUntilCurrent()
    #expect(results.map(\.size) == (40..<50).flatMap { [$0, $0, $0] })
    for query in [names, sizes] { query.stop() }
  }

  @Test("The same for a query that looks for something else, or in another order, before more than names is known")
  func replacedPlan() async throws {
    let tree = try TemporaryTree()
    // One turn doesn't find out all of it.
    for directory in 0..<3 {
      try tree.makeDirectory("\(directory)")
      for number in 0..<6_000 { try tree.write("\(directory)/\(number)", number < 5 ? "12345" : "") }
    }
    for round in 0..<2 {
      let query = try query(tree, .constant(true))
      try query.start()
      for await change in query.changes where change.finishesGathering { break }
      if round.isMultiple(of: 2) {
        try query.replacePredicate(by: .fileSize == .bytes(5))
        #expect(try await query.waitUntilCurrent().count == 15)
      } else {
        try query.replaceOrder(by: [.init("kMDItemFSSize")])
        let sizes = try await query.waitUntilCurrent().map(\.size)
        #expect(sizes == sizes.sorted())
      }
      query.stop()
    }
  }

  @Test("Nothing is told as changed that wasn't, and what is changed right afterwards is")
  func changes() async throws {
    let tree = try tree()
    let query = try query(tree, .fileName.hasPrefix("f"), sortedBy: [.init("kMDItemPath")])
    try query.start()
    var live = LiveQuery(query)
    try await live.gather()
    try tree.write("b/f7", "something else")
    var changed: [String] = []
    while changed.isEmpty { changed = try await live.next().changed.map(\.new.path) }
    #expect(changed == [tree.path("b/f7").description])
    live.query.stop()
  }

  @Test("Results that are sorted by type stay where they are when a file can be run, and are there once")
  func sortedByType() async throws {
    let tree = try tree()
    let names = try query(tree, .fileName.hasPrefix("f"))
    let types = try query(
      tree, .fileName.hasPrefix("f"), sortedBy: [.init("kMDItemContentType"), .init("kMDItemPath")])
    try names.start()
    try types.start()
    var live = LiveQuery(types)
    try await live.gather()
    for number in [3, 7, 12] {
      chmod(tree.path("b/f\(number)").description, 0o755)
      let results = try await types.waitUntilCurrent()
      #expect(results.count == 150 && Set(results.map(\.path)).count == 150)
    }
    let runnable = try await types.waitUntilCurrent().suffix(3)
    #expect(runnable.map(\.name) == ["f3", "f7", "f12"])
    #expect(runnable.allSatisfy { $0.value(forAttribute: "kMDItemContentType") == "public.unix-executable" })
    for query in [names, types] { query.stop() }
  }

  @Test("R41: another value of what results are sorted by is a change, and a move")
  func sortAttribute() async throws {
    let tree = try tree()
    var live = try await LiveQuery(
      tree, .fileName.hasPrefix("f"), sortedBy: [.init("kMDItemFSSize"), .init("kMDItemPath")])
    try await live.gather()
    try tree.write("a/f0", String(repeating: "y", count: 1_000))
    while live.items.last?.path != tree.path("a/f0").description { _ = try await live.next() }
    #expect(live.items.map(\.size) == live.items.map(\.size).sorted())
  }

  @Test(
    "R39: progress of transfers, which goes from 0 to 100, is nothing that a plain file has",
    arguments: ["NSMetadataUbiquitousItemPercentDownloadedKey", "NSMetadataUbiquitousItemPercentUploadedKey"])
  func percentages(key: String) async throws {
    let tree = try tree()
    let live = try await LiveQuery(tree)
    let results = try await live.query.waitUntilCurrent()
    #expect(results.count == 153 && results.allSatisfy { $0.value(forAttribute: key) == .null })
    live.query.stop()
  }
}
