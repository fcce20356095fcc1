/// Text of the format language with Swift values in it.
///
/// ```swift
/// let predicate = try MetadataPredicate("\(key: name) ==[c] \(text) AND size > \(limit)")
/// ```
///
/// Interpolated values become arguments: a value or a key path. So nothing in them can change the meaning of the text.
/// Inside quotes one would be plain text; that's an error.
public struct PredicateFormat: ExpressibleByStringInterpolation, Sendable {
  let text: String
  let arguments: [MetadataValue]

  /// Makes the text of a literal without values.
  public init(stringLiteral text: String) {
    self.text = text
    arguments = []
  }

  /// Makes the text of a literal with values.
  public init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
    arguments = stringInterpolation.arguments
  }

  /// Collects text and values.
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    var text = ""
    var arguments: [MetadataValue] = []

    /// Begins empty.
    public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    /// Adds text of the format language.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a value.
    ///
    /// - Parameter value: The value.
    public mutating func appendInterpolation(_ value: some MetadataValueConvertible) {
      text += "%@"
      arguments.append(value.metadataValue)
    }

    /// Adds a key path.
    ///
    /// - Parameter path: Its keys, with dots between them.
    public mutating func appendInterpolation(key path: String) {
      text += "%K"
      arguments.append(.string(path))
    }
  }
}

extension MetadataPredicate {
  /// Reads a predicate in the format language that has Swift values in it.
  ///
  /// - Parameters:
  ///   - format: A literal; a string that was made at run time goes to ``init(format:arguments:functions:limits:)``.
  ///   - functions: The functions that may be called.
  ///   - limits: The costs and features that are allowed to the text.
  /// - Throws: ``MetadataPredicateError`` with the place of the first token that can't stand there.
  /// - Complexity: O(*n*) in the length of the text.
  public init(
    _ format: PredicateFormat, functions: PredicateFunctions = .predefined, limits: PredicateLimits = .standard
  ) throws(MetadataPredicateError) {
    try self.init(format: format.text, arguments: format.arguments, functions: functions, limits: limits)
  }
}
