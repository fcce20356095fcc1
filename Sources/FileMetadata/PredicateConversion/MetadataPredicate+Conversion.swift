public import FoundationEssentials
public import MetadataPredicates

extension MetadataPredicate {
  /// Converts a predicate that was written with `#Predicate`.
  ///
  /// ```swift
  /// let recent = #Predicate<Photo> { $0.size > 10_000 && $0.tags.contains("family") }
  /// let predicate = try MetadataPredicate(recent, attributes: [\Photo.size: "kMDItemFSSize", \Photo.tags: "kMDItemKeywords"])
  /// ```
  ///
  /// The result holds for an item whose attributes have the values of the properties when the original holds for those properties. Where
  /// the original would trap (an index out of range, `!` of nothing, a sum that's too large) the result computes with `nil` or a number with a
  /// fraction. Equality and order of texts are the same; so is what counts as a character, except for joined emoji.
  ///
  /// Type casts, regular expressions, subranges, the number of characters of a text, and every comparison of two
  /// collections can't be converted.
  ///
  /// - Parameters:
  ///   - predicate: The predicate.
  ///   - attributes: The attribute for each property that it uses: of the item, and of members of its collections. A
  ///     longer key path (`\Photo.camera.name`) counts before a shorter one. Dots in a name divide the steps of a key
  ///     path.
  /// - Throws: ``PredicateConversionError`` that names the part that can't be converted.
  /// - Complexity: O(*n*) in the size of the predicate, times two for each optional chain inside another.
  public init<Item>(
    _ predicate: Predicate<Item>, attributes: [AnyKeyPath: String]
  ) throws(PredicateConversionError) {
    var conversion = PredicateConversion(attributes: attributes)
    let variable: PredicateExpressions.Variable<Item> = predicate.variable
    conversion.bind(variable.key, to: .itself)
    self = try conversion.convert(predicate.expression).predicate()
  }
}
