#if !canImport(ObjectiveC)
  internal import FileMetadata
  internal import Foundation

  /// The results of a query at one moment, in order.
  struct QueryResults: RandomAccessCollection, Sendable {
    /// As the native query has them.
    private let found: MetadataResults?
    /// Chosen and ordered by the program's own predicates and comparisons.
    private let chosen: [MetadataItem]?

    init() { (found, chosen) = (nil, nil) }

    init(_ found: MetadataResults) { (self.found, chosen) = (found, nil) }

    init(_ chosen: [MetadataItem]) { (found, self.chosen) = (nil, chosen) }

    var startIndex: Int { 0 }
    var endIndex: Int { chosen?.count ?? found?.count ?? 0 }

    subscript(position: Int) -> MetadataItem {
      if let chosen { return chosen[position] }
      guard let found else { preconditionFailure("position \(position) in no results") }
      return found[position]
    }
  }

  /// The changes that a query posts at once.
  struct QueryBatch: Sendable {
    /// A result that has altered or is gone.
    struct ChangedItem: Sendable {
      /// The former identity; another one if the file was made anew under the same path.
      let oldID: MetadataItem.ID
      let item: MetadataItem
    }

    var added: [MetadataItem] = []
    var changed: [ChangedItem] = []
    var removed: [ChangedItem] = []
    var results = QueryResults()

    var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }

    init() {}

    init(_ change: MetadataQueryChange) {
      added = change.added.map(\.item)
      changed = change.changed.map { ChangedItem(oldID: $0.old.id, item: $0.new) }
      removed = change.removed.map { ChangedItem(oldID: $0.item.id, item: $0.item) }
      results = QueryResults(change.results)
    }
  }
#endif
