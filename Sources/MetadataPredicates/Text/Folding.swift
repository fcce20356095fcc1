/// The form in which strings are compared when bytes don't decide: canonical decomposition, without differences of
/// case, diacritical marks and width where the options say so.
struct Folding: Hashable, Sendable {
  var ignoresCase: Bool
  var ignoresDiacritics: Bool

  init(_ options: PredicateComparison.Options) {
    ignoresCase = options.contains(.caseInsensitive)
    ignoresDiacritics = options.contains(.diacriticInsensitive)
  }

  /// The scalars of a text in the form in which they are compared.
  ///
  /// Case is folded in full: `ß` becomes `ss`. Marks that are dropped are those that stand above, below or through a letter,
  /// and the points of Hebrew and Arabic; the voicing marks of Japanese and the vowel signs of India make other letters and stay.
  ///
  /// - Complexity: O(*n*).
  func folded(_ text: String) -> [Unicode.Scalar] {
    var scalars: [Unicode.Scalar] = []
    scalars.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars { append(scalar, to: &scalars) }
    if ignoresDiacritics { scalars.removeAll(where: \.isDiacritic) }
    CanonicalForm.sortMarks(&scalars)
    return scalars
  }

  /// One scalar, as far as that doesn't depend on those around it.
  func append(_ scalar: Unicode.Scalar, to scalars: inout [Unicode.Scalar]) {
    if scalar.isASCII {
      scalars.append(ignoresCase ? scalar.asciiLowercased : scalar)
      return
    }
    let ordinary = ignoresCase || ignoresDiacritics ? CanonicalForm.ordinaryWidth(of: scalar) : scalar
    // Dotless i is a letter of its own, whose capital is I.
    if !ignoresCase || ordinary == "\u{131}" { return CanonicalForm.appendDecomposition(of: ordinary, to: &scalars) }
    // By way of the capital, so that both forms of a small sigma become one.
    for capital in ordinary.properties.uppercaseMapping.unicodeScalars {
      for small in capital.properties.lowercaseMapping.unicodeScalars {
        CanonicalForm.appendDecomposition(of: small, to: &scalars)
      }
    }
  }
}

/// Unicode's canonical decomposition (NFD).
enum CanonicalForm {
  private static let decompositions: [Unicode.Scalar: [Unicode.Scalar]] = {
    var table: [Unicode.Scalar: [Unicode.Scalar]] = [:]
    var rest = UnicodeTables.decompositions[...]
    while let head = rest.popFirst() {
      guard let scalar = Unicode.Scalar(head >> 3) else { continue }
      let count = Int(head & 7)
      table[scalar] = rest.prefix(count).compactMap(Unicode.Scalar.init)
      rest = rest.dropFirst(count)
    }
    return table
  }()

  private static let widths: [Unicode.Scalar: Unicode.Scalar] = {
    var table: [Unicode.Scalar: Unicode.Scalar] = [:]
    var rest = UnicodeTables.ordinaryWidths[...]
    while let scalar = rest.popFirst().flatMap(Unicode.Scalar.init),
      let ordinary = rest.popFirst().flatMap(Unicode.Scalar.init)
    {
      table[scalar] = ordinary
    }
    return table
  }()

  static func ordinaryWidth(of scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar.value < 0x2000 { return scalar }
    if (0xFF01...0xFF5E).contains(scalar.value) { return Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar }
    return widths[scalar] ?? scalar
  }

  private static let firstSyllable: UInt32 = 0xAC00
  private static let lastSyllable: UInt32 = 0xD7A3

  static func appendDecomposition(of scalar: Unicode.Scalar, to scalars: inout [Unicode.Scalar]) {
    let value = scalar.value
    if value < 0xC0 {
      scalars.append(scalar)
    } else if (firstSyllable...lastSyllable).contains(value) {
      let index = value - firstSyllable
      let parts = [0x1100 + index / 588, 0x1161 + index % 588 / 28, 0x11A7 + index % 28]
      scalars += parts.prefix(index % 28 == 0 ? 2 : 3).compactMap(Unicode.Scalar.init)
    } else if let parts = decompositions[scalar] {
      scalars += parts
    } else {
      scalars.append(scalar)
    }
  }

  /// Puts marks that follow each other into the order of their classes; those of one class keep theirs.
  static func sortMarks(_ scalars: inout [Unicode.Scalar]) {
    var index = 0
    while index < scalars.count {
      let end = scalars[index...].firstIndex { $0.combiningClass == 0 } ?? scalars.count
      // The sort of the standard library keeps the order of equal elements.
      if end - index > 1 { scalars[index..<end].sort { $0.combiningClass < $1.combiningClass } }
      index = end + 1
    }
  }
}

extension Unicode.Scalar {
  var asciiLowercased: Unicode.Scalar {
    ("A"..."Z").contains(self) ? Unicode.Scalar(UInt8(value) | 0x20) : self
  }

  /// The canonical combining class, 0 for all that doesn't combine.
  var combiningClass: UInt8 { value < 0x300 ? 0 : properties.canonicalCombiningClass.rawValue }

  /// A mark that `[d]` drops.
  var isDiacritic: Bool {
    let order = combiningClass
    // 7: nukta, 8: voicing of kana, 9: virama.
    return order != 0 && !(7...9).contains(order)
  }

  /// Whether it belongs to the character before it, so that no match begins or ends in front of it: a combining mark, or the
  /// vowel or last consonant of a Korean syllable.
  var continuesCharacter: Bool {
    value >= 0x300 && (combiningClass != 0 || (0x1160...0x11FF).contains(value))
  }
}
