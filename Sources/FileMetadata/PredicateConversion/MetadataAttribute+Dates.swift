public import FoundationEssentials
public import MetadataPredicates

// A `Date` is that moment: one that's made of `Date.now` doesn't move on with the clock, unlike `$time.now` in Spotlight's language.

extension MetadataAttribute where Value == MetadataDate {
  /// Holds if the attribute is that moment.
  public static func == (left: Self, right: Date) -> MetadataPredicate { left == MetadataDate(right) }

  /// Holds if the attribute is another moment, or missing.
  public static func != (left: Self, right: Date) -> MetadataPredicate { left != MetadataDate(right) }

  /// Holds if the attribute is before a moment; never for a missing one.
  public static func < (left: Self, right: Date) -> MetadataPredicate { left < MetadataDate(right) }

  /// Holds if the attribute isn't after a moment; never for a missing one.
  public static func <= (left: Self, right: Date) -> MetadataPredicate { left <= MetadataDate(right) }

  /// Holds if the attribute is after a moment; never for a missing one.
  public static func > (left: Self, right: Date) -> MetadataPredicate { left > MetadataDate(right) }

  /// Holds if the attribute isn't before a moment; never for a missing one.
  public static func >= (left: Self, right: Date) -> MetadataPredicate { left >= MetadataDate(right) }

  /// Holds if the attribute lies between two moments, which belong to it.
  ///
  /// - Parameters:
  ///   - first: One bound; they may be in either order.
  ///   - second: The other one.
  /// - Returns: The predicate.
  public func isBetween(_ first: Date, _ second: Date) -> MetadataPredicate {
    isBetween(MetadataDate(first), MetadataDate(second))
  }
}

extension MetadataDate {
  /// The moment of a date.
  ///
  /// - Parameter date: The date.
  public init(_ date: Date) { self.init(secondsSince2001: date.timeIntervalSinceReferenceDate) }
}
