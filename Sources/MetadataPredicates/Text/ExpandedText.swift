/// A text in folded characters, some of which are only a part of what's one character in the text, such as the second `s` of `ß`.
///
/// For patterns: a question mark stands for one character of the text, however many it folds to.
struct ExpandedText: Sendable {
  private(set) var characters: [FoldedCharacter] = []
  /// For each character, whether it continues the one before it.
  private var continues: [Bool] = []

  /// Folds a text.
  ///
  /// - Complexity: O(*n*).
  init(_ text: String, _ folding: Folding) {
    var scalars: [Unicode.Scalar] = []
    var areParts: [Bool] = []
    for scalar in text.unicodeScalars {
      let start = scalars.count
      folding.append(scalar, to: &scalars)
      for index in start..<scalars.count { areParts.append(index > start || scalar.continuesCharacter) }
    }
    // Sorting exchanges only marks with each other, and those begin no character.
    CanonicalForm.sortMarks(&scalars)
    for (scalar, isPart) in zip(scalars, areParts) {
      if folding.ignoresDiacritics, scalar.isDiacritic { continue }
      if scalar.continuesCharacter, !characters.isEmpty {
        characters[characters.count - 1].append(scalar)
      } else {
        continues.append(isPart && !characters.isEmpty)
        characters.append(FoldedCharacter(scalar))
      }
    }
  }

  /// Whether the segments of a pattern fit, the stars between them standing for anything.
  ///
  /// - Complexity: O(*n* × *m*) for a text of *n* characters and a pattern of *m*.
  func matches(_ segments: [WildcardPattern.Segment<FoldedCharacter>]) -> Bool {
    if !continues.contains(true) {
      return WildcardPattern.matches(segments, count: characters.count) { characters[$0] }
    }
    var states = PatternStates(segments)
    for (character, isContinuing) in zip(characters, continues) { states.take(character, isContinuing) }
    return states.isAtEnd
  }
}

/// The places in a pattern at which a text may be, all at once.
private struct PatternStates {
  private enum Token {
    case any
    case one
    case character(FoldedCharacter)
  }

  private var tokens: [Token] = []
  /// The tokens that may be next.
  private var places: Set<Int> = []
  /// The tokens that may be next as soon as the character of the text is over that a question mark has taken.
  private var later: Set<Int> = []

  init(_ segments: [WildcardPattern.Segment<FoldedCharacter>]) {
    for (number, segment) in segments.enumerated() {
      if number > 0 { tokens.append(.any) }
      for character in segment { tokens.append(character.map(Token.character) ?? .one) }
    }
    enter(0)
  }

  var isAtEnd: Bool { places.contains(tokens.count) || later.contains { tokens[$0...].allSatisfy(Self.isAny) } }

  private static func isAny(_ token: Token) -> Bool {
    if case .any = token { return true }
    return false
  }

  /// A star may stand for nothing.
  private mutating func enter(_ place: Int) {
    var place = place
    while places.insert(place).inserted, place < tokens.count, Self.isAny(tokens[place]) { place += 1 }
  }

  mutating func take(_ character: FoldedCharacter, _ isContinuing: Bool) {
    if !isContinuing {
      for place in later { enter(place) }
      later = []
    }
    let former = places
    places = []
    for place in former where place < tokens.count {
      switch tokens[place] {
      case .any: enter(place)
      case .one: later.insert(place + 1)
      case .character(let expected): if expected == character { enter(place + 1) }
      }
    }
  }
}
