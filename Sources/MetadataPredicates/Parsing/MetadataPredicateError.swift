/// Why a predicate can't be used, where that shows in its text, and what to do about it.
public struct MetadataPredicateError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of mistake it is.
  public enum Code: String, Hashable, Sendable {
    /// The text doesn't follow the grammar.
    case syntax
    /// A part of the language that can't be offered, such as selectors.
    case unsupported
    /// A function that is neither predefined nor registered, or takes other operands.
    case unknownFunction
    /// Too few or too many arguments, or one of the wrong kind.
    case arguments
    /// A regular expression that can't be used.
    case regularExpression
    /// Operands that can never be compared like that.
    case operands
    /// A variable that nothing was substituted for.
    case unboundVariable
    /// Larger, deeper or more than the limits allow.
    case limit
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

  /// What kind of mistake it is.
  public let code: Code
  /// What is wrong, in one sentence.
  public let message: String
  /// The first token that can't stand where it stands; `nil` for a tree that didn't come from text.
  public let location: Location?
  /// What was probably meant, or what to do.
  public let suggestion: String?

  init(_ code: Code, _ message: String, at location: Location? = nil, suggestion: String? = nil) {
    self.code = code
    self.message = message
    self.location = location
    self.suggestion = suggestion
  }

  /// The message, the line with a caret below the place, and the suggestion.
  public var description: String {
    var text = "\(code.rawValue): \(message)"
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
