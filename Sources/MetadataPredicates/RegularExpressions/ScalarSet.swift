/// Scalars that one step of a regular expression takes.
struct ScalarSet: Sendable {
  /// A part of a set that is a property of scalars rather than a list.
  enum Property: Hashable, Sendable {
    case digit, word, space, horizontalSpace, alphabetic, uppercase, lowercase, ascii, any, assigned
    case categories(Set<Unicode.GeneralCategory>)

    func contains(_ scalar: Unicode.Scalar) -> Bool {
      let properties = scalar.properties
      switch self {
      case .digit: return properties.generalCategory == .decimalNumber
      case .word: return scalar.isWordScalar
      case .space: return properties.isWhitespace
      case .horizontalSpace: return scalar == "\t" || properties.generalCategory == .spaceSeparator
      case .alphabetic: return properties.isAlphabetic
      case .uppercase: return properties.isUppercase
      case .lowercase: return properties.isLowercase
      case .ascii: return scalar.isASCII
      case .any: return true
      case .assigned: return properties.generalCategory != .unassigned
      case .categories(let categories): return categories.contains(properties.generalCategory)
      }
    }
  }

  private var ranges: [ClosedRange<UInt32>] = []
  private var properties: [(property: Property, isNegated: Bool)] = []
  private var isNegated = false
  private var ignoresCase = false
  /// Which of the first 128 scalars belong to it, once it's finished.
  private var asciiLow: UInt64 = 0
  private var asciiHigh: UInt64 = 0

  mutating func insert(_ range: ClosedRange<UInt32>) { ranges.append(range) }

  mutating func insert(_ property: Property, isNegated: Bool = false) { properties.append((property, isNegated)) }

  mutating func insert(_ set: ScalarSet) {
    guard set.isNegated else {
      ranges += set.ranges
      properties += set.properties
      return
    }
    // A negated set leaves out little: list the gaps between its members, if it has only ranges.
    var next: UInt32 = 0
    for range in set.ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > next { ranges.append(next...(range.lowerBound - 1)) }
      next = Swift.max(next, range.upperBound + 1)
    }
    if next <= 0x10FFFF { ranges.append(next...0x10FFFF) }
  }

  /// Whether it's a negated set with properties, which can't become part of another one.
  var isNegatedProperty: Bool { isNegated && !properties.isEmpty }

  /// Sets its last properties and prepares it for lookups.
  mutating func finish(isNegated: Bool, ignoresCase: Bool) {
    self.isNegated = isNegated
    self.ignoresCase = ignoresCase
    for range in ranges where range.lowerBound < 128 {
      for value in range.clamped(to: 0...127) { insertASCII(UInt8(value)) }
    }
    if !properties.isEmpty {
      for value in UInt8(0)..<128 {
        let scalar = Unicode.Scalar(value)
        if properties.contains(where: { $0.property.contains(scalar) != $0.isNegated }) { insertASCII(value) }
      }
    }
    if ignoresCase {
      // Letters of both cases are 32 apart.
      let letters: UInt64 = 0x07FF_FFFE
      let found = (asciiHigh | asciiHigh >> 32) & letters
      asciiHigh |= found | found << 32
    }
    if isNegated { (asciiLow, asciiHigh) = (~asciiLow, ~asciiHigh) }
  }

  private mutating func insertASCII(_ value: UInt8) {
    if value < 64 { asciiLow |= 1 << UInt64(value) } else { asciiHigh |= 1 << UInt64(value - 64) }
  }

  func contains(ascii value: UInt8) -> Bool {
    value < 64 ? asciiLow >> UInt64(value) & 1 == 1 : asciiHigh >> UInt64(value - 64) & 1 == 1
  }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? contains(ascii: UInt8(scalar.value)) : lookUp(scalar)
  }

  /// Searches for a scalar beyond ASCII.
  private func lookUp(_ scalar: Unicode.Scalar) -> Bool {
    if holds(scalar) { return !isNegated }
    if ignoresCase {
      for other in scalar.caseVariants where holds(other) { return !isNegated }
    }
    return isNegated
  }

  private func holds(_ scalar: Unicode.Scalar) -> Bool {
    ranges.contains { $0.contains(scalar.value) }
      || properties.contains { $0.property.contains(scalar) != $0.isNegated }
  }
}

extension Unicode.Scalar {
  /// Whether `\w` takes it and `\b` stands beside it.
  var isWordScalar: Bool {
    if isASCII {
      return self == "_" || ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self)
    }
    if properties.isAlphabetic || value == 0x200C || value == 0x200D { return true }
    switch properties.generalCategory {
    case .decimalNumber, .connectorPunctuation, .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return false
    }
  }

  var isLineBreak: Bool { (0xA...0xD).contains(value) || value == 0x85 || value == 0x2028 || value == 0x2029 }

  /// The same letter in the other cases, as far as that is one scalar.
  var caseVariants: [Unicode.Scalar] {
    let lower = properties.lowercaseMapping.unicodeScalars
    let upper = properties.uppercaseMapping.unicodeScalars
    var variants: [Unicode.Scalar] = []
    for mapped in [lower, upper] where mapped.count == 1 { variants += mapped }
    // Σ and its two small forms, K and the Kelvin sign: over the capital letter to the small one.
    if upper.count == 1, let capital = upper.first {
      let small = capital.properties.lowercaseMapping.unicodeScalars
      if small.count == 1 { variants += small }
    }
    return variants
  }
}
