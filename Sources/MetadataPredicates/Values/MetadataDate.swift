/// A moment, counted from the beginning of 2001 in Greenwich, as dates of files and `NSDate` are.
///
/// - Note: `CAST(0, 'NSDate')` is 2001-01-01T00:00:00Z, rule P37.
public struct MetadataDate: Hashable, Sendable, Codable, Comparable {
  /// Seconds since 2001-01-01T00:00:00Z, negative before.
  public var secondsSince2001: Double

  /// Makes the moment that is so far from the beginning of 2001.
  ///
  /// - Parameter secondsSince2001: The distance in seconds.
  public init(secondsSince2001: Double) { self.secondsSince2001 = secondsSince2001 }

  /// Makes a moment from the count of stat(2) and time(2).
  ///
  /// - Parameter secondsSince1970: Seconds since 1970-01-01T00:00:00Z.
  public init(secondsSince1970: Double) { secondsSince2001 = secondsSince1970 - Self.secondsFrom1970To2001 }

  /// The difference between the two ways to count.
  public static let secondsFrom1970To2001 = 978_307_200.0

  /// Compares the moments.
  public static func < (left: Self, right: Self) -> Bool { left.secondsSince2001 < right.secondsSince2001 }
}
