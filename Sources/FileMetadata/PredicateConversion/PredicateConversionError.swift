/// Why a predicate that was written with `#Predicate` has no counterpart, and what to do about it.
public struct PredicateConversionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of obstacle it is.
  public enum Code: String, Hashable, Sendable {
    /// An expression that predicates over attributes can't express.
    case expression
    /// A property that no attribute was named for.
    case property
    /// A constant that no attribute can have.
    case constant
  }

  /// What kind of obstacle it is.
  public let code: Code
  /// What can't be converted, in one sentence.
  public let message: String
  /// What to do instead.
  public let suggestion: String?

  init(_ code: Code, _ message: String, suggestion: String? = nil) {
    self.code = code
    self.message = message
    self.suggestion = suggestion
  }

  /// The message and the suggestion.
  public var description: String { "\(code.rawValue): \(message)" + (suggestion.map { "\n\($0)" } ?? "") }
}
