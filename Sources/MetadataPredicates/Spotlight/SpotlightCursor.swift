/// A value in Spotlight's language: a text with or without wild cards, or an expression.
struct SpotlightValue {
  /// The text without backslashes.
  private(set) var text = ""
  /// The text as a pattern of `LIKE`, in which a backslash takes the meaning from wild cards.
  private var wildcards = ""
  private(set) var hasWildcards = false
  let isText: Bool
  var options: PredicateComparison.Options = []
  /// The value of a text in quotes for attributes that have numbers or moments; `nil` if it's neither.
  var unquoted: MetadataExpression?
  private let other: MetadataExpression

  init(_ expression: MetadataExpression) {
    isText = false
    other = expression
  }

  /// An empty text.
  init() {
    isText = true
    other = .constant(.null)
  }

  mutating func append(_ scalar: Unicode.Scalar, isEscaped: Bool) {
    text.unicodeScalars.append(scalar)
    if scalar == "*" || scalar == "?" || scalar == "\\" {
      if isEscaped || scalar == "\\" { wildcards += "\\" } else { hasWildcards = true }
    }
    wildcards.unicodeScalars.append(scalar)
  }

  /// The parts that white space divides; itself if there's none that divides anything.
  var words: [SpotlightValue] {
    // A backslash and the scalar behind it belong together.
    var parts = [SpotlightValue()]
    var isEscaped = false
    for scalar in wildcards.unicodeScalars {
      if !isEscaped, scalar == "\\" {
        isEscaped = true
        continue
      }
      if scalar.properties.isWhitespace {
        parts.append(SpotlightValue())
      } else {
        parts[parts.count - 1].append(scalar, isEscaped: isEscaped)
      }
      isEscaped = false
    }
    parts.removeAll { $0.text.isEmpty }
    return parts.count < 2 ? [self] : parts
  }

  /// A lone star: any value.
  var isOnlyStar: Bool { hasWildcards && wildcards == "*" }

  var expression: MetadataExpression { isText ? .constant(.string(text)) : other }
  var pattern: MetadataExpression { .constant(.string(wildcards)) }

  var number: MetadataValue? {
    if let whole = Int64(text) { return .integer(whole) }
    guard let real = Double(text), real.isFinite, text.utf8.contains(where: { (48...57).contains($0) }) else {
      return nil
    }
    return .real(real)
  }
}

/// A place in a query, and how to go on from it.
struct SpotlightCursor {
  private let scalars: [Unicode.Scalar]
  private(set) var position = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  var isAtEnd: Bool { position >= scalars.count }

  private var current: Unicode.Scalar? { isAtEnd ? nil : scalars[position] }

  mutating func skipSpace() {
    while let scalar = current, scalar.properties.isWhitespace { position += 1 }
  }

  func isAt(_ scalar: Unicode.Scalar) -> Bool { current == scalar }

  func startsWith(_ text: String) -> Bool {
    scalars[min(position, scalars.count)...].starts(with: text.unicodeScalars)
  }

  /// Takes a sign and the space behind it.
  mutating func take(_ text: String) -> Bool {
    guard startsWith(text) else { return false }
    position += text.unicodeScalars.count
    skipSpace()
    return true
  }

  /// Takes a word, in any case, that a parenthesis follows.
  mutating func takeWord(_ word: String) -> Bool {
    let start = position
    if identifier()?.lowercased() == word.lowercased(), isAt("(") { return true }
    position = start
    return false
  }

  /// Takes `true)` or `false)`.
  mutating func takeTruth() -> Bool? {
    let start = position
    if let word = identifier()?.lowercased(), word == "true" || word == "false", take(")") { return word == "true" }
    position = start
    return nil
  }

  mutating func identifier() -> String? {
    guard let first = current, first.beginsIdentifier else { return nil }
    let name = letters()
    skipSpace()
    return name
  }

  /// Letters, digits and underscores from here on.
  mutating func letters() -> String {
    let start = position
    while let scalar = current, scalar.continuesIdentifier { position += 1 }
    return String(String.UnicodeScalarView(scalars[start..<position]))
  }

  mutating func expect(_ sign: String) throws(MetadataPredicateError) {
    if !take(sign) { throw unexpected("'\(sign)'") }
  }

  /// A text in quotes, with its quotes; the rest stays, space too.
  mutating func quoted() throws(MetadataPredicateError) -> SpotlightValue {
    let start = position
    let quote = scalars[position]
    position += 1
    var value = SpotlightValue()
    while let scalar = current {
      position += 1
      if scalar == quote { return value }
      if scalar == "\\", let escaped = current {
        position += 1
        value.append(escaped, isEscaped: true)
      } else {
        value.append(scalar, isEscaped: false)
      }
    }
    throw error(
      "the text that begins here has no end", at: start,
      suggestion: "Add \(quote) where it ends, or write \\\(quote) inside.")
  }

  private static let ends: Set<Unicode.Scalar> = ["(", ")", "&", "|", ",", "\"", "'", "[", "]", "=", "<", ">", "!"]

  /// A value without quotes, up to a space or a sign.
  mutating func bareWord() -> SpotlightValue? {
    var value = SpotlightValue()
    while let scalar = current, !Self.ends.contains(scalar), !scalar.properties.isWhitespace {
      position += 1
      if scalar == "\\", let escaped = current {
        position += 1
        value.append(escaped, isEscaped: true)
      } else {
        value.append(scalar, isEscaped: false)
      }
    }
    skipSpace()
    return value.text.isEmpty ? nil : value
  }

  mutating func text(upTo end: Unicode.Scalar) -> String {
    let start = position
    while let scalar = current, scalar != end { position += 1 }
    return String(String.UnicodeScalarView(scalars[start..<position]))
  }

  // MARK: Errors

  func error(
    _ message: String, _ code: MetadataPredicateError.Code = .syntax, at place: Int? = nil, suggestion: String? = nil
  ) -> MetadataPredicateError {
    MetadataPredicateError(
      code, message, at: MetadataPredicateError.Location(place ?? position, in: scalars), suggestion: suggestion)
  }

  func unexpected(_ expected: String, after distance: Int = 0, suggestion: String? = nil) -> MetadataPredicateError {
    let place = min(position + distance, scalars.count)
    let rest = scalars[place...].prefix { !$0.properties.isWhitespace }.prefix(20)
    let found = rest.isEmpty ? "the end of the query" : "'\(String(String.UnicodeScalarView(rest)))'"
    return error("expected \(expected), found \(found)", at: place, suggestion: suggestion ?? wordSuggestion)
  }

  private var wordSuggestion: String? {
    var rest = self
    switch rest.identifier()?.uppercased() {
    case "AND": return "Write '&&'."
    case "OR": return "Write '||'."
    case "NOT": return "Write '!'."
    case "LIKE", "CONTAINS", "BEGINSWITH", "ENDSWITH", "MATCHES", "IN", "BETWEEN":
      return "That is the format language of predicates; here it's attribute == \"*text*\"c."
    default: return nil
    }
  }
}
