internal import FileWatching

/// Results that are as they were, but for a directory around them that has been moved: found when they're read.
///
/// So a batch takes the same time however many results are in the directory.
struct MovedResults: Sendable {
  typealias Change = ListDifference<ResultEntry>.Change

  private let directories: Set<FileNumber>
  private let old: OrderedList<ResultOrder>
  private let new: OrderedList<ResultOrder>
  private let before: FileTable
  private let after: FileTable
  /// Results that the batch reports by themselves, before or after.
  private let others: Set<UInt32>

  /// Notes where the results are to be found.
  ///
  /// - Parameters:
  ///   - directories: Directories that have been moved since the results before.
  ///   - old: The results before.
  ///   - new: The results now.
  ///   - before: The state of the index before.
  ///   - after: The state of the index now.
  ///   - others: Results that the batch reports by themselves.
  init(
    in directories: Set<FileNumber>, from old: OrderedList<ResultOrder>, to new: OrderedList<ResultOrder>,
    _ before: FileTable, _ after: FileTable, except others: Set<UInt32>
  ) {
    self.directories = directories
    self.old = old
    self.new = new
    self.before = before
    self.after = after
    self.others = others
  }

  /// The results, by position now.
  ///
  /// - Complexity: O(*n*) in the number of all results.
  var changes: [Change] {
    // Results that no change names are in both lists, one after the other in the same order.
    let oldPositions = positions(in: old)
    var reader = MovedPaths(in: directories, before, after)
    var changes: [Change] = []
    var (position, place) = (0, 0)
    new.forEach { entry in
      defer { position += 1 }
      if others.contains(entry.number) { return }
      defer { place += 1 }
      guard reader.isMoved(FileNumber(entry.number)) else { return }
      changes.append(
        Change(
          oldPosition: oldPositions?[place] ?? position, newPosition: position, old: entry, new: entry, isMove: false))
    }
    return changes
  }

  /// Where the results are that no other change names; `nil` if each is where it is now.
  private func positions(in list: OrderedList<ResultOrder>) -> [Int]? {
    if others.isEmpty { return nil }
    var positions: [Int] = []
    positions.reserveCapacity(list.count)
    var position = 0
    list.forEach { entry in
      if !others.contains(entry.number) { positions.append(position) }
      position += 1
    }
    return positions
  }
}

/// Determines which files have another path because a directory around them was moved.
struct MovedPaths {
  private let directories: Set<FileNumber>
  private let after: FileTable
  private var paths: PathComparison
  private var lastParent: (number: FileNumber, isInside: Bool)?

  init(in directories: Set<FileNumber>, _ before: FileTable, _ after: FileTable) {
    self.directories = directories
    self.after = after
    paths = PathComparison(before, after)
  }

  /// Whether that holds for a file that is in both states.
  mutating func isMoved(_ number: FileNumber) -> Bool { isInside(number) && !paths.isSame(number) }

  private mutating func isInside(_ number: FileNumber) -> Bool {
    let parent = after[number].parent
    if let lastParent, lastParent.number == parent { return lastParent.isInside }
    var current = parent
    while current != .none, !directories.contains(current) { current = after[current].parent }
    lastParent = (parent, current != .none)
    return current != .none
  }
}
