/// Compares two strings, neither of which was prepared.
enum StringOrder {
  static func equals(_ left: String, _ right: String, _ options: PredicateComparison.Options) -> Bool {
    if options.contains(.wordBased) {
      let matcher = try? StringMatcher(.equal, right, options, sizeMax: PredicateLimits.standard.patternSizeMax)
      return matcher?.matches(left) ?? false
    }
    return order(left, right, options.subtracting(.localeSensitive)) == .equal
  }

  /// `[n]` by bytes, `[l]` as people expect, `[c]` and `[d]` by the rest after folding, otherwise by Unicode's numbers.
  static func order(_ left: String, _ right: String, _ options: PredicateComparison.Options) -> ValueOrder {
    if options.contains(.normalized) {
      if left.utf8.elementsEqual(right.utf8) { return .equal }
      return left.utf8.lexicographicallyPrecedes(right.utf8) ? .less : .greater
    }
    let folding = Folding(options)
    if options.contains(.localeSensitive) {
      return ValueOrder(CollationKey(folded(left, folding)), CollationKey(folded(right, folding)))
    }
    if !folding.ignoresCase, !folding.ignoresDiacritics { return ValueOrder(left, right) }
    let first = folding.folded(left)
    let second = folding.folded(right)
    if first == second { return .equal }
    return first.lexicographicallyPrecedes(second) ? .less : .greater
  }

  private static func folded(_ text: String, _ folding: Folding) -> String {
    if !folding.ignoresCase, !folding.ignoresDiacritics { return text }
    return String(String.UnicodeScalarView(folding.folded(text)))
  }
}
