/// Something that predicates are evaluated for.
///
/// ``MetadataValue`` is one: a dictionary has its entries as attributes.
public protocol PredicateItem {
  /// The value of an attribute; `.null` if it's missing.
  ///
  /// Called during an evaluation, on its thread, at most as often as the predicate names attributes, and only if the tests before it didn't
  /// decide.
  ///
  /// - Parameters:
  ///   - name: The name of the attribute.
  ///   - index: Its place in ``CompiledPredicate/attributes``, for items that have prepared what to look up.
  /// - Returns: The value.
  func value(forAttribute name: String, index: Int) -> MetadataValue

  /// The item itself, which `SELF` means; all attributes by name for `ANYKEY`.
  var wholeValue: MetadataValue { get }
}

extension MetadataValue: PredicateItem {
  /// The entry of that name; of anything but a dictionary, `.null`.
  public func value(forAttribute name: String, index: Int) -> MetadataValue {
    AttributePath.value(self, forKey: name)
  }

  /// The value.
  public var wholeValue: MetadataValue { self }
}
