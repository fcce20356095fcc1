extension Evaluation {
  /// Makes one comparison.
  ///
  /// A comparison that can't be made doesn't hold.
  mutating func compare(_ left: MetadataValue, _ right: MetadataValue, _ comparison: CompiledComparison) -> Bool {
    let source = comparison.source
    switch source.comparator {
    case .equal: return equals(left, right, comparison)
    case .notEqual: return !equals(left, right, comparison)
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return isOrdered(left, right, source)
    case .between: return isBetween(left, right, source)
    case .isIn: return isMember(left, of: right, comparison)
    case .contains: return contains(left, right, comparison)
    case .beginsWith, .endsWith, .like, .matches, .tokenMatches: return matches(left, right, comparison)
    case .conformsTo, .typeEquals: return isOfType(left, right, source)
    }
  }

  private mutating func refuse(
    _ left: MetadataValue, _ right: MetadataValue, _ source: PredicateComparison
  ) -> Bool {
    note(.operands(left: left.kind, comparator: source.comparator, right: right.kind))
    return false
  }

  // MARK: Equality and order

  private func equals(_ left: MetadataValue, _ right: MetadataValue, _ comparison: CompiledComparison) -> Bool {
    let options = comparison.source.options
    guard case .string(let text) = left, case .string(let pattern) = right, !options.isEmpty else {
      return left.isEqual(to: right)
    }
    if let matcher = comparison.matcher { return matcher.matches(text) }
    return StringOrder.equals(text, pattern, options)
  }

  private mutating func isOrdered(
    _ left: MetadataValue, _ right: MetadataValue, _ source: PredicateComparison
  ) -> Bool {
    if case .null = left, case .null = right {
      return source.comparator == .lessOrEqual || source.comparator == .greaterOrEqual
    }
    if left == .null || right == .null { return false }
    switch order(left, right, source.options) {
    case .ordered(let order): return source.comparator.holds(for: order)
    case .unordered: return false
    case .incomparable: return refuse(left, right, source)
    }
  }

  private enum Comparability {
    case ordered(ValueOrder)
    /// A number that is none (NaN).
    case unordered
    case incomparable
  }

  private func order(
    _ left: MetadataValue, _ right: MetadataValue, _ options: PredicateComparison.Options
  ) -> Comparability {
    switch (left, right) {
    case (.string(let first), .string(let second)): return .ordered(StringOrder.order(first, second, options))
    case (.data(let first), .data(let second)):
      if first == second { return .ordered(.equal) }
      return .ordered(first.lexicographicallyPrecedes(second) ? .less : .greater)
    default: break
    }
    if left.quantity == nil || right.quantity == nil { return .incomparable }
    return left.numericOrder(with: right).map(Comparability.ordered) ?? .unordered
  }

  private mutating func isBetween(
    _ value: MetadataValue, _ bounds: MetadataValue, _ source: PredicateComparison
  ) -> Bool {
    guard case .array(let members) = bounds else {
      return bounds == .null || value == .null ? false : refuse(value, bounds, source)
    }
    guard members.count == 2 else {
      note(.bounds(count: members.count))
      return false
    }
    if value == .null || members.contains(.null) { return false }
    guard case .ordered(let first) = comparability(value, members[0], source),
      case .ordered(let second) = comparability(value, members[1], source)
    else { return false }
    // The bounds may stand in either order.
    return (first != .less && second != .greater) || (second != .less && first != .greater)
  }

  private mutating func comparability(
    _ value: MetadataValue, _ bound: MetadataValue, _ source: PredicateComparison
  ) -> Comparability {
    let result = order(value, bound, source.options)
    if case .incomparable = result { _ = refuse(value, bound, source) }
    return result
  }

  // MARK: Membership

  private mutating func isMember(
    _ value: MetadataValue, of collection: MetadataValue, _ comparison: CompiledComparison
  ) -> Bool {
    let source = comparison.source
    switch collection {
    case .null: return false
    case .string(let text):
      guard case .string(let part) = value else { return value == .null ? false : refuse(value, collection, source) }
      return matches(text, .contains, part, comparison)
    case .array, .set, .dictionary: return holds(collection, value, source.options)
    case .bool, .integer, .real, .date, .data: return refuse(value, collection, source)
    }
  }

  private mutating func contains(
    _ collection: MetadataValue, _ value: MetadataValue, _ comparison: CompiledComparison
  ) -> Bool {
    switch collection {
    case .string, .null: return matches(collection, value, comparison)
    case .array, .set, .dictionary: return holds(collection, value, comparison.source.options)
    case .bool, .integer, .real, .date, .data: return refuse(collection, value, comparison.source)
    }
  }

  private mutating func holds(
    _ collection: MetadataValue, _ value: MetadataValue, _ options: PredicateComparison.Options
  ) -> Bool {
    let members = collection.members ?? []
    if !visit(members.count) { return false }
    guard case .string(let text) = value, !options.isEmpty else { return members.contains { $0.isEqual(to: value) } }
    return members.contains { member in
      if case .string(let other) = member { return StringOrder.equals(other, text, options) }
      return false
    }
  }

  // MARK: Texts

  private mutating func matches(
    _ left: MetadataValue, _ right: MetadataValue, _ comparison: CompiledComparison
  ) -> Bool {
    if left == .null || right == .null { return false }
    guard case .string(let text) = left, case .string(let pattern) = right else {
      return refuse(left, right, comparison.source)
    }
    if let matcher = comparison.matcher { return matcher.matches(text) }
    return matches(text, comparison.source.comparator, pattern, comparison)
  }

  /// With a pattern that was computed.
  private mutating func matches(
    _ text: String, _ comparator: PredicateComparator, _ pattern: String, _ comparison: CompiledComparison
  ) -> Bool {
    do throws(MetadataPredicateError) {
      return try comparison.matcher(comparator, pattern).matches(text)
    } catch {
      note(.pattern(error))
      return false
    }
  }

  private mutating func isOfType(
    _ left: MetadataValue, _ right: MetadataValue, _ source: PredicateComparison
  ) -> Bool {
    if left == .null || right == .null { return false }
    guard case .string(let wanted) = right else { return refuse(left, right, source) }
    // The whole ancestry of a type may be an attribute too.
    let types = left.members ?? [left]
    for type in types {
      guard case .string(let name) = type else { return refuse(left, right, source) }
      let holds =
        source.comparator == .typeEquals
        ? name.lowercased() == wanted.lowercased() : environment.types.conforms(name, to: wanted)
      if holds { return true }
    }
    return false
  }
}
