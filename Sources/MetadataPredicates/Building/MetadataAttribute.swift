/// An attribute with the type of its values, for predicates that are written in Swift.
///
/// Comparisons with it make a ``MetadataPredicate`` of bound values: whatever a text contains, it's a text.
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

  /// Any attribute, by its name, whose type what it's compared with tells: `.attribute("rating") > 3`.
  ///
  /// - Parameter name: The name; dots divide the steps of a key path.
  /// - Returns: The attribute.
  public static func attribute(_ name: String) -> Self { Self(name) }

  var expression: MetadataExpression { .attribute(name) }
}

/// A type that attributes can have.
public protocol MetadataValueConvertible: Sendable {
  /// The value as predicates know it.
  var metadataValue: MetadataValue { get }
}

extension MetadataValue: MetadataValueConvertible {
  /// The value as predicates know it.
  public var metadataValue: MetadataValue { self }
}

extension String: MetadataValueConvertible {
  /// The value as predicates know it.
  public var metadataValue: MetadataValue { .string(self) }
}

extension Int: MetadataValueConvertible {
  /// The value as predicates know it.
  public var metadataValue: MetadataValue { .integer(Int64(self)) }
}

extension Int64: MetadataValueConvertible {
  /// The value as predicates know it.
  public var metadataValue: MetadataValue { .integer(self) }
}

extension Double: MetadataValueConvertible {
  /// The value as predicates know it.
  public var metadataValue: MetadataValue { .real(self) }
}

extension Bool: MetadataValueConvertible {
  /// The value as predicates know it.
  public var metadataValue: MetadataValue { .bool(self) }
}

extension MetadataDate: MetadataValueConvertible {
  /// The value as predicates know it.
  public var metadataValue: MetadataValue { .date(self) }
}

extension Array: MetadataValueConvertible where Element: MetadataValueConvertible {
  /// The value as predicates know it.
  public var metadataValue: MetadataValue { .array(map(\.metadataValue)) }
}

extension Optional: MetadataValueConvertible where Wrapped: MetadataValueConvertible {
  /// The value as predicates know it.
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

  /// What is too large for a count is as large as can be: no file is larger.
  private init(_ count: Int64, _ unit: Int64) {
    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
    bytes = overflow ? (count < 0 ? .min : .max) : product
  }

  /// The value as predicates know it.
  public var metadataValue: MetadataValue { .integer(bytes) }

  /// Compares what both stand for.
  public static func < (left: Self, right: Self) -> Bool { left.bytes < right.bytes }
}
