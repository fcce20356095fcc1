#if !canImport(ObjectiveC)
  internal import FileMetadata
  internal import Foundation
  internal import MetadataPredicates

  /// Chooses and orders the results of a native query, by predicates and comparisons that are code of the program.
  ///
  /// Used by one run of a query, for one batch at a time. `@unchecked Sendable` because batches come on different threads, one after
  /// the other.
  ///
  /// Costs O(*n* log *n*) for each batch, because nothing is known about the program's comparisons.
  final class QuerySelection: @unchecked Sendable {
    private let predicate: NSPredicate?
    private let sortDescriptors: [NSSortDescriptor]
    private var chosen: Set<MetadataItem.ID> = []

    /// - Parameters:
    ///   - predicate: The predicate that the native query can't evaluate.
    ///   - sortDescriptors: The descriptors that it can't sort by; none if it can.
    init?(_ predicate: NSPredicate?, _ sortDescriptors: [NSSortDescriptor]) {
      if predicate == nil, sortDescriptors.isEmpty { return nil }
      self.predicate = predicate
      self.sortDescriptors = sortDescriptors
    }

    /// - Returns: The rest of a batch.
    func select(_ all: QueryBatch) -> QueryBatch {
      var batch = QueryBatch()
      for change in all.removed where chosen.remove(change.oldID) != nil { batch.removed.append(change) }
      for change in all.changed {
        let (was, isChosen) = (chosen.remove(change.oldID) != nil, isChosen(change.item))
        if isChosen { chosen.insert(change.item.id) }
        switch (was, isChosen) {
        case (true, true): batch.changed.append(change)
        case (true, false): batch.removed.append(change)
        case (false, true): batch.added.append(change.item)
        case (false, false): break
        }
      }
      for item in all.added where isChosen(item) {
        chosen.insert(item.id)
        batch.added.append(item)
      }
      batch.results = QueryResults(sorted(all.results.filter { chosen.contains($0.id) }))
      return batch
    }

    private func isChosen(_ item: MetadataItem) -> Bool {
      // An object of its own: that of a result has the values that were posted last.
      predicate.map { $0.evaluate(with: NSMetadataItem(item)) } ?? true
    }

    // MARK: Order

    private struct Row {
      let item: MetadataItem
      let object: NSMetadataItem
      /// For each descriptor with a key.
      let fields: [SortField?]
    }

    private func sorted(_ items: [MetadataItem]) -> [MetadataItem] {
      if sortDescriptors.isEmpty { return items }
      let rows = items.map { item in
        let object = NSMetadataItem(item)
        return Row(item: item, object: object, fields: sortDescriptors.map { $0.field(of: object) })
      }
      // Swift's sort keeps the order of equal elements, but doesn't promise it.
      return rows.enumerated().sorted { left, right in
        precedes(left.element, right.element) ?? (left.offset < right.offset)
      }.map(\.element.item)
    }

    /// - Returns: `nil` if they're equal.
    private func precedes(_ left: Row, _ right: Row) -> Bool? {
      for (place, descriptor) in sortDescriptors.enumerated() {
        let order: ComparisonResult
        if let first = left.fields[place], let second = right.fields[place] {
          if first == second { continue }
          order = (first < second) == descriptor.ascending ? .orderedAscending : .orderedDescending
        } else {
          order = descriptor.compare(left.object, to: right.object)
        }
        if order != .orderedSame { return order == .orderedAscending }
      }
      return nil
    }
  }

  extension NSSortDescriptor {
    /// The field that an item is sorted by, if that's an attribute; compared as queries do it.
    fileprivate func field(of item: NSMetadataItem) -> SortField? {
      (self as? KeySortDescriptor)?.plainKey.map { SortField(item.metadataValue($0)) }
    }
  }
#endif
