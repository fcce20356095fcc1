internal import FileWatching

/// The results of a query at one moment, in order.
///
/// A value: it stays as it is while the query goes on. Items are made when they're read; a copy costs nothing.
public struct MetadataResults: Sendable, RandomAccessCollection {
  let list: OrderedList<ResultOrder>
  let snapshot: TableSnapshot

  init(_ list: OrderedList<ResultOrder>, _ snapshot: TableSnapshot) {
    self.list = list
    self.snapshot = snapshot
  }

  static let none = MetadataResults(OrderedList(ResultOrder([])), TableSnapshot(FileTable()))

  /// The position of the first result.
  public var startIndex: Int { 0 }
  /// How many results there are.
  public var endIndex: Int { list.count }

  /// The result at a position.
  ///
  /// - Complexity: O(log *n*).
  public subscript(position: Int) -> MetadataItem {
    MetadataItem(snapshot, FileNumber(list[position].number))
  }
}
