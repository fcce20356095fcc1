/// A condition on files or other items, as a tree.
///
/// It comes from text in the format language of `NSPredicate` (``init(format:arguments:functions:limits:)``), from text in Spotlight's
/// query language (``init(query:limits:)``), or from Swift:
///
/// ```swift
/// let notes: MetadataPredicate = .fileName.hasSuffix(".md") && .fileSize > .kilobytes(10)
/// ```
///
/// A tree is a value without behaviour. ``compiled(functions:limits:attributeCosts:)`` makes of it the form that is
/// evaluated.
public indirect enum MetadataPredicate: Hashable, Sendable, Codable {
  /// `TRUEPREDICATE` or `FALSEPREDICATE`.
  case constant(Bool)
  /// Two expressions and how to compare them.
  case comparison(PredicateComparison)
  /// All of them hold; so does none at all (P58).
  case and([MetadataPredicate])
  /// At least one of them holds; of none, none does (P58).
  case or([MetadataPredicate])
  /// It doesn't hold.
  case not(MetadataPredicate)
}

/// Two expressions, how they are compared, and for how many members of the left one it must hold.
public struct PredicateComparison: Hashable, Sendable, Codable {
  /// For how many members of the left side a comparison must hold.
  public enum Quantifier: String, Hashable, Sendable, Codable {
    /// The left side is compared as a whole.
    case whole
    /// `ANY`, also written `SOME`: for at least one member.
    case any
    /// `ALL`: for every member.
    case all
  }

  /// The letters in brackets behind an operator.
  public struct Options: OptionSet, Hashable, Sendable, Codable {
    /// The letters as bits.
    public let rawValue: UInt8

    /// Makes a set of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `c`: upper and lower case are the same, and so are full and half width.
    public static let caseInsensitive = Self(rawValue: 1)
    /// `d`: letters with and without diacritical marks are the same, and so are full and half width.
    public static let diacriticInsensitive = Self(rawValue: 2)
    /// `n`: both sides are normalized already, so bytes are compared.
    ///
    /// Stronger than `c` and `d`.
    public static let normalized = Self(rawValue: 4)
    /// `l`: strings are ordered as people expect, see ``CollationKey``.
    public static let localeSensitive = Self(rawValue: 8)
    /// `w`: only whole words are found; a change from lower to upper case begins one.
    public static let wordBased = Self(rawValue: 16)
  }

  /// For how many members of the left side it must hold.
  public var quantifier: Quantifier
  /// The expression that is tested.
  public var left: MetadataExpression
  /// The operator.
  public var comparator: PredicateComparator
  /// How strings are compared.
  public var options: Options
  /// The expression that the left side is compared with.
  public var right: MetadataExpression

  /// Compares two expressions.
  ///
  /// - Parameters:
  ///   - left: The expression that is tested.
  ///   - comparator: The operator.
  ///   - right: The expression that it's compared with.
  ///   - options: How strings are compared.
  ///   - quantifier: For how many members of the left side it must hold.
  public init(
    _ left: MetadataExpression, _ comparator: PredicateComparator, _ right: MetadataExpression,
    options: Options = [], quantifier: Quantifier = .whole
  ) {
    self.quantifier = quantifier
    self.left = left
    self.comparator = comparator
    self.options = options
    self.right = right
  }
}

/// The operator of a comparison; the raw value is how it's written.
public enum PredicateComparator: String, Hashable, Sendable, Codable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  /// Between two bounds, which belong to it and may stand in either order.
  case between = "BETWEEN"
  /// The left side is a member of the right one, or a part of its text.
  case isIn = "IN"
  /// The right side is a member of the left one, or a part of its text.
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  /// The whole text fits a pattern with `*` and `?`.
  case like = "LIKE"
  /// The whole text fits a regular expression.
  case matches = "MATCHES"
  /// Every word of the right side is a word of the left one.
  case tokenMatches = "TOKENMATCHES"
  /// A uniform type is the one on the right, or a kind of it.
  case conformsTo = "UTI-CONFORMS-TO"
  /// A uniform type is the one on the right.
  case typeEquals = "UTI-EQUALS"
}
