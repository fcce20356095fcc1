import MetadataPredicates

/// Comparing texts of a few letters, character by character.
enum NaiveText {
  /// The letters with marks, and the same letters without them.
  private static let bare: [Character: Character] = ["é": "e", "É": "E", "ö": "o", "Ö": "O"]
  /// The letters of full width, and the usual ones.
  private static let usual: [Character: Character] = ["\u{FF41}": "a", "\u{FF21}": "A"]

  /// A letter without its mark; `nil` for a mark that stands alone.
  private static func withoutMark(_ letter: Character) -> Character? {
    letter.unicodeScalars.first { $0 != "\u{301}" }.map { bare[Character($0)] ?? Character($0) }
  }

  static func folded(_ text: String, _ options: PredicateComparison.Options) -> [Character] {
    var result: [Character] = []
    for character in text {
      // The sign of Kelvin is equal to the letter, so the letter takes its place.
      let narrow = character == "K" ? "K" : (options.isEmpty ? nil : usual[character]) ?? character
      guard let letter = options.contains(.diacriticInsensitive) ? withoutMark(narrow) : narrow else { continue }
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

  /// A folded letter, and whether it begins what's one letter in the text.
  typealias Part = (letter: Character, isFirst: Bool)

  static func parts(_ text: String, _ options: PredicateComparison.Options) -> [Part] {
    text.flatMap { letter in
      folded(String(letter), options).enumerated().map { Part(letter: $0.element, isFirst: $0.offset == 0) }
    }
  }

  /// Tries every length for every star.
  static func fits(_ text: ArraySlice<Part>, _ pattern: ArraySlice<Token>) -> Bool {
    guard let token = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch token {
    case .any: return (0...text.count).contains { fits(text.dropFirst($0), rest) }
    case .one: return !text.isEmpty && fits(text.dropFirst().drop { !$0.isFirst }, rest)
    case .letter(let letter): return text.first?.letter == letter && fits(text.dropFirst(), rest)
    }
  }

  static func wholeMatch(_ text: String, _ pattern: String, _ options: PredicateComparison.Options) -> Bool {
    if pattern.isEmpty { return false }
    let ignored = options.intersection(.diacriticInsensitive)
    // Folding joins a letter and its mark where it has to; otherwise expressions compare scalars.
    func scalars(_ text: String) -> [Unicode.Scalar] {
      Array((ignored.isEmpty ? text : String(folded(text, ignored))).unicodeScalars)
    }
    let expression = NaiveExpression(scalars(pattern), ignoresCase: options.contains(.caseInsensitive))
    return expression.matches(scalars(text))
  }
}

/// A regular expression that's tried in every way, one after the other.
///
/// It handles everything that ``RandomPredicates`` uses: letters, `.`, `\w`, `\d`, sets, groups, alternatives and
/// repetitions.
struct NaiveExpression {
  private indirect enum Piece {
    case one((Unicode.Scalar) -> Bool)
    case group([[Piece]])
    case repeated(Piece, ClosedRange<Int>)
  }

  private static let countMax = 50
  private var alternatives: [[Piece]] = []
  private let ignoresCase: Bool

  init(_ pattern: [Unicode.Scalar], ignoresCase: Bool) {
    self.ignoresCase = ignoresCase
    var rest = pattern[...]
    alternatives = parseAlternatives(&rest)
    precondition(rest.isEmpty, "the naive expressions know nothing of \(String.UnicodeScalarView(rest))")
  }

  func matches(_ text: [Unicode.Scalar]) -> Bool { fits(.group(alternatives), text[...]) { $0.isEmpty } }

  // MARK: Parsing

  private func parseAlternatives(_ rest: inout ArraySlice<Unicode.Scalar>) -> [[Piece]] {
    var alternatives: [[Piece]] = [[]]
    while let scalar = rest.first, scalar != ")" {
      rest.removeFirst()
      if scalar == "|" {
        alternatives.append([])
      } else {
        let piece = parsePiece(scalar, &rest)
        alternatives[alternatives.count - 1].append(parseRepetition(of: piece, &rest))
      }
    }
    return alternatives
  }

  private func parsePiece(_ scalar: Unicode.Scalar, _ rest: inout ArraySlice<Unicode.Scalar>) -> Piece {
    switch scalar {
    case "(":
      let group = Piece.group(parseAlternatives(&rest))
      rest.removeFirst()
      return group
    case "[":
      let isNegated = rest.first == "^"
      let members = rest.prefix { $0 != "]" }.dropFirst(isNegated ? 1 : 0)
      rest = rest.drop { $0 != "]" }.dropFirst()
      return .one { [self] candidate in members.contains { isSame($0, candidate) } != isNegated }
    case ".": return .one { _ in true }
    case "\\":
      switch rest.removeFirst() {
      case "w": return .one { $0 != "." }
      case "d": return .one { ("0"..."9").contains($0) }
      case let sign: return .one { $0 == sign }
      }
    default: return .one { [self] in isSame(scalar, $0) }
    }
  }

  private func parseRepetition(of piece: Piece, _ rest: inout ArraySlice<Unicode.Scalar>) -> Piece {
    let range: ClosedRange<Int>
    switch rest.first {
    case "*": range = 0...Self.countMax
    case "+": range = 1...Self.countMax
    case "?": range = 0...1
    case "{":
      let bounds = rest.dropFirst().prefix { $0 != "}" }.split(separator: ",").map {
        Int(String(String.UnicodeScalarView($0))) ?? 0
      }
      range = bounds[0]...bounds[1]
      rest = rest.drop { $0 != "}" }
    default: return piece
    }
    rest.removeFirst()
    return .repeated(piece, range)
  }

  private func isSame(_ left: Unicode.Scalar, _ right: Unicode.Scalar) -> Bool {
    left == right || ignoresCase && String(left).lowercased() == String(right).lowercased()
  }

  // MARK: Matching

  private func fits(
    _ piece: Piece, _ text: ArraySlice<Unicode.Scalar>, _ next: (ArraySlice<Unicode.Scalar>) -> Bool
  ) -> Bool {
    switch piece {
    case .one(let accepts): return text.first.map(accepts) == true && next(text.dropFirst())
    case .group(let alternatives): return alternatives.contains { fits($0[...], text, next) }
    case .repeated(let piece, let range):
      if range.lowerBound == 0, next(text) { return true }
      if range.upperBound == 0 { return false }
      let fewer = Piece.repeated(piece, max(0, range.lowerBound - 1)...range.upperBound - 1)
      // Once more only if that takes something.
      return fits(piece, text) { rest in rest.count < text.count && fits(fewer, rest, next) }
    }
  }

  private func fits(
    _ pieces: ArraySlice<Piece>, _ text: ArraySlice<Unicode.Scalar>, _ next: (ArraySlice<Unicode.Scalar>) -> Bool
  ) -> Bool {
    guard let first = pieces.first else { return next(text) }
    return fits(first, text) { fits(pieces.dropFirst(), $0, next) }
  }
}
