#if !canImport(ObjectiveC)
  internal import FileMetadata
  internal import Foundation
  internal import MetadataPredicates

  /// The settings of a query by the program.
  struct QueryConfiguration {
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor] = []
    var valueListAttributes: [String] = []
    var groupingAttributes: [String]?
    /// Apple's default, which here stands for ``MetadataBatching/standard``.
    var batchingInterval: TimeInterval = 1
    var isBatchingChosen = false
    var searchScopes: [Any] = []
    var searchItems: [Any]?

    /// Attributes whose values are kept with the results.
    ///
    /// - Note: Rule R23.
    var gatheredAttributes: Set<String> {
      Set(valueListAttributes + (groupingAttributes ?? []) + sortDescriptors.compactMap(\.key))
    }

    var batching: MetadataBatching {
      // The longest wait that a monotonic clock can express without overflowing is far beyond this.
      let seconds = batchingInterval.isNaN ? 0 : min(max(batchingInterval, 0), 1e9)
      return isBatchingChosen ? MetadataBatching(interval: .seconds(seconds)) : .standard
    }
  }

  /// A native query that finds the program's results, or more.
  struct QueryRequest {
    let native: MetadataQuery
    /// Takes out surplus results, and brings the rest in order.
    let selection: QuerySelection?

    /// Blocks for a few system calls.
    ///
    /// - Throws: An error for predicates that can't be evaluated.
    init(_ configuration: QueryConfiguration, _ predicate: NSPredicate) throws(MetadataQueryError) {
      let translation = PredicateTranslation(predicate)
      for text in translation.tree.literalWildcards {
        Misuse.report("'\(text)' in a query's predicate stands for itself, asterisks and all: use LIKE for a pattern")
      }
      for warning in translation.tree.warnings() where !warning.attribute.hasPrefix("NSMetadata") {
        Misuse.report("A query's predicate finds less or more than it says: \(warning.message)")
      }
      let places = SearchPlaces(
        scopes: configuration.searchScopes, items: configuration.searchItems,
        computer: NSMetadataQuery.localComputerDirectories)
      let residue = translation.isExact ? nil : predicate
      let descriptors = configuration.sortDescriptors
      if let order = Self.nativeOrder(descriptors) {
        do throws(MetadataQueryError) {
          native = try MetadataQuery(
            translation.tree, scopes: places.scopes, items: places.items, sortedBy: order,
            batching: configuration.batching)
          selection = QuerySelection(residue, [])
          return
        } catch {
          guard error.code == .unsortableAttribute else { throw error }
        }
      }
      native = try MetadataQuery(
        translation.tree, scopes: places.scopes, items: places.items, batching: configuration.batching)
      selection = QuerySelection(residue, descriptors)
    }

    /// - Returns: `nil` if only the program can compare.
    private static func nativeOrder(_ descriptors: [NSSortDescriptor]) -> [MetadataSortDescriptor]? {
      let order = descriptors.compactMap { descriptor in
        (descriptor as? KeySortDescriptor)?.plainKey.map {
          MetadataSortDescriptor($0, descriptor.ascending ? .ascending : .descending)
        }
      }
      return order.count == descriptors.count ? order : nil
    }
  }
#endif
