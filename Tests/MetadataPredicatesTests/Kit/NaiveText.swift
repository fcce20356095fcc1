import MetadataPredicates

/// Comparing texts of a few letters, character by character.
enum NaiveText {
  /// What the letters with marks are without them.
  private static let bare: [Character: Character] = ["é": "e", "É": "E", "ö": "o", "Ö": "O"]

  static func folded(_ text: String, _ options: PredicateComparison.Options) -> [Character] {
    var result: [Character] = []
    for character in text {
      let letter = options.contains(.diacriticInsensitive) ? bare[character] ?? character : character
      if options.contains(.caseInsensitive) {
        result += letter == "ß" ? "ss" : letter.lowercased()
      } else {
        result.append(letter)
      }
    }
    return result
  }

  /// The numbers that an order without case or marks goes by.
  static func decomposed(_ text: [Character]) -> [UInt32] {
    let parts: [Character: [UInt32]] = [
      "é": [0x65, 0x301], "É": [0x45, 0x301], "ö": [0x6F, 0x308], "Ö": [0x4F, 0x308],
    ]
    return text.flatMap { parts[$0] ?? $0.unicodeScalars.map(\.value) }
  }

  enum Token { case any, one, letter(Character) }

  static func tokens(_ pattern: String, _ options: PredicateComparison.Options) -> [Token] {
    var tokens: [Token] = []
    var rest = Substring(pattern)
    while let character = rest.popFirst() {
      switch character {
      case "*": tokens.append(.any)
      case "?": tokens.append(.one)
      default:
        let letter = character == "\\" ? rest.popFirst() ?? "\\" : character
        tokens += folded(String(letter), options).map(Token.letter)
      }
    }
    return tokens
  }

  /// Tries every length for every star.
  static func fits(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Token>) -> Bool {
    guard let token = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch token {
    case .any: return (0...text.count).contains { fits(text.dropFirst($0), rest) }
    case .one: return !text.isEmpty && fits(text.dropFirst(), rest)
    case .letter(let letter): return text.first == letter && fits(text.dropFirst(), rest)
    }
  }

  static func wholeMatch(_ text: String, _ pattern: String, _ options: PredicateComparison.Options) -> Bool {
    if pattern.isEmpty { return false }
    var (text, pattern) = (text, pattern)
    if options.contains(.diacriticInsensitive) {
      text = String(folded(text, .diacriticInsensitive))
      pattern = String(folded(pattern, .diacriticInsensitive))
    }
    guard var regex = try? Regex(pattern) else { return false }
    regex = regex.matchingSemantics(.unicodeScalar)
    if options.contains(.caseInsensitive) { regex = regex.ignoresCase() }
    return ((try? regex.wholeMatch(in: text)) ?? nil) != nil
  }
}
