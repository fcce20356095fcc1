/// A value of a key, of one of the kinds that property lists consist of.
///
/// Numbers are equal if their bits are, so a store that has a NaN is still equal to itself.
public indirect enum StoredValue: Sendable {
  /// A truth value.
  case boolean(Bool)
  /// A whole number.
  case integer(Int64)
  /// A number with a fraction.
  case real(Double)
  /// A text.
  case string(String)
  /// Bytes.
  case data([UInt8])
  /// In seconds since 2001, as Foundation counts.
  case date(Double)
  /// Values in order.
  case array([StoredValue])
  /// Values with names.
  case dictionary([String: StoredValue])

  /// The number of bytes that count towards the limits of a store: the contents alone, as UTF-8, and eight for each number and date.
  public var byteCount: Int {
    switch self {
    case .boolean: 1
    case .integer, .real, .date: 8
    case .string(let text): text.utf8.count
    case .data(let bytes): bytes.count
    case .array(let elements): elements.reduce(0) { $0 + $1.byteCount }
    case .dictionary(let members): members.reduce(0) { $0 + $1.key.utf8.count + $1.value.byteCount }
    }
  }

  /// Whether arrays and dictionaries are nested no deeper than that.
  ///
  /// - Complexity: O(elements) of the levels that are looked at.
  public func isNested(atMost depth: Int) -> Bool {
    switch self {
    case .array(let elements): depth > 0 && elements.allSatisfy { $0.isNested(atMost: depth - 1) }
    case .dictionary(let members): depth > 0 && members.values.allSatisfy { $0.isNested(atMost: depth - 1) }
    case .boolean, .integer, .real, .string, .data, .date: true
    }
  }
}

extension StoredValue: Hashable {
  /// Whether both have the same kind and bits.
  public static func == (left: StoredValue, right: StoredValue) -> Bool {
    switch (left, right) {
    case (.boolean(let left), .boolean(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)), (.date(let left), .date(let right)): left.bitPattern == right.bitPattern
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.data(let left), .data(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.dictionary(let left), .dictionary(let right)): left == right
    default: false
    }
  }

  /// Feeds the kind's contents to a hasher.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .boolean(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .real(let value), .date(let value): hasher.combine(value.bitPattern)
    case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
    case .data(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .dictionary(let value): hasher.combine(value)
    }
  }
}
