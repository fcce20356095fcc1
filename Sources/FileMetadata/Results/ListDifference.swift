/// The changes that turn an old list into a new one, exactly.
///
/// Removed elements, and those that moved away, have positions in the old list. Added elements, and those that moved
/// there, have positions in the new one. Table views need exactly these: first take out, then put in, in the order of
/// the positions.
package struct ListDifference<Element: Sendable>: Sendable {
  /// An element and its position.
  package struct PositionedElement: Sendable {
    package let position: Int
    package let element: Element
  }

  /// An element that is in both lists and has altered.
  package struct Change: Sendable {
    package let oldPosition: Int
    package let newPosition: Int
    package let old: Element
    package let new: Element
    /// Whether it has passed by elements that stay in the list.
    package let isMove: Bool
  }

  /// Elements of the old list that aren't in the new one, by position.
  package var removed: [PositionedElement] = []
  /// Elements of the new list that aren't in the old one, by position.
  package var added: [PositionedElement] = []
  /// Elements that are in both and have altered, by position in the new list; the moved ones are among them.
  package var changed: [Change] = []

  package init() {}

  /// Makes a list out of nothing.
  package init<Order>(adding list: OrderedList<Order>) where Order.Element == Element {
    added.reserveCapacity(list.count)
    list.forEach { added.append(PositionedElement(position: added.count, element: $0)) }
  }

  /// Whether the lists are the same.
  package var isEmpty: Bool { removed.isEmpty && added.isEmpty && changed.isEmpty }

  /// Makes the new list out of the old one.
  ///
  /// - Complexity: O(*n* + *k* log *k*) for *k* changes.
  package func applied(to old: [Element]) -> [Element] {
    let moves = changed.filter(\.isMove)
    let leaving = Set(removed.map(\.position) + moves.map(\.oldPosition))
    let arriving = Dictionary(
      uniqueKeysWithValues: added.map { ($0.position, $0.element) } + moves.map { ($0.newPosition, $0.new) })
    var staying = old.indices.lazy.filter { !leaving.contains($0) }.map { old[$0] }.makeIterator()
    var result: [Element] = []
    for position in 0..<(old.count - leaving.count + arriving.count) {
      if let element = arriving[position] ?? staying.next() { result.append(element) }
    }
    for change in changed where !change.isMove { result[change.newPosition] = change.new }
    return result
  }
}

extension ListUpdate: Equatable where Element: Equatable {}
extension ListUpdate: Hashable where Element: Hashable {}

/// One element before and after a batch of changes; absent where it isn't in the list.
package struct ListUpdate<Element: Sendable>: Sendable {
  package let old: Element?
  package let new: Element?

  package init(old: Element?, new: Element?) {
    self.old = old
    self.new = new
  }
}

extension ListDifference where Element == ResultEntry {
  /// Compares lists that are in different orders.
  ///
  /// As few elements as possible are moved; those that only stay where they are among the others aren't reported,
  /// unless they have altered.
  ///
  /// - Parameters:
  ///   - old: The list before.
  ///   - new: The list now.
  ///   - altered: The former and present elements, where they differ.
  ///   - unaltered: All the others.
  /// - Complexity: O(*n* log *n*).
  init(
    from old: OrderedList<ResultOrder>, to new: OrderedList<ResultOrder>, altered: [ListUpdate<ResultEntry>],
    unaltered: [ListUpdate<ResultEntry>]
  ) {
    let (oldPositions, newPositions) = (Self.positions(in: old), Self.positions(in: new))
    var staying: [(old: Int, new: Int)] = []
    for update in altered + unaltered {
      guard let from = update.old.flatMap({ oldPositions[$0.number] }),
        let to = update.new.flatMap({ newPositions[$0.number] })
      else { continue }
      staying.append((from, to))
    }
    staying.sort { $0.old < $1.old }
    let steady = Set(staying.map(\.new).longestIncreasingSubsequence().map { staying[$0].new })
    for (number, update) in (altered + unaltered).enumerated() {
      switch (update.old, update.new) {
      case (let old?, nil): removed.append(PositionedElement(position: oldPositions[old.number] ?? 0, element: old))
      case (nil, let new?): added.append(PositionedElement(position: newPositions[new.number] ?? 0, element: new))
      case (let old?, let new?):
        guard let from = oldPositions[old.number], let to = newPositions[new.number] else { continue }
        let isMove = !steady.contains(to)
        if !isMove, number >= altered.count { continue }
        changed.append(Change(oldPosition: from, newPosition: to, old: old, new: new, isMove: isMove))
      case (nil, nil): break
      }
    }
    removed.sort { $0.position < $1.position }
    added.sort { $0.position < $1.position }
    changed.sort { $0.newPosition < $1.newPosition }
  }

  private static func positions(in list: OrderedList<ResultOrder>) -> [UInt32: Int] {
    var positions: [UInt32: Int] = [:]
    positions.reserveCapacity(list.count)
    list.forEach { positions[$0.number] = positions.count }
    return positions
  }
}

extension OrderedList {
  /// Changes some elements, and returns the consequences for positions.
  ///
  /// Old elements must be in the list, new ones must not be unless they take the place of an old one that's named too; each is
  /// named once.
  ///
  /// - Parameter updates: The former and present element of each update.
  /// - Returns: The difference between the list before and after.
  /// - Complexity: O(*k* log *n*) for *k* updates of *n* elements.
  package mutating func apply(_ updates: [ListUpdate<Element>]) -> ListDifference<Element> {
    let isGrowth = updates.count >= Self.mergeCountMin && updates.count >= count / Self.mergeShare
    if isGrowth, updates.allSatisfy({ $0.old == nil }) { return merge(updates.compactMap(\.new)) }
    let oldPositions = updates.map { update in update.old.map { place(of: $0).position } }
    let kept = updates.map { isSame($0.old, $0.new) }
    for (number, update) in updates.enumerated() where !kept[number] {
      guard let old = update.old else { continue }
      let removed = remove(old)
      precondition(removed != nil, "an element that is said to be in the list isn't")
    }
    for (number, update) in updates.enumerated() {
      guard let new = update.new else { continue }
      if kept[number] { replace(with: new) } else { insert(new) }
    }
    let isNothingMoved = kept.allSatisfy(\.self)
    let newPositions =
      isNothingMoved ? oldPositions : updates.map { update in update.new.map { place(of: $0).position } }
    // Kept elements are like the elements that no update names.
    let staying =
      isNothingMoved
      ? []
      : Self.steadfast(
        zip(oldPositions, kept).map { $1 ? nil : $0 }, zip(newPositions, kept).map { $1 ? nil : $0 })

    var difference = ListDifference<Element>()
    for (number, update) in updates.enumerated() {
      switch (update.old, update.new, oldPositions[number], newPositions[number]) {
      case (let old?, nil, let position?, _): difference.removed.append(.init(position: position, element: old))
      case (nil, let new?, _, let position?): difference.added.append(.init(position: position, element: new))
      case (let old?, let new?, let oldPosition?, let newPosition?):
        difference.changed.append(
          .init(
            oldPosition: oldPosition, newPosition: newPosition, old: old, new: new,
            isMove: !kept[number] && !staying.contains(number)))
      default: break
      }
    }
    difference.removed.sort { $0.position < $1.position }
    difference.added.sort { $0.position < $1.position }
    difference.changed.sort { $0.newPosition < $1.newPosition }
    return difference
  }

  /// Whether an element keeps its place in the order, however it may have altered otherwise.
  private func isSame(_ old: Element?, _ new: Element?) -> Bool {
    guard let old, let new else { return false }
    return !order.precedes(old, new) && !order.precedes(new, old)
  }

  /// The updates whose elements needn't be moved: those with the same elements before them that no update names, and among
  /// these as many as keep their order.
  private static func steadfast(_ old: [Int?], _ new: [Int?]) -> Set<Int> {
    let oldSorted = old.compactMap(\.self).sorted()
    let newSorted = new.compactMap(\.self).sorted()
    var candidates: [(old: Int, new: Int, update: Int)] = []
    for update in old.indices {
      guard let from = old[update], let to = new[update] else { continue }
      if from - oldSorted.rank(of: from) == to - newSorted.rank(of: to) { candidates.append((from, to, update)) }
    }
    candidates.sort { $0.old < $1.old }
    return Set(candidates.map(\.new).longestIncreasingSubsequence().map { candidates[$0].update })
  }
}

extension [Int] {
  /// How many members of a sorted array are less than a number.
  fileprivate func rank(of number: Int) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Where the members of a longest increasing subsequence are, by patience sorting in O(*n* log *n*).
  fileprivate func longestIncreasingSubsequence() -> [Int] {
    var tops: [Int] = []
    var topValues: [Int] = []
    var before: [Int?] = []
    for (place, value) in enumerated() {
      let pile = topValues.rank(of: value)
      before.append(pile == 0 ? nil : tops[pile - 1])
      if pile == tops.count {
        tops.append(place)
        topValues.append(value)
      } else {
        tops[pile] = place
        topValues[pile] = value
      }
    }
    var result: [Int] = []
    var place = tops.last
    while let current = place {
      result.append(current)
      place = before[current]
    }
    return result.reversed()
  }
}
