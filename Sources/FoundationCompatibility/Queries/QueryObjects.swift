#if !canImport(ObjectiveC)
  internal import FileMetadata
  internal import Foundation

  /// The objects of a query's results: one for each as long as it's a result, made when it's first read.
  struct QueryObjects {
    private var items: [MetadataItem.ID: NSMetadataItem] = [:]
    /// The delegate's replacements.
    private(set) var replacements: [MetadataItem.ID: Any] = [:]
    private var batchCount = 0

    /// How many batches an item may keep the state of the index it's from.
    private static let batchCountMax = 64

    mutating func object(for file: MetadataItem) -> NSMetadataItem {
      if let known = items[file.id] { return known }
      let item = NSMetadataItem(file)
      items[file.id] = item
      return item
    }

    /// - Returns: The object of a file that isn't a result any more, and the delegate's replacement.
    mutating func remove(_ change: QueryBatch.ChangedItem) -> (item: NSMetadataItem, replacement: Any?) {
      (
        items.removeValue(forKey: change.oldID) ?? NSMetadataItem(change.item),
        replacements.removeValue(forKey: change.oldID)
      )
    }

    /// - Returns: The object of a file that has altered.
    mutating func update(_ change: QueryBatch.ChangedItem) -> NSMetadataItem {
      if let replacement = replacements.removeValue(forKey: change.oldID) { replacements[change.item.id] = replacement }
      guard let item = items.removeValue(forKey: change.oldID) else { return object(for: change.item) }
      item.update(change.item)
      items[change.item.id] = item
      return item
    }

    /// Lets go of old states of the index from time to time.
    mutating func renew(from results: QueryResults) {
      batchCount += 1
      guard batchCount % Self.batchCountMax == 0 else { return }
      for file in results { items[file.id]?.update(file) }
    }

    /// The file that an object stands for now.
    func id(of item: NSMetadataItem) -> MetadataItem.ID? {
      guard let id = item.file?.id, items[id] === item else { return nil }
      return id
    }

    // MARK: Replacements

    /// The delegate's replacement of a result.
    func replacement(of item: NSMetadataItem) -> Any? { id(of: item).flatMap { replacements[$0] } }

    mutating func replace(_ item: NSMetadataItem, by object: Any) {
      if let id = id(of: item) { replacements[id] = object }
    }

    /// - Returns: All that the delegate has put in the places of results.
    mutating func forgetReplacements() -> [Any] {
      defer { replacements = [:] }
      return Array(replacements.values)
    }
  }
#endif
