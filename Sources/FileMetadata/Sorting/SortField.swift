package import MetadataPredicates

/// A value of an attribute, prepared for being compared many times.
package enum SortField: Hashable, Sendable {
  case missing
  case integer(Int64)
  /// Never NaN, which counts as missing.
  case real(Double)
  case text(CollationKey)
  case data([UInt8])
  case list([SortField])

  package init(_ value: MetadataValue) {
    switch value {
    case .null, .dictionary: self = .missing
    case .bool(let flag): self = .integer(flag ? 1 : 0)
    case .integer(let number): self = .integer(number)
    case .real(let number): self = number.isNaN ? .missing : .real(number)
    case .date(let date): self = date.secondsSince2001.isNaN ? .missing : .real(date.secondsSince2001)
    case .string(let text): self = .text(CollationKey(text))
    case .data(let bytes): self = .data(bytes)
    case .array(let members): self = .list(members.map(SortField.init))
    case .set(let members): self = .list(members.map(SortField.init).sorted())
    }
  }

  private var rank: Int {
    switch self {
    case .missing: 0
    case .integer, .real: 1
    case .text: 2
    case .data: 3
    case .list: 4
    }
  }
}

extension SortField: Comparable {
  package static func < (left: SortField, right: SortField) -> Bool {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left < right
    case (.real(let left), .real(let right)): left < right
    case (.integer(let left), .real(let right)): isLess(left, right)
    case (.real(let left), .integer(let right)): isLess(left, right)
    case (.text(let left), .text(let right)): left < right
    case (.data(let left), .data(let right)): left.lexicographicallyPrecedes(right)
    case (.list(let left), .list(let right)): left.lexicographicallyPrecedes(right)
    default: left.rank < right.rank
    }
  }

  // Not by `Double(integer)`, which has no room for all digits: the order would have circles.

  private static func isLess(_ left: Int64, _ right: Double) -> Bool {
    if right >= 0x1p63 { return true }
    if right <= -0x1p63 { return false }
    return left < Int64(right.rounded(.up))
  }

  private static func isLess(_ left: Double, _ right: Int64) -> Bool {
    if left >= 0x1p63 { return false }
    if left < -0x1p63 { return true }
    return Int64(left.rounded(.down)) < right
  }
}

/// The values of one item for all sort descriptors.
package enum SortKey: Hashable, Sendable {
  case none
  /// One or two numbers that aren't missing from most files, in the order of their bits; see ``FileAttribute``.
  case number(UInt64)
  case numbers(UInt64, UInt64)
  case one(SortField)
  case several([SortField])

  package init(_ values: [MetadataValue]) {
    switch values.count {
    case 0: self = .none
    case 1: self = .one(SortField(values[0]))
    default: self = .several(values.map(SortField.init))
    }
  }
}
