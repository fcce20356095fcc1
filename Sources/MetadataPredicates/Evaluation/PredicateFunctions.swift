/// The functions that predicates may call: the predefined ones, and those that a program registers.
///
/// Every other name is refused when text is parsed, and when a tree is compiled. There is no way from text to code that wasn't
/// registered.
public struct PredicateFunctions: Sendable {
  /// The work of a registered function.
  ///
  /// It may run on any thread, at several at once, and for one item more or less often
  /// than the predicate names it.
  public typealias Body = @Sendable ([MetadataValue]) -> MetadataValue

  struct Registered: Sendable {
    let operandCount: ClosedRange<Int>
    let body: Body
  }

  /// Another engine for regular expressions that the module's own refuses.
  ///
  /// Nothing bounds its time, so it needs the feature `PredicateLimits.Features.unboundedExpressions`, and gets only
  /// expressions that stand in the predicate: those in attributes of an item come from the author of the item.
  package struct ForeignExpressions: Sendable {
    /// Whether the whole of a text fits an expression.
    package typealias Matcher = @Sendable (_ text: String) -> Bool

    let make: @Sendable (_ pattern: String, _ ignoresCase: Bool) -> Matcher?

    /// Makes an engine.
    ///
    /// - Parameter make: Prepares an expression; `nil` if it can't be used. Called on any thread.
    package init(_ make: @escaping @Sendable (_ pattern: String, _ ignoresCase: Bool) -> Matcher?) { self.make = make }
  }

  /// Matches expressions that the module's own automata can't; `nil` if there's no such engine.
  package var foreignExpressions: ForeignExpressions?

  private(set) var registered: [String: Registered] = [:]

  /// Only the predefined functions.
  public static let predefined = PredicateFunctions()

  /// Makes a table of the predefined functions.
  public init() {}

  /// Adds a function, or replaces one that was registered under the same name.
  ///
  /// - Parameters:
  ///   - name: An identifier, or identifiers with a colon behind each, such as `distance:to:`. In text the first of them is
  ///     enough.
  ///   - operandCount: How many operands it takes.
  ///   - body: The work. It's given as many values as `operandCount` says and must not trap on any kind of value.
  /// - Throws: ``MetadataPredicateError`` with code `.unknownFunction` for a name that can't be written in text, or is predefined.
  public mutating func register(
    _ name: String, operandCount: ClosedRange<Int>, body: @escaping Body
  ) throws(MetadataPredicateError) {
    guard let spelling = Lexer.functionName(in: name) else {
      throw MetadataPredicateError(
        .unknownFunction, "'\(name)' can't be the name of a function",
        suggestion: "Use an identifier, or identifiers with a colon behind each; no keyword.")
    }
    if PredefinedFunction.named(spelling) != nil {
      throw MetadataPredicateError(
        .unknownFunction, "the function '\(name)' is predefined", suggestion: "Use another name.")
    }
    registered[spelling] = Registered(
      operandCount: max(0, operandCount.lowerBound)...operandCount.upperBound, body: body)
  }

  /// Finds a function by its full name or the first part of it.
  ///
  /// - Parameter name: As written.
  /// - Returns: Its full name and how many operands it takes.
  func find(_ name: String) -> (name: String, operandCount: ClosedRange<Int>, isRegistered: Bool)? {
    if let function = PredefinedFunction.named(name) { return (function.rawValue, function.operandCount, false) }
    if let function = registered[name] { return (name, function.operandCount, true) }
    // The least of several, so that the same text always means the same.
    let prefix = name + ":"
    let longer = registered.keys.filter { $0.hasPrefix(prefix) }.min()
    return longer.flatMap { full in registered[full].map { (full, $0.operandCount, true) } }
  }

  func foreignExpressions(_ limits: PredicateLimits) -> ForeignExpressions? {
    limits.features.contains(.unboundedExpressions) ? foreignExpressions : nil
  }

  var names: [String] { PredefinedFunction.allCases.map(\.shortName) + registered.keys.sorted() }
}

extension Lexer {
  /// The name of a function, if the text contains only that.
  static func functionName(in text: String) -> String? {
    let tokens = Lexer.tokens(of: text).tokens
    guard tokens.count == 2, case .end = tokens[1].kind else { return nil }
    switch tokens[0].kind {
    case .word(let name), .selector(let name): return name
    case .keyword, .string, .integer, .real, .variable, .markedKey, .collectionOperator, .substitution, .symbol, .end,
      .invalid:
      return nil
    }
  }
}

/// The functions that are always there; the raw value is the selector.
enum PredefinedFunction: String, CaseIterable, Sendable {
  case sum = "sum:"
  case count = "count:"
  case min = "min:"
  case max = "max:"
  case average = "average:"
  case median = "median:"
  case mode = "mode:"
  case stddev = "stddev:"
  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  case divide = "divide:by:"
  case modulus = "modulus:by:"
  case sqrt = "sqrt:"
  case log = "log:"
  case ln = "ln:"
  case raise = "raise:toPower:"
  case exp = "exp:"
  case floor = "floor:"
  case ceiling = "ceiling:"
  case abs = "abs:"
  case trunc = "trunc:"
  case uppercase = "uppercase:"
  case lowercase = "lowercase:"
  case random = "random"
  case randomn = "randomn:"
  case now = "now"
  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case leftshift = "leftshift:by:"
  case rightshift = "rightshift:by:"
  case onesComplement = "onesComplement:"
  case noindex = "noindex:"
  case length = "length:"
  case castObject = "castObject:toType:"
  case objectFrom = "objectFrom:withIndex:"
  // The moments of Spotlight's `$time`, so that its queries have a text in the format language too.
  case today = "today"
  case yesterday = "yesterday"
  case thisWeek = "thisWeek"
  case thisMonth = "thisMonth"
  case thisYear = "thisYear"

  private static let byName = Dictionary(
    allCases.flatMap { [($0.rawValue, $0), ($0.shortName, $0)] }, uniquingKeysWith: { first, _ in first })

  static func named(_ name: String) -> PredefinedFunction? { byName[name] }

  /// The first part of the selector, which is enough in text.
  var shortName: String { String(rawValue.prefix { $0 != ":" }) }

  /// Whether its operands are one collection, or its members one by one.
  var takesCollection: Bool {
    switch self {
    case .sum, .count, .min, .max, .average, .median, .mode, .stddev: true
    default: false
    }
  }

  /// Whether it gives a moment that depends on the present one.
  var isTimeDependent: Bool {
    switch self {
    case .now, .today, .yesterday, .thisWeek, .thisMonth, .thisYear: true
    default: false
    }
  }

  var isRandom: Bool { self == .random || self == .randomn }

  var operandCount: ClosedRange<Int> {
    if takesCollection { return 1...Int.max }
    if isTimeDependent { return 0...1 }
    let colons = rawValue.count { $0 == ":" }
    return colons...colons
  }
}
