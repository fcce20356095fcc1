#if !canImport(ObjectiveC)
  public import Foundation
  internal import MetadataPredicates

  /// A predicate that compares two expressions.
  ///
  /// Foundation's class of this name can't be made on Linux. This one takes its place in expressions everywhere, and in types in files that
  /// import this module and not Foundation. Objects may be evaluated by any number of threads, unless a block in them mustn't.
  ///
  /// - Note: Rules P12 to P29 and P43 to P45 describe the operators; <doc:FoundationNameRules> says where they are.
  open class NSComparisonPredicate: NSPredicate, NSSecureCoding {
    /// For how many members of the left side the comparison must hold.
    public enum Modifier: UInt, Sendable {
      /// The left side is compared as a whole.
      case direct = 0
      /// `ALL`.
      case all = 1
      /// `ANY`.
      case any = 2
    }

    /// How the expressions are compared; the raw values are Apple's.
    public enum Operator: UInt, Sendable {
      case lessThan = 0
      case lessThanOrEqualTo = 1
      case greaterThan = 2
      case greaterThanOrEqualTo = 3
      case equalTo = 4
      case notEqualTo = 5
      /// The whole text fits a regular expression.
      case matches = 6
      /// The whole text fits a pattern with `*` and `?`.
      case like = 7
      case beginsWith = 8
      case endsWith = 9
      /// The left side is a member of the right one, or a part of its text.
      case `in` = 10
      /// A method; there are none to be found by name on Linux, so no predicate has this operator.
      case customSelector = 11
      /// The right side is a member of the left one, or a part of its text.
      case contains = 99
      /// Between two bounds, which belong to it.
      case between = 100
    }

    /// How strings are compared; the raw values are Apple's.
    public struct Options: OptionSet, Sendable {
      /// The options as bits.
      public let rawValue: UInt

      /// Makes a set of bits.
      public init(rawValue: UInt) { self.rawValue = rawValue }

      /// `[c]`.
      public static let caseInsensitive = Options(rawValue: 1)
      /// `[d]`.
      public static let diacriticInsensitive = Options(rawValue: 2)
      /// `[n]`: the texts are normalized already.
      public static let normalized = Options(rawValue: 4)
    }

    /// The expression that is tested.
    public let leftExpression: NSExpression
    /// The expression that it's compared with.
    public let rightExpression: NSExpression
    /// For how many members of the left side the comparison must hold.
    public let comparisonPredicateModifier: Modifier
    /// How the expressions are compared.
    public let predicateOperatorType: Operator
    /// How strings are compared.
    public let options: Options
    /// The tree; `nil` if a block is part of it.
    private(set) var program: TreeProgram?

    /// Compares two expressions.
    ///
    /// - Parameters:
    ///   - lhs: The expression that is tested.
    ///   - rhs: The expression that it's compared with.
    ///   - modifier: For how many members of the left side the comparison must hold.
    ///   - type: How the expressions are compared. `.customSelector` ends the program, as on Apple platforms.
    ///   - options: How strings are compared.
    public init(
      leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier, type: Operator,
      options: Options = []
    ) {
      if type == .customSelector { fatalError("NSComparisonPredicate: a custom selector needs a method's name") }
      leftExpression = lhs
      rightExpression = rhs
      comparisonPredicateModifier = modifier
      predicateOperatorType = type
      self.options = options
      if let left = lhs.tree, let right = rhs.tree {
        program = TreeProgram(.comparison(Self.comparison(left, right, modifier, type, options)))
      } else {
        program = nil
      }
      super.init(value: false)
    }

    /// - Returns: `nil` for an operator that has no name among Apple's.
    convenience init?(_ comparison: PredicateComparison, _ program: TreeProgram) {
      guard let type = Operator(comparison.comparator) else { return nil }
      self.init(
        leftExpression: NSExpression(comparison.left), rightExpression: NSExpression(comparison.right),
        modifier: Modifier(comparison.quantifier), type: type,
        options: Options(rawValue: UInt(comparison.options.rawValue)))
      self.program = program
    }

    /// Compares 1 with 1 or 0.
    public override convenience init(value: Bool) {
      self.init(
        leftExpression: NSExpression(forConstantValue: 1),
        rightExpression: NSExpression(forConstantValue: value ? 1 : 0),
        modifier: .direct, type: .equalTo)
    }

    /// Compares the result of a block with `true`.
    public override convenience init(block: @escaping (Any?, [String: Any]?) -> Bool) {
      let answer = NSExpression(block: { object, _, context in block(object, context?.namedValues) }, arguments: nil)
      self.init(
        leftExpression: answer, rightExpression: NSExpression(forConstantValue: true), modifier: .direct, type: .equalTo
      )
    }

    private static func comparison(
      _ left: MetadataExpression, _ right: MetadataExpression, _ modifier: Modifier, _ type: Operator,
      _ options: Options
    ) -> PredicateComparison {
      PredicateComparison(
        left, type.comparator, right,
        options: PredicateComparison.Options(rawValue: UInt8(truncatingIfNeeded: options.rawValue)),
        quantifier: modifier.quantifier)
    }

    // MARK: Archives

    /// Archives may be required to be secure.
    open class var supportsSecureCoding: Bool { true }

    /// Reads the format from a keyed archive.
    public required convenience init?(coder: NSCoder) {
      guard let tree = TreeProgram.decoded(from: coder), case .comparison(let comparison) = tree else { return nil }
      self.init(comparison, TreeProgram(tree))
    }

    /// Writes the format into a keyed archive; a predicate with a block in it can't be archived.
    open func encode(with coder: NSCoder) { TreeProgram.encode(program?.tree, with: coder) }

    // MARK: Values

    /// The predicate in the format language.
    open override var predicateFormat: String {
      if let program { return program.tree.formatString }
      let shown = Self.comparison(.attribute("l"), .attribute("r"), .direct, predicateOperatorType, options)
      let sign = MetadataPredicate.comparison(shown).formatString.dropFirst().dropLast()
      let quantifier =
        switch comparisonPredicateModifier {
        case .direct: ""
        case .all: "ALL "
        case .any: "ANY "
        }
      return "\(quantifier)\(leftExpression)\(sign)\(rightExpression)"
    }

    /// The predicate in the format language.
    open override var description: String { predicateFormat }

    /// The same object: it never changes.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both say the same; with a block in it a predicate equals only itself.
    open override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? NSComparisonPredicate, let program else { return self === object as AnyObject? }
      return other.program?.tree == program.tree
    }

    /// Equal for equal predicates.
    open override var hash: Int { program?.tree.hashValue ?? ObjectIdentifier(self).hashValue }

    // MARK: Evaluation

    /// Whether the comparison holds for an object: a dictionary, a value, or an object that conforms to
    /// `PredicateItem`.
    open override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }

    /// Whether the comparison holds for an object if variables have values.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
      if let program { return program.evaluate(with: object, substitutionVariables: bindings) }
      let context = bindings.map { NSMutableDictionary(dictionary: $0) }
      let (left, right) = (
        leftExpression.resolved(for: object, context), rightExpression.resolved(for: object, context)
      )
      let tree = MetadataPredicate.comparison(
        Self.comparison(left, right, comparisonPredicateModifier, predicateOperatorType, options))
      return TreeProgram(tree).evaluate(with: object, substitutionVariables: bindings)
    }
  }

  extension NSComparisonPredicate.Operator {
    var comparator: PredicateComparator {
      switch self {
      case .lessThan: .less
      case .lessThanOrEqualTo: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqualTo: .greaterOrEqual
      case .equalTo, .customSelector: .equal
      case .notEqualTo: .notEqual
      case .matches: .matches
      case .like: .like
      case .beginsWith: .beginsWith
      case .endsWith: .endsWith
      case .in: .isIn
      case .contains: .contains
      case .between: .between
      }
    }

    /// - Returns: `nil` for an operator that has no name among Apple's.
    init?(_ comparator: PredicateComparator) {
      switch comparator {
      case .equal: self = .equalTo
      case .notEqual: self = .notEqualTo
      case .less: self = .lessThan
      case .lessOrEqual: self = .lessThanOrEqualTo
      case .greater: self = .greaterThan
      case .greaterOrEqual: self = .greaterThanOrEqualTo
      case .between: self = .between
      case .isIn: self = .in
      case .contains: self = .contains
      case .beginsWith: self = .beginsWith
      case .endsWith: self = .endsWith
      case .like: self = .like
      case .matches: self = .matches
      case .tokenMatches, .conformsTo, .typeEquals: return nil
      }
    }
  }

  extension NSComparisonPredicate.Modifier {
    var quantifier: PredicateComparison.Quantifier {
      switch self {
      case .direct: .whole
      case .all: .all
      case .any: .any
      }
    }

    init(_ quantifier: PredicateComparison.Quantifier) {
      switch quantifier {
      case .whole: self = .direct
      case .all: self = .all
      case .any: self = .any
      }
    }
  }

  extension NSDictionary {
    /// The entries whose keys are texts.
    var namedValues: [String: Any] {
      var values: [String: Any] = [:]
      for (key, value) in self { if let name = key as? String { values[name] = value } }
      return values
    }
  }
#endif
