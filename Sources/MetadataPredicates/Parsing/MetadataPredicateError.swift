/// The reason why a predicate can't be used, the place in its text if there's one, and the remedy.
public struct MetadataPredicateError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of mistake.
  ///
  /// A later version may have more of them: a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The number, which stays the same in all versions and is never given to another code.
    public let number: Int
    /// The name in Swift, such as `syntax`.
    public let name: String

    private init(_ number: Int, _ name: String) {
      self.number = number
      self.name = name
    }

    /// The text doesn't follow the grammar.
    ///
    /// Mend it at ``MetadataPredicateError/location``, which is that of the first token that can't stand there.
    public static let syntax = Code(1, "syntax")
    /// A part of the language that can't be offered, such as selectors.
    ///
    /// Express it in another way.
    public static let unsupported = Code(2, "unsupported")
    /// A function that is neither predefined nor registered, or takes other operands.
    ///
    /// Check its spelling, or register it.
    public static let unknownFunction = Code(3, "unknownFunction")
    /// Too few or too many arguments, or one of the wrong kind.
    ///
    /// Pass one argument for each placeholder.
    public static let arguments = Code(4, "arguments")
    /// A regular expression that can't be used.
    ///
    /// Mend it; constructs that need backtracking, such as references to groups, are left out on purpose.
    public static let regularExpression = Code(5, "regularExpression")
    /// Operands that can never be compared like that.
    ///
    /// Compare values of one kind.
    public static let operands = Code(6, "operands")
    /// A variable that nothing was substituted for.
    ///
    /// Substitute a value before the predicate is evaluated.
    public static let unboundVariable = Code(7, "unboundVariable")
    /// Larger, deeper or more than the limits allow.
    ///
    /// Make it smaller, or allow more in ``PredicateLimits``.
    public static let limit = Code(8, "limit")

    /// All codes of this version, by number; a later version may have more.
    public static let allCases: [Code] = [
      .syntax, .unsupported, .unknownFunction, .arguments, .regularExpression, .operands, .unboundVariable, .limit,
    ]

    /// The name.
    public var description: String { name }
  }

  /// A place in the text of a predicate.
  public struct Location: Hashable, Sendable {
    /// Bytes of UTF-8 before it.
    public let utf8Offset: Int
    /// The line, from 1.
    public let line: Int
    /// The scalar in its line, from 1.
    public let column: Int
    /// That line, or as much of a long one as lies around the place.
    public let excerpt: String
    /// How many scalars of the excerpt stand before the place.
    public let excerptColumn: Int
  }

  /// The kind of mistake.
  public let code: Code
  /// The mistake, in one sentence.
  public let message: String
  /// The first token that can't stand where it stands; `nil` for a tree that didn't come from text.
  public let location: Location?
  /// The probable intention, or the remedy.
  public let suggestion: String?

  init(_ code: Code, _ message: String, at location: Location? = nil, suggestion: String? = nil) {
    self.code = code
    self.message = message
    self.location = location
    self.suggestion = suggestion
  }

  /// The message, the line with a caret below the place, and the suggestion.
  public var description: String {
    var text = "\(code): \(message)"
    if let location {
      let margin = location.excerpt.unicodeScalars.prefix(location.excerptColumn)
      // Tabs stay, so that the caret stands below the place however wide they are.
      let spaces = String(String.UnicodeScalarView(margin.map { $0 == "\t" ? "\t" : " " }))
      text += " (line \(location.line), column \(location.column))\n  \(location.excerpt)\n  \(spaces)^"
    }
    if let suggestion { text += "\n\(location == nil ? "" : "  ")\(suggestion)" }
    return text
  }
}

extension MetadataPredicateError.Location {
  /// How many scalars of a long line are shown before and after the place.
  private static let excerptReach = 60

  /// Finds line and column of a place.
  ///
  /// - Parameters:
  ///   - index: How many scalars stand before it.
  ///   - scalars: The whole text.
  init(_ index: Int, in scalars: [Unicode.Scalar]) {
    let before = scalars[..<index]
    utf8Offset = before.reduce(0) { $0 + UTF8.width($1) }
    line = before.count { $0 == "\n" } + 1
    let lineStart = before.lastIndex(of: "\n").map { $0 + 1 } ?? 0
    let lineEnd = scalars[index...].firstIndex { $0 == "\n" || $0 == "\r" } ?? scalars.count
    column = index - lineStart + 1
    let start = max(lineStart, index - Self.excerptReach)
    let end = min(lineEnd, index + Self.excerptReach)
    // A place on the line break itself is behind the end of its line.
    excerpt = String(String.UnicodeScalarView(scalars[start..<max(start, end)]))
    excerptColumn = index - start
  }
}
