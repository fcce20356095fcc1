/// One test of a string, prepared once.
///
/// Bytes of ASCII are compared as they are. Other texts are folded first, see ``Folding``, and compared character by character, so that
/// a match never begins or ends between a letter and its marks.
///
/// A class, because it has many parts and an evaluation hands it on: that costs one count of references instead of ten.
final class StringMatcher: Sendable {
  enum Test: Sendable {
    case equal, prefix, suffix, contains
    case like(bytes: [WildcardPattern.Segment<UInt8>], characters: [WildcardPattern.Segment<FoldedCharacter>])
    case expression(RegularExpression)
    case foreign(PredicateFunctions.ForeignExpressions.Matcher)
    /// Every word of the pattern is a word of the text.
    case tokens
    /// Nothing matches, such as an empty prefix.
    case never
  }

  let test: Test
  let options: PredicateComparison.Options
  let folding: Folding
  /// The pattern as it was written.
  let pattern: String
  private let characters: SubstringSearch<FoldedCharacter>
  /// The folded pattern in bytes; only used while it's ASCII, or bytes alone count.
  private let bytes: SubstringSearch<UInt8>
  private let isPatternASCII: Bool
  /// Decides about most texts, if the pattern is short and plain.
  let probe: TextProbe?

  /// Prepares a test.
  ///
  /// - Parameters:
  ///   - comparator: `==` or one of the operators between strings.
  ///   - pattern: The text or pattern to search for.
  ///   - options: How.
  ///   - sizeMax: How many states a regular expression or pattern may have.
  ///   - foreign: Matches regular expressions that an automaton can't.
  /// - Throws: ``MetadataPredicateError`` for a regular expression that can't be used, or one that's too large.
  init(
    _ comparator: PredicateComparator, _ pattern: String, _ options: PredicateComparison.Options, sizeMax: Int,
    foreign: PredicateFunctions.ForeignExpressions? = nil
  ) throws(MetadataPredicateError) {
    let folding = Folding(options.contains(.normalized) ? [] : options)
    var text = pattern
    switch comparator {
    case .beginsWith: test = pattern.isEmpty ? .never : .prefix
    case .endsWith: test = pattern.isEmpty ? .never : .suffix
    case .contains: test = pattern.isEmpty ? .never : .contains
    case .matches: test = try Self.expression(pattern, folding, sizeMax, foreign)
    case .tokenMatches: test = .tokens
    case .like: (test, text) = try Self.wildcards(pattern, folding, options, sizeMax)
    default: test = .equal
    }
    self.options = options
    self.folding = folding
    self.pattern = pattern
    let scalars = folding.folded(text)
    isPatternASCII = scalars.allSatisfy(\.isASCII)
    characters = SubstringSearch(FoldedCharacter.characters(of: scalars))
    let isLiteral = options.contains(.normalized)
    let units =
      isLiteral ? Array(text.utf8) : (isPatternASCII ? scalars.map { UInt8(truncatingIfNeeded: $0.value) } : [])
    bytes = SubstringSearch(units)
    probe =
      isLiteral || options.contains(.wordBased)
      ? nil : test.probeKind.flatMap { TextProbe($0, units, foldsCase: folding.ignoresCase) }
  }

  private static func expression(
    _ pattern: String, _ folding: Folding, _ sizeMax: Int, _ foreign: PredicateFunctions.ForeignExpressions?
  ) throws(MetadataPredicateError) -> Test {
    if pattern.isEmpty { return .never }
    let text = expressionText(pattern, folding)
    do throws(MetadataPredicateError) {
      return .expression(try RegularExpression(text, ignoresCase: folding.ignoresCase, sizeMax: sizeMax))
    } catch {
      guard let matcher = foreign?.make(text, folding.ignoresCase) else { throw error }
      return .foreign(matcher)
    }
  }

  /// Without its diacritical marks an expression keeps its signs, which are ASCII.
  private static func expressionText(_ pattern: String, _ folding: Folding) -> String {
    folding.ignoresDiacritics ? withoutDiacritics(pattern) : pattern
  }

  /// Checks whether a pattern of `MATCHES` can be used, without preparing it.
  ///
  /// - Parameters:
  ///   - pattern: The regular expression.
  ///   - options: How it's matched.
  ///   - sizeMax: How many states it may have.
  ///   - foreign: Matches expressions that an automaton can't.
  /// - Throws: ``MetadataPredicateError`` if it can't be used.
  static func check(
    expression pattern: String, _ options: PredicateComparison.Options, sizeMax: Int,
    foreign: PredicateFunctions.ForeignExpressions?
  ) throws(MetadataPredicateError) {
    let folding = Folding(options.contains(.normalized) ? [] : options)
    let text = expressionText(pattern, folding)
    do throws(MetadataPredicateError) {
      _ = try RegularExpression(text, ignoresCase: folding.ignoresCase, sizeMax: sizeMax, isForMatching: false)
    } catch { if foreign?.make(text, folding.ignoresCase) == nil { throw error } }
  }

  private static func withoutDiacritics(_ text: String) -> String {
    String(String.UnicodeScalarView(Folding(.diacriticInsensitive).folded(text)))
  }

  /// Recognizes patterns that are simpler than they may be.
  private static func wildcards(
    _ pattern: String, _ folding: Folding, _ options: PredicateComparison.Options, _ sizeMax: Int
  ) throws(MetadataPredicateError) -> (Test, text: String) {
    if pattern.utf8.count > sizeMax {
      throw MetadataPredicateError(.limit, "a pattern of LIKE has more than \(sizeMax) bytes")
    }
    let wildcards = WildcardPattern(pattern)
    let general = Test.like(bytes: wildcards.bytes, characters: wildcards.characters(folding))
    if options.contains(.wordBased) { return (general, pattern) }
    switch wildcards.shape {
    case .equal(let text): return (.equal, text)
    case .prefix(let text): return (.prefix, text)
    case .suffix(let text): return (.suffix, text)
    case .contains(let text): return (.contains, text)
    case .general: return (general, pattern)
    }
  }

  /// How many states or units it has, for limits.
  var size: Int {
    if case .expression(let expression) = test { return expression.instructions.count }
    return pattern.utf8.count
  }

  // MARK: Matching

  /// Whether a text passes.
  ///
  /// - Complexity: O(*n*) in the length of the text; O(*n* × *m*) for patterns with wild cards and for regular expressions that need more
  ///   states than a table has room for.
  func matches(_ text: String) -> Bool { probe?.holds(text) ?? matchesByCharacters(text) }

  /// Whether a text passes that the probe doesn't decide about.
  func matchesByCharacters(_ text: String) -> Bool {
    switch test {
    case .never: return false
    case .expression(let expression):
      return expression.matches(folding.ignoresDiacritics ? Self.withoutDiacritics(text) : text)
    case .foreign(let matches): return matches(folding.ignoresDiacritics ? Self.withoutDiacritics(text) : text)
    case .tokens: return matchesTokens(text)
    case .equal, .prefix, .suffix, .contains, .like:
      if options.contains(.wordBased) { return matchesWords(text) }
      let span = text.utf8Span
      if options.contains(.normalized) { return matches(bytes: span.span, foldsCase: false) }
      if span.isKnownASCII || isASCII(span.span) {
        return isPatternASCII ? matches(bytes: span.span, foldsCase: folding.ignoresCase) : false
      }
      if case .like(_, let segments) = test, folding.ignoresCase, segments.contains(where: { $0.contains(nil) }) {
        return ExpandedText(text, folding).matches(segments)
      }
      return matches(FoldedCharacter.characters(of: folding.folded(text)))
    }
  }

  private func isASCII(_ span: Span<UInt8>) -> Bool {
    for index in span.indices where span[index] >= 128 { return false }
    return true
  }

  private func matches(bytes span: Span<UInt8>, foldsCase: Bool) -> Bool {
    if foldsCase { return matches(count: span.count) { span[$0].lowercasedASCII } }
    return matches(count: span.count) { span[$0] }
  }

  @inline(__always)
  private func matches(count: Int, unit: (Int) -> UInt8) -> Bool {
    let pattern = bytes.pattern
    switch test {
    case .equal: return count == pattern.count && Self.equals(pattern, at: 0, unit: unit)
    case .prefix: return count >= pattern.count && Self.equals(pattern, at: 0, unit: unit)
    case .suffix: return count >= pattern.count && Self.equals(pattern, at: count - pattern.count, unit: unit)
    case .contains: return bytes.occurs(count: count, unit: unit) { _ in true }
    case .like(let segments, let folded):
      if folding.ignoresCase || folding.ignoresDiacritics { return matches(folded, count: count, unit: unit) }
      return WildcardPattern.matches(segments, count: count, unit: unit)
    case .expression, .foreign, .tokens, .never: return false
    }
  }

  private func matches(_ segments: [WildcardPattern.Segment<FoldedCharacter>], count: Int, unit: (Int) -> UInt8) -> Bool
  {
    WildcardPattern.matches(segments, count: count) { FoldedCharacter(Unicode.Scalar(unit($0))) }
  }

  @inline(__always)
  private static func equals(_ pattern: [UInt8], at start: Int, unit: (Int) -> UInt8) -> Bool {
    var index = 0
    while index < pattern.count {
      if pattern[index] != unit(start + index) { return false }
      index += 1
    }
    return true
  }

  private func matches(_ text: [FoldedCharacter]) -> Bool {
    let pattern = characters.pattern
    switch test {
    case .equal: return text == pattern
    case .prefix: return text.starts(with: pattern)
    case .suffix: return text.suffix(pattern.count) == pattern[...]
    case .contains: return characters.occurs(count: text.count, unit: { text[$0] }, accepts: { _ in true })
    case .like(_, let segments): return WildcardPattern.matches(segments, count: text.count) { text[$0] }
    case .expression, .foreign, .tokens, .never: return false
    }
  }

  // MARK: Words

  /// Searches for whole words.
  ///
  /// The searched text has to begin and end where words do. `==` finds it anywhere, as Spotlight does.
  private func matchesWords(_ text: String) -> Bool {
    let words = WordText(text, folding)
    let units = words.characters
    let pattern = characters.pattern
    switch test {
    case .equal, .contains:
      return characters.occurs(count: units.count, unit: { units[$0] }, accepts: words.isWhole)
    case .prefix: return units.starts(with: pattern) && words.isWhole(0..<pattern.count)
    case .suffix:
      return units.suffix(pattern.count) == pattern[...]
        && words.isWhole(units.count - pattern.count..<units.count)
    case .like(_, let segments):
      return WildcardPattern.matches(segments, count: units.count) { units[$0] }
        || words.words.contains { word in
          WildcardPattern.matches(segments, count: word.count) { word[word.startIndex + $0] }
        }
    case .expression, .foreign, .tokens, .never: return false
    }
  }

  private func matchesTokens(_ text: String) -> Bool {
    let wanted = WordText(pattern, folding).words
    let words = Set(WordText(text, folding).words)
    return !wanted.isEmpty && wanted.allSatisfy(words.contains)
  }
}

extension StringMatcher.Test {
  /// How a probe makes the test; `nil` if none can.
  fileprivate var probeKind: TextProbe.Kind? {
    switch self {
    case .equal: .equal
    case .prefix: .prefix
    case .suffix: .suffix
    case .contains: .contains
    case .like, .expression, .foreign, .tokens, .never: nil
    }
  }
}

extension UInt8 {
  @inline(__always)
  var lowercasedASCII: UInt8 { self &- 65 < 26 ? self | 0x20 : self }
}
