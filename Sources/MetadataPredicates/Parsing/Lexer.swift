/// Divides a text in the format language into tokens.
///
/// White space has no meaning between them, keywords ignore case, and there are no comments.
struct Lexer {
  let scalars: [Unicode.Scalar]
  var position = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  /// All tokens up to the end, or up to the first thing that is none.
  static func tokens(of text: String) -> (tokens: [Token], scalars: [Unicode.Scalar]) {
    var lexer = Lexer(text)
    var tokens: [Token] = []
    while true {
      let token = lexer.next()
      tokens.append(token)
      switch token.kind {
      case .end, .invalid: return (tokens, lexer.scalars)
      case .word, .selector, .keyword, .string, .integer, .real, .variable, .markedKey, .collectionOperator,
        .substitution, .symbol:
        continue
      }
    }
  }

  private mutating func next() -> Token {
    while let scalar = current, scalar.properties.isWhitespace { position += 1 }
    let start = position
    let kind: Token.Kind
    do throws(MetadataPredicateError) { kind = try readKind() } catch { kind = .invalid(error) }
    return Token(kind: kind, start: start, end: position)
  }

  var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  func peek(_ distance: Int) -> Unicode.Scalar? {
    position + distance < scalars.count ? scalars[position + distance] : nil
  }

  func error(
    _ message: String, _ code: MetadataPredicateError.Code = .syntax, at index: Int, suggestion: String? = nil
  ) -> MetadataPredicateError {
    MetadataPredicateError(
      code, message, at: MetadataPredicateError.Location(index, in: scalars), suggestion: suggestion)
  }

  // MARK: Kinds

  private mutating func readKind() throws(MetadataPredicateError) -> Token.Kind {
    guard let first = current else { return .end }
    switch first {
    case "'", "\"": return .string(try readString())
    case "$": return .variable(try readMarked("variable", sign: "$"))
    case "#":
      if let quote = peek(1), quote == "'" || quote == "\"" {
        position += 1
        return .markedKey(try readString())
      }
      return .markedKey(try readMarked("key", sign: "#"))
    case "@": return try readCollectionOperator()
    case "%": return try readSubstitution()
    case "0"..."9": return try readNumber()
    default: break
    }
    if first.beginsIdentifier { return readWord() }
    return .symbol(try readSymbol())
  }

  private mutating func readIdentifier() -> String {
    let start = position
    while let scalar = current, scalar.continuesIdentifier { position += 1 }
    return String(String.UnicodeScalarView(scalars[start..<position]))
  }

  private mutating func readMarked(_ what: String, sign: String) throws(MetadataPredicateError) -> String {
    guard let next = peek(1), next.beginsIdentifier else {
      throw error("'\(sign)' must be followed by the name of a \(what)", at: position)
    }
    position += 1
    return readIdentifier()
  }

  private mutating func readWord() -> Token.Kind {
    let start = position
    var word = readIdentifier()
    if word.uppercased() == "UTI" {
      for keyword in [Keyword.conformsTo, .typeEquals] where follows(keyword, from: start) {
        position = start + keyword.rawValue.unicodeScalars.count
        return .keyword(keyword)
      }
    }
    if current == ":", peek(1) != "=" {
      while current == ":" {
        position += 1
        word += ":" + readIdentifier()
      }
      return .selector(word)
    }
    return Keyword(rawValue: word.uppercased()).map(Token.Kind.keyword) ?? .word(word)
  }

  private func follows(_ keyword: Keyword, from start: Int) -> Bool {
    let length = keyword.rawValue.unicodeScalars.count
    guard start + length <= scalars.count else { return false }
    let spelled = String(String.UnicodeScalarView(scalars[start..<start + length])).uppercased()
    let isOver = start + length == scalars.count || !scalars[start + length].continuesIdentifier
    return spelled == keyword.rawValue && isOver
  }

  private mutating func readCollectionOperator() throws(MetadataPredicateError) -> Token.Kind {
    let start = position
    let name = try readMarked("collection operator, such as @count", sign: "@")
    if current == ":" {
      throw error(
        "operators that send a message, such as '@\(name):', can't be offered", .unsupported, at: start,
        suggestion: "Register a function and call it: \(name)(a, b) == TRUE.")
    }
    if let known = MetadataExpression.CollectionOperator(rawValue: name) { return .collectionOperator(known) }
    let names = MetadataExpression.CollectionOperator.allCases.map(\.rawValue)
    throw error(
      "there is no collection operator '@\(name)'", at: start,
      suggestion: Spelling.suggestion(for: name, among: names).map { "Did you mean '@\($0)'?" }
        ?? "There are @" + names.joined(separator: ", @") + ".")
  }

  /// The conversions of printf(3) that stand for a number, without their length.
  private static let numberConversions: Set<Unicode.Scalar> = [
    "d", "D", "i", "u", "U", "o", "O", "x", "X", "e", "E", "f", "g", "G", "c", "C",
  ]
  private static let lengths = ["ll", "h", "q", "l", "z"].map { Array($0.unicodeScalars) }

  private mutating func readSubstitution() throws(MetadataPredicateError) -> Token.Kind {
    let start = position
    position += 1
    switch current {
    case "@":
      position += 1
      return .substitution(.value)
    case "K":
      position += 1
      return .substitution(.keyPath)
    case "%":
      position += 1
      return .string("%")
    default: break
    }
    let length = Self.lengths.first { scalars[position...].starts(with: $0) }
    position += length?.count ?? 0
    let allowed: Set<Unicode.Scalar> = length == nil ? Self.numberConversions : ["d", "i", "u", "x", "X", "o"]
    guard let conversion = current, allowed.contains(conversion) else {
      position = start
      throw error(
        "'%' must be followed by '@' for a value, 'K' for a key path, or a conversion such as 'd'", at: start,
        suggestion: "A per cent sign itself is '%%', and plain text inside quotes.")
    }
    position += 1
    return .substitution(.number(String(String.UnicodeScalarView(scalars[start..<position]))))
  }

  private mutating func readSymbol() throws(MetadataPredicateError) -> Symbol {
    for (symbol, spelling) in Symbol.bySpelling where scalars[position...].starts(with: spelling) {
      position += spelling.count
      return symbol
    }
    let sign = scalars[position]
    let suggestion: String? =
      switch sign {
      case "?": "A question mark is a wild card inside quotes only; a value is passed with '%@'."
      case "‘", "’", "“", "”": "Quotes are ' or \"."
      case "≤": "Write '<='."
      case "≥": "Write '>='."
      case "≠": "Write '!='."
      case ";": "A predicate is one condition, without an end mark."
      default: nil
      }
    throw error("'\(sign)' has no meaning here", at: position, suggestion: suggestion)
  }
}

extension Unicode.Scalar {
  var beginsIdentifier: Bool { isASCII ? self == "_" || isASCIILetter : properties.isIDStart }
  var continuesIdentifier: Bool {
    isASCII ? self == "_" || isASCIILetter || ("0"..."9").contains(self) : properties.isIDContinue
  }
  private var isASCIILetter: Bool { ("a"..."z").contains(self) || ("A"..."Z").contains(self) }
}
