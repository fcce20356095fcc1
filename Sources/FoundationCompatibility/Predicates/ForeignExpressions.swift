#if !canImport(ObjectiveC)
  internal import Foundation
  internal import MetadataPredicates

  extension PredicateFunctions {
    /// The functions of predicates under Apple's names: a pattern of `MATCHES` that nothing can match fits nothing, and
    /// is reported.
    static let foundation = functions { pattern, ignoresCase in
      if let matcher = matcher(pattern, ignoresCase) { return matcher }
      Misuse.report("'\(pattern)' is no regular expression, so nothing matches it")
      return { _ in false }
    }

    /// The same while text is read; compiling reports the pattern once.
    static let foundationSyntax = functions { pattern, ignoresCase in matcher(pattern, ignoresCase) ?? { _ in false } }

    /// The same, where such a pattern is an error.
    static let strictFoundation = functions(matcher)

    private static func functions(
      _ make: @escaping @Sendable (String, Bool) -> ForeignExpressions.Matcher?
    ) -> PredicateFunctions {
      var functions = PredicateFunctions.predefined
      functions.foreignExpressions = ForeignExpressions(make)
      return functions
    }

    /// Matches by `NSRegularExpression`, which follows look-around, back references, possessive quantifiers and operations on sets.
    ///
    /// - Parameters:
    ///   - pattern: The expression.
    ///   - ignoresCase: Whether upper and lower case are the same.
    /// - Returns: A function that returns whether the whole of a text fits; `nil` if the pattern is no expression there
    ///   either.
    @Sendable private static func matcher(_ pattern: String, _ ignoresCase: Bool) -> ForeignExpressions.Matcher? {
      let options: NSRegularExpression.Options = ignoresCase ? [.caseInsensitive] : []
      // Alone first: in parentheses, `a)(b` would be an expression.
      guard (try? NSRegularExpression(pattern: pattern, options: options)) != nil else { return nil }
      // A comment at the end may swallow a parenthesis, unless a line break ends it.
      let whole = ["\\A(?:\(pattern))\\z", "\\A(?:\(pattern)\n)\\z"].lazy.compactMap {
        try? NSRegularExpression(pattern: $0, options: options)
      }.first
      guard let whole else { return nil }
      return { text in
        whole.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
      }
    }
  }
#endif
