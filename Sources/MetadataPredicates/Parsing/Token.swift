/// The smallest part of a text in the format language, and where it begins.
struct Token {
  enum Kind {
    case word(String)
    /// `add:to:`
    case selector(String)
    case keyword(Keyword)
    case string(String)
    case integer(UInt64)
    case real(Double)
    /// `$name`
    case variable(String)
    /// `#name` or `#"any name"`
    case markedKey(String)
    /// `@count`
    case collectionOperator(MetadataExpression.CollectionOperator)
    case substitution(Substitution)
    case symbol(Symbol)
    case end
    /// The text here begins no token.
    case invalid(MetadataPredicateError)
  }

  enum Substitution {
    /// `%@`
    case value
    /// `%K`
    case keyPath
    /// `%d` and its kin, as written.
    case number(String)
  }

  let kind: Kind
  /// Scalars before it.
  let start: Int
  let end: Int
}

extension MetadataPredicate {
  /// The placeholders for arguments in a format, such as `%@` and `%ld`, in its order, up to the first text that is no
  /// token.
  package static func conversions(in format: String) -> [String] {
    Lexer.tokens(of: format).tokens.compactMap { token in
      guard case .substitution(let substitution) = token.kind else { return nil }
      switch substitution {
      case .value: return "%@"
      case .keyPath: return "%K"
      case .number(let conversion): return conversion
      }
    }
  }
}

/// Signs, longest first where one begins like another.
enum Symbol: String, CaseIterable {
  case power = "**"
  case equal = "=="
  case notEqual = "!="
  case notEqualAngles = "<>"
  case lessOrEqual = "<="
  case equalOrLess = "=<"
  case greaterOrEqual = ">="
  case equalOrGreater = "=>"
  case and = "&&"
  case or = "||"
  case assign = ":="
  case shiftLeft = "<<"
  case shiftRight = ">>"
  case equalSingle = "="
  case less = "<"
  case greater = ">"
  case not = "!"
  case openParenthesis = "("
  case closeParenthesis = ")"
  case openBrace = "{"
  case closeBrace = "}"
  case openBracket = "["
  case closeBracket = "]"
  case comma = ","
  case dot = "."
  case plus = "+"
  case minus = "-"
  case star = "*"
  case slash = "/"
  case bitwiseAnd = "&"
  case bitwiseOr = "|"
  case bitwiseXor = "^"
  case complement = "~"

  static let bySpelling = allCases.map { (symbol: $0, scalars: Array($0.rawValue.unicodeScalars)) }
}

/// Words that have a meaning of their own, in any case; `#` in front makes a key of them.
enum Keyword: String, CaseIterable {
  case and = "AND"
  case or = "OR"
  case not = "NOT"
  case isIn = "IN"
  case all = "ALL"
  case any = "ANY"
  case some = "SOME"
  case none = "NONE"
  case like = "LIKE"
  case matches = "MATCHES"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case between = "BETWEEN"
  case tokenMatches = "TOKENMATCHES"
  case null = "NULL"
  case `nil` = "NIL"
  case itself = "SELF"
  case `true` = "TRUE"
  case yes = "YES"
  case `false` = "FALSE"
  case no = "NO"
  case anyKey = "ANYKEY"
  case subquery = "SUBQUERY"
  case ternary = "TERNARY"
  case function = "FUNCTION"
  case fetch = "FETCH"
  case cast = "CAST"
  case truePredicate = "TRUEPREDICATE"
  case falsePredicate = "FALSEPREDICATE"
  case union = "UNION"
  case intersect = "INTERSECT"
  case minus = "MINUS"
  case conformsTo = "UTI-CONFORMS-TO"
  case typeEquals = "UTI-EQUALS"

  /// The operator that it names.
  var comparator: PredicateComparator? { PredicateComparator(rawValue: rawValue) }
}
