extension MetadataPredicate {
  /// Reads a predicate in the format language of `NSPredicate`.
  ///
  /// ```swift
  /// let large = try MetadataPredicate(format: "%K > %d AND kMDItemFSName LIKE[cd] %@", arguments: ["kMDItemFSSize", 10_000, pattern])
  /// ```
  ///
  /// An argument is a value or a key path, never a part of the text; so it can't change the meaning of the text. For
  /// text by other authors pass ``PredicateLimits/untrusted``.
  ///
  /// - Parameters:
  ///   - format: The text.
  ///   - arguments: One for each `%@`, `%K`, `%d` and the like outside quotes.
  ///   - functions: The functions that may be called.
  ///   - limits: The costs and features that are allowed to the text.
  /// - Throws: ``MetadataPredicateError`` with the place of the first token that can't stand there.
  /// - Complexity: O(*n*) in the length of the text.
  /// - Note: Rules P1 to P11, P50 and P56.
  public init(
    format: String, arguments: [MetadataValue] = [], functions: PredicateFunctions = .predefined,
    limits: PredicateLimits = .standard
  ) throws(MetadataPredicateError) {
    var parser = try Parser(format, arguments, functions, limits)
    self = try parser.parse()
  }
}
