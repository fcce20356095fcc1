public import FileWatching

/// One batch of changes of the results of a query: exactly the changes that turn the results before into the new ones.
///
/// Positions of removed results, or of those that moved away, are those in the results before; positions of added ones,
/// or of those that moved there, those in ``results``. So a table view takes out first, and puts in then. An item is in
/// one list only.
///
/// - Note: Rules R9 to R21. All lists are complete, whichever results were read.
public struct MetadataQueryChange: Sendable {
  /// A result that has come or gone.
  public struct PositionedItem: Sendable {
    /// Its position.
    public let position: Int
    /// The file as it was found, or as it was when it was last read.
    public let item: MetadataItem
  }

  /// A result that was there before and is still there, and has altered.
  public struct ChangedItem: Sendable {
    /// Its position in the results before.
    public let oldPosition: Int
    /// Its position in the results now.
    public let newPosition: Int
    /// The file before; its identity is another one if it was made anew under the same path.
    public let old: MetadataItem
    /// The file now.
    public let new: MetadataItem
    /// Whether it has passed by other results.
    public let isMove: Bool

    /// The names of the attributes that have other values now.
    ///
    /// - Complexity: Makes each value of both items that the index has.
    public var attributes: Set<String> { new.alteredAttributes(since: old) }
  }

  private let difference: ListDifference<ResultEntry>
  /// Further altered results: those in directories that were moved.
  private let moved: MovedResults?
  private let before: TableSnapshot
  private let after: TableSnapshot
  /// The results with these changes.
  public let results: MetadataResults
  /// Whether the first search isn't over yet, so that more is going to be found.
  public let isGathering: Bool
  /// Whether the first search is over with this batch.
  ///
  /// True in exactly one batch for each reader of the sequence.
  public let finishesGathering: Bool
  /// How well the scopes are followed.
  public let health: ScopeHealth

  init(
    _ difference: ListDifference<ResultEntry>, _ moved: MovedResults? = nil, before: TableSnapshot,
    after: TableSnapshot, results: MetadataResults,
    isGathering: Bool, finishesGathering: Bool, health: ScopeHealth
  ) {
    self.difference = difference
    self.moved = moved
    self.before = before
    self.after = after
    self.results = results
    self.isGathering = isGathering
    self.finishesGathering = finishesGathering
    self.health = health
  }

  /// Results that are gone, or don't match any more, by position.
  public var removed: [PositionedItem] {
    difference.removed.map {
      PositionedItem(position: $0.position, item: MetadataItem(before, FileNumber($0.element.number)))
    }
  }

  /// Results that are new, or match now, by position.
  public var added: [PositionedItem] {
    difference.added.map {
      PositionedItem(position: $0.position, item: MetadataItem(after, FileNumber($0.element.number)))
    }
  }

  /// Results that have altered, by position now.
  ///
  /// - Complexity: O(*n*) in the number of altered results; in that of all results if a directory with results was moved.
  public var changed: [ChangedItem] {
    changes.map {
      ChangedItem(
        oldPosition: $0.oldPosition, newPosition: $0.newPosition,
        old: MetadataItem(before, FileNumber($0.old.number)), new: MetadataItem(after, FileNumber($0.new.number)),
        isMove: $0.isMove)
    }
  }

  /// Whether results are the same as before; then the batch says that the first search is over.
  public var isEmpty: Bool { difference.isEmpty && moved == nil }

  /// The altered results, by position now.
  private var changes: [ListDifference<ResultEntry>.Change] {
    guard let moved else { return difference.changed }
    return (difference.changed + moved.changes).sorted { $0.newPosition < $1.newPosition }
  }

  /// Positions in the results before from which a table view takes out rows, moved ones included.
  public var departedPositions: RangeSet<Int> {
    let positions = difference.removed.map(\.position) + difference.changed.filter(\.isMove).map(\.oldPosition)
    return RangeSet(positions.map { $0..<($0 + 1) })
  }

  /// Positions in the results now into which a table view puts rows, moved ones included.
  public var arrivedPositions: RangeSet<Int> {
    let positions = difference.added.map(\.position) + difference.changed.filter(\.isMove).map(\.newPosition)
    return RangeSet(positions.map { $0..<($0 + 1) })
  }

  /// Positions in the results now of rows that stay in their place and show something else.
  public var updatedPositions: RangeSet<Int> {
    RangeSet(changes.filter { !$0.isMove }.map { $0.newPosition..<($0.newPosition + 1) })
  }

  /// The former and present entry of each reported result.
  var updates: [ListUpdate<ResultEntry>] {
    difference.removed.map { ListUpdate(old: $0.element, new: nil) }
      + difference.added.map { ListUpdate(old: nil, new: $0.element) }
      + changes.map { ListUpdate(old: $0.old, new: $0.new) }
  }

  /// Makes the new results out of the ones before, item by item.
  ///
  /// - Parameter old: The results before.
  /// - Returns: The results now.
  /// - Complexity: O(*n*).
  public func applied(to old: [MetadataItem]) -> [MetadataItem] {
    var difference = ListDifference<MetadataItem>()
    difference.removed = removed.map { .init(position: $0.position, element: $0.item) }
    difference.added = added.map { .init(position: $0.position, element: $0.item) }
    difference.changed = changed.map {
      .init(oldPosition: $0.oldPosition, newPosition: $0.newPosition, old: $0.old, new: $0.new, isMove: $0.isMove)
    }
    return difference.applied(to: old)
  }
}
