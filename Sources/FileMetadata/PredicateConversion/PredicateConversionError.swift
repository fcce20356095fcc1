/// The reason why a predicate that was written with `#Predicate` has no counterpart, and the remedy.
public struct PredicateConversionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of obstacle.
  ///
  /// A later version may have more of them: a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The number, which stays the same in all versions and is never given to another code.
    public let number: Int
    /// The name in Swift, such as `expression`.
    public let name: String

    private init(_ number: Int, _ name: String) {
      self.number = number
      self.name = name
    }

    /// An expression that predicates over attributes can't express.
    ///
    /// Write that part as a format, or select among the results.
    public static let expression = Code(1, "expression")
    /// A property that no attribute was named for.
    ///
    /// Name one where the predicate is converted.
    public static let property = Code(2, "property")
    /// A constant that no attribute can have.
    ///
    /// Compare with a text, a number, a truth value, a date or data.
    public static let constant = Code(3, "constant")

    /// All codes of this version, by number; a later version may have more.
    public static let allCases: [Code] = [
      .expression, .property, .constant,
    ]

    /// The name.
    public var description: String { name }
  }

  /// The kind of obstacle.
  public let code: Code
  /// The part that can't be converted, in one sentence.
  public let message: String
  /// The alternative.
  public let suggestion: String?

  init(_ code: Code, _ message: String, suggestion: String? = nil) {
    self.code = code
    self.message = message
    self.suggestion = suggestion
  }

  /// The message and the suggestion.
  public var description: String { "\(code): \(message)" + (suggestion.map { "\n\($0)" } ?? "") }
}
