/// An attribute with the type of its values, for predicates that are written in Swift.
///
/// Comparisons with it make a ``MetadataPredicate`` of bound values: a text stays a text, whatever its characters are.
///
/// ```swift
/// let large: MetadataPredicate = .fileName.hasSuffix(".md", .caseInsensitive) && .fileSize > .kilobytes(10)
/// ```
public struct MetadataAttribute<Value>: Hashable, Sendable {
  /// The name of the attribute, such as `kMDItemFSName`; a key path if it has dots.
  public let name: String

  /// Names an attribute.
  ///
  /// - Parameter name: The name; dots divide the steps of a key path.
  public init(_ name: String) { self.name = name }

  /// Any attribute, by its name, whose type follows from the other side of the comparison: `.attribute("rating") > 3`.
  ///
  /// - Parameter name: The name; dots divide the steps of a key path.
  /// - Returns: The attribute.
  public static func attribute(_ name: String) -> Self { Self(name) }

  var expression: MetadataExpression { .attribute(name) }
}

/// A type that attributes can have.
public protocol MetadataValueConvertible: Sendable {
  /// The value in the form that predicates use.
  var metadataValue: MetadataValue { get }
}

extension MetadataValue: MetadataValueConvertible {
  /// The value in the form that predicates use.
  public var metadataValue: MetadataValue { self }
}

extension String: MetadataValueConvertible {
  /// The value in the form that predicates use.
  public var metadataValue: MetadataValue { .string(self) }
}

extension Int: MetadataValueConvertible {
  /// The value in the form that predicates use.
  public var metadataValue: MetadataValue { .integer(Int64(self)) }
}

extension Int64: MetadataValueConvertible {
  /// The value in the form that predicates use.
  public var metadataValue: MetadataValue { .integer(self) }
}

extension Double: MetadataValueConvertible {
  /// The value in the form that predicates use.
  public var metadataValue: MetadataValue { .real(self) }
}

extension Bool: MetadataValueConvertible {
  /// The value in the form that predicates use.
  public var metadataValue: MetadataValue { .bool(self) }
}

extension MetadataDate: MetadataValueConvertible {
  /// The value in the form that predicates use.
  public var metadataValue: MetadataValue { .date(self) }
}

extension Array: MetadataValueConvertible where Element: MetadataValueConvertible {
  /// The value in the form that predicates use.
  public var metadataValue: MetadataValue { .array(map(\.metadataValue)) }
}

extension Optional: MetadataValueConvertible where Wrapped: MetadataValueConvertible {
  /// The value in the form that predicates use.
  public var metadataValue: MetadataValue { self?.metadataValue ?? .null }
}

/// A number of bytes, written with its unit.
public struct ByteCount: Hashable, Sendable, Comparable, MetadataValueConvertible {
  /// The number.
  public let bytes: Int64

  /// So many bytes.
  public static func bytes(_ count: Int64) -> ByteCount { ByteCount(count, 1) }
  /// Thousands of bytes.
  public static func kilobytes(_ count: Int64) -> ByteCount { ByteCount(count, 1_000) }
  /// Millions of bytes.
  public static func megabytes(_ count: Int64) -> ByteCount { ByteCount(count, 1_000_000) }
  /// Thousands of millions of bytes.
  public static func gigabytes(_ count: Int64) -> ByteCount { ByteCount(count, 1_000_000_000) }
  /// Units of 1024 bytes.
  public static func kibibytes(_ count: Int64) -> ByteCount { ByteCount(count, 1 << 10) }
  /// Units of 1024 × 1024 bytes.
  public static func mebibytes(_ count: Int64) -> ByteCount { ByteCount(count, 1 << 20) }
  /// Units of 1024 × 1024 × 1024 bytes.
  public static func gibibytes(_ count: Int64) -> ByteCount { ByteCount(count, 1 << 30) }

  /// A count that would be too large is as large as can be: no file is larger.
  private init(_ count: Int64, _ unit: Int64) {
    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
    bytes = overflow ? (count < 0 ? .min : .max) : product
  }

  /// The value in the form that predicates use.
  public var metadataValue: MetadataValue { .integer(bytes) }

  /// Compares the numbers of bytes.
  public static func < (left: Self, right: Self) -> Bool { left.bytes < right.bytes }
}
