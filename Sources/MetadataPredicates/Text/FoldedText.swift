/// A character in the form for matching: a base and its marks.
struct FoldedCharacter: Hashable, Sendable {
  let base: Unicode.Scalar
  /// Usually none, which needs no memory.
  private(set) var marks: [Unicode.Scalar] = []

  init(_ base: Unicode.Scalar) { self.base = base }

  mutating func append(_ mark: Unicode.Scalar) { marks.append(mark) }

  /// Divides folded scalars into characters.
  ///
  /// The first of them is a base in any case.
  static func characters(of scalars: [Unicode.Scalar]) -> [FoldedCharacter] {
    var characters: [FoldedCharacter] = []
    characters.reserveCapacity(scalars.count)
    for scalar in scalars {
      if scalar.continuesCharacter, !characters.isEmpty {
        characters[characters.count - 1].append(scalar)
      } else {
        characters.append(FoldedCharacter(scalar))
      }
    }
    return characters
  }
}

/// A text with the places where its words begin and end.
struct WordText: Sendable {
  let characters: [FoldedCharacter]
  /// For each character, whether a word may begin or end before it; the last one is the end.
  private let boundaries: [Bool]

  private enum Kind { case other, lower, upper }

  init(_ text: String, _ folding: Folding) {
    var scalars: [Unicode.Scalar] = []
    var kinds: [Kind] = []
    for scalar in text.unicodeScalars {
      folding.append(scalar, to: &scalars)
      let kind = Self.kind(of: scalar)
      while kinds.count < scalars.count { kinds.append(kind) }
    }
    // Sorting exchanges only marks with each other, and those have no kind of their own.
    CanonicalForm.sortMarks(&scalars)
    var characters: [FoldedCharacter] = []
    var boundaries: [Bool] = []
    var last = Kind.other
    for (scalar, kind) in zip(scalars, kinds) {
      if folding.ignoresDiacritics, scalar.isDiacritic { continue }
      if scalar.continuesCharacter, !characters.isEmpty {
        characters[characters.count - 1].append(scalar)
        continue
      }
      let isBoundary = characters.isEmpty || (last == .other) != (kind == .other) || (last == .lower && kind == .upper)
      boundaries.append(isBoundary || last == .other)
      characters.append(FoldedCharacter(scalar))
      last = kind
    }
    self.characters = characters
    self.boundaries = boundaries + [true]
  }

  private static func kind(of scalar: Unicode.Scalar) -> Kind {
    let properties = scalar.properties
    if properties.isUppercase || properties.generalCategory == .titlecaseLetter { return .upper }
    return properties.isAlphabetic || properties.numericType != nil ? .lower : .other
  }

  /// Whether a stretch consists of whole words.
  func isWhole(_ range: Range<Int>) -> Bool { boundaries[range.lowerBound] && boundaries[range.upperBound] }

  /// The words, without the characters between them.
  var words: [ArraySlice<FoldedCharacter>] {
    var words: [ArraySlice<FoldedCharacter>] = []
    var start = 0
    for end in characters.indices.dropFirst() + [characters.count] where boundaries[end] {
      if start < end, Self.kind(of: characters[start].base) != .other { words.append(characters[start..<end]) }
      start = end
    }
    return words
  }
}
