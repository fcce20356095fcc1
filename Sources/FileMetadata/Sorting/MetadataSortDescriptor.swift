public import MetadataPredicates

/// An attribute that results are sorted by, and in which direction.
///
/// Numbers, booleans and dates come in the order of their numbers, texts as people expect (`a2` before `A10` before
/// `b1`), data byte by byte. Items without the attribute come first; of values that are of different kinds, numbers
/// come before texts, texts before data, and data before lists. Items that are equal in all descriptors stay in the
/// order in which they were found.
///
/// - Note: Rules R30 to R33.
public struct MetadataSortDescriptor: Hashable, Sendable, Codable {
  /// A direction.
  public enum Order: String, Hashable, Sendable, Codable {
    /// The least value first, and before it the items without one.
    case ascending
    /// The greatest value first, and the items without one last.
    case descending
  }

  /// The name of the attribute, such as `kMDItemFSName`.
  public var attribute: String
  /// The direction.
  public var order: Order

  /// Sorts by an attribute.
  ///
  /// - Parameters:
  ///   - attribute: The name of the attribute.
  ///   - order: The direction.
  public init(_ attribute: String, _ order: Order = .ascending) {
    self.attribute = attribute
    self.order = order
  }

  /// Sorts by an attribute that has a name in Swift, such as `.fileSize`.
  ///
  /// - Parameters:
  ///   - attribute: The attribute, whatever the type of its values is.
  ///   - order: The direction.
  public init<Value>(_ attribute: MetadataAttribute<Value>, _ order: Order = .ascending) {
    self.init(attribute.name, order)
  }
}
