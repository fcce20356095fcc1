/// A result: the number of an item, and the key it's sorted by.
///
/// Numbers grow in the order in which items are found.
package struct ResultEntry: Hashable, Sendable {
  package let number: UInt32
  package let key: SortKey

  package init(_ number: UInt32, _ key: SortKey) {
    self.number = number
    self.key = key
  }
}

/// The order of results: by each descriptor in turn, then by number.
///
/// - Note: Rules R30, R31 and R33.
package struct ResultOrder: TotalOrder {
  let descriptors: [MetadataSortDescriptor]
  private let directions: [MetadataSortDescriptor.Order]

  package init(_ descriptors: [MetadataSortDescriptor]) {
    self.descriptors = descriptors
    directions = descriptors.map(\.order)
  }

  package func precedes(_ left: ResultEntry, _ right: ResultEntry) -> Bool {
    switch (left.key, right.key) {
    case (.number(let first), .number(let second)):
      if first != second { return (first < second) == (directions[0] == .ascending) }
    case (.numbers(let first, let third), .numbers(let second, let fourth)):
      if first != second { return (first < second) == (directions[0] == .ascending) }
      if third != fourth { return (third < fourth) == (directions[1] == .ascending) }
    case (.one(let first), .one(let second)):
      if let result = Self.precedes(first, second, directions[0]) { return result }
    case (.several(let first), .several(let second)):
      for position in directions.indices {
        if let result = Self.precedes(first[position], second[position], directions[position]) { return result }
      }
    default: break
    }
    return left.number < right.number
  }

  /// - Returns: `nil` for values between which there's no order.
  private static func precedes(
    _ left: SortField, _ right: SortField, _ direction: MetadataSortDescriptor.Order
  ) -> Bool? {
    if left < right { return direction == .ascending }
    if right < left { return direction == .descending }
    return nil
  }
}
