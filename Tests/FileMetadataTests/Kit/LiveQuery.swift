import Foundation
import MetadataPredicates
import SystemInterface
import Testing
import WatchingTestSupport

@testable import FileMetadata

/// A query over a tree, and a reader that checks that each batch leads from the results before to those now.
struct LiveQuery {
  let query: MetadataQuery
  private var iterator: MetadataQuery.Iterator
  /// The result of all batches, applied to an empty list.
  private(set) var items: [MetadataItem] = []
  private var hasFinished = false

  init(
    _ tree: TemporaryTree, _ predicate: MetadataPredicate = .constant(true),
    sortedBy sortDescriptors: [MetadataSortDescriptor] = [MetadataSortDescriptor("kMDItemPath")],
    batching: MetadataBatching = .immediate
  ) async throws {
    query = try MetadataQuery(
      predicate, in: [URL(filePath: tree.root.description)], sortedBy: sortDescriptors, batching: batching)
    try query.start()
    iterator = query.changes.makeAsyncIterator()
  }

  /// Reads the changes of a query that has been started.
  init(_ query: MetadataQuery) {
    self.query = query
    iterator = query.changes.makeAsyncIterator()
  }

  /// Reads a batch.
  mutating func next() async throws -> MetadataQueryChange {
    let change = try #require(await iterator.next())
    items = change.applied(to: items)
    #expect(items == Array(change.results))
    #expect(!change.finishesGathering || !hasFinished)
    #expect(!change.isEmpty || change.finishesGathering)
    if change.finishesGathering { hasFinished = true }
    let told = change.removed.map(\.item.id) + change.added.map(\.item.id) + change.changed.map(\.new.id)
    #expect(Set(told).count == told.count)
    return change
  }

  /// Reads until the first search is over.
  mutating func gather() async throws {
    while !hasFinished { _ = try await next() }
  }

  /// Waits for the next change; returns whether there is none.
  mutating func isEnded() async -> Bool { await iterator.next() == nil }

  /// The names of the results that have been reported.
  var names: [String] { items.map(\.name) }
}

extension MetadataQuery {
  /// The same query, with an index of its own if none of the others is running.
  func copy() throws -> MetadataQuery {
    try MetadataQuery(
      plan.predicate.predicate, in: key.roots.map { URL(filePath: $0.description) }, sortedBy: plan.order.descriptors)
  }
}
