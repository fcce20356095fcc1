internal import MetadataPredicates

/// A state of an index that doesn't change any more.
final class TableSnapshot: Sendable {
  let table: FileTable

  init(_ table: FileTable) { self.table = table }
}

/// A file as predicates see it, with the attributes they name looked up beforehand.
struct RowItem: PredicateItem {
  let snapshot: TableSnapshot
  let number: FileNumber
  let attributes: [FileAttribute?]

  func value(forAttribute name: String, index: Int) -> MetadataValue {
    guard let attribute = attributes[index] else { return .null }
    return snapshot.table.value(of: attribute, for: number)
  }

  var wholeValue: MetadataValue { MetadataItem(snapshot, number).wholeValue }
}
