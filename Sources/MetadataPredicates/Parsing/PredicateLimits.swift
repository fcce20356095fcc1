/// The costs and features that are allowed to a predicate; exceeding them is an error with code
/// ``MetadataPredicateError/Code/limit``.
public struct PredicateLimits: Hashable, Sendable {
  /// Parts of the language that can be shut off.
  public struct Features: OptionSet, Hashable, Sendable {
    /// The parts as bits.
    public let rawValue: UInt8

    /// Makes a set of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `SUBQUERY`, whose cost multiplies with each one inside another.
    public static let subqueries = Self(rawValue: 1)
    /// `MATCHES`.
    public static let regularExpressions = Self(rawValue: 2)
    /// Functions that the program has registered.
    public static let registeredFunctions = Self(rawValue: 4)
    /// `random()` and `randomn()`, which give another result each time.
    public static let randomness = Self(rawValue: 8)
    /// `$name := value`.
    public static let assignments = Self(rawValue: 16)
    /// `ANYKEY` and `*`, which read every attribute.
    public static let anyKey = Self(rawValue: 32)

    /// Regular expressions that only an engine without a bound on time can match, where there is one: there's none in this module, and
    /// under Apple's names it's `NSRegularExpression`.
    public static let unboundedExpressions = Self(rawValue: 64)

    /// All of them.
    public static let all: Self = [
      .subqueries, .regularExpressions, .registeredFunctions, .randomness, .assignments, .anyKey, .unboundedExpressions,
    ]
  }

  /// Bytes of UTF-8 in a text.
  public var textLengthMax = 1 << 20
  /// Parentheses, braces, brackets and calls inside each other in a text.
  public var nestingDepthMax = 100
  /// Levels of a tree.
  public var treeDepthMax = 200
  /// Nodes of a tree.
  public var nodeCountMax = 100_000
  /// States of all regular expressions and patterns together.
  public var patternSizeMax = 20_000
  /// Members that one evaluation may visit inside subqueries and collections.
  public var stepCountMax = 1_000_000
  /// The parts of the language that may be used.
  public var features = Features.all
  /// The attributes that may be read, by the first step of a key path; `nil` for any.
  public var attributes: Set<String>?

  /// The usual limits for texts of the program itself.
  public static let standard = PredicateLimits()

  /// For text by other authors: small, without parts that can be made slow or random.
  ///
  /// Name the ``attributes`` too, if there are some that the author shouldn't ask for.
  public static let untrusted: PredicateLimits = {
    var limits = PredicateLimits()
    limits.textLengthMax = 4_096
    limits.nestingDepthMax = 32
    limits.treeDepthMax = 64
    limits.nodeCountMax = 500
    limits.patternSizeMax = 1_000
    limits.stepCountMax = 10_000
    limits.features = [.regularExpressions]
    return limits
  }()
}

extension PredicateLimits {
  /// The reason why an attribute may not be read, and the probable intention; `nil` if it may.
  func refusal(ofAttribute name: String) -> (message: String, suggestion: String?)? {
    guard let attributes, !attributes.contains(name) else { return nil }
    let meant = Spelling.suggestion(for: name, among: attributes.sorted())
    return ("the attribute '\(name)' isn't allowed here", meant.map { "Did you mean '\($0)'?" })
  }
}
