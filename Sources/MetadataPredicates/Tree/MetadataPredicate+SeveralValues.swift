extension MetadataPredicate {
  /// The same, where a comparison of an attribute with one value holds if it does for one of the attribute's values.
  ///
  /// So queries compare, as Spotlight does: `kMDItemContentTypeTree == 'public.image'`. An attribute is unequal to a
  /// value if none of its values is equal to it. Comparisons with `nil` or with a collection, with `ANY` or `ALL`
  /// before them, or with anything but an attribute on the left side stay as they are; so do `CONTAINS`, which searches
  /// the values anyway, and comparisons inside of expressions.
  ///
  /// - Parameter single: Attributes that never have several values; comparisons of these stay as they are.
  /// - Returns: The predicate.
  /// - Complexity: O(*n*) in the size of the tree.
  package func comparingEachValue(exceptOf single: Set<String>) -> MetadataPredicate {
    func each(_ member: MetadataPredicate) -> MetadataPredicate { member.comparingEachValue(exceptOf: single) }
    switch self {
    case .constant: return self
    case .and(let members): return .and(members.map(each))
    case .or(let members): return .or(members.map(each))
    case .not(let member): return .not(each(member))
    case .comparison(let comparison): return comparison.comparingEachValue(exceptOf: single)
    }
  }
}

extension PredicateComparison {
  fileprivate func comparingEachValue(exceptOf names: Set<String>) -> MetadataPredicate {
    var single = self
    if comparator == .equal || comparator == .notEqual, left.literalValue != nil {
      (single.left, single.right) = (right, left)
    }
    guard quantifier == .whole, let name = single.left.attributeName, !names.contains(name),
      let value = single.right.literalValue, isForOne(value)
    else { return .comparison(self) }
    single.quantifier = .any
    if comparator != .notEqual { return .comparison(single) }
    single.comparator = .equal
    return .not(.comparison(single))
  }

  /// Whether a constant is something that one value is compared with.
  private func isForOne(_ value: MetadataValue) -> Bool {
    switch comparator {
    // A uniform type is searched for in several values by itself.
    case .contains, .conformsTo, .typeEquals: false
    case .isIn, .between:
      // A missing value is compared with `nil`, and not at all if each of its values is.
      value != .null && value.members?.contains(.null) != true
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith, .endsWith, .like, .matches,
      .tokenMatches:
      value != .null && value.members == nil
    }
  }
}

extension MetadataExpression {
  /// The name of an attribute, if it's the value of that as it is.
  package var attributeName: String? {
    guard case .path(.itself, let steps) = self, steps.count == 1, case .key(let name) = steps[0] else { return nil }
    return name
  }
}
