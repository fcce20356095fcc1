public import MetadataPredicates

/// A part of a predicate that no file can fulfil, or every file fulfils, because of the possible values of its
/// attributes.
///
/// Such a predicate can be used: it finds nothing, or too much, and gives no reason.
public struct PredicateWarning: Hashable, Sendable, CustomStringConvertible {
  /// The kinds of warnings.
  ///
  /// A later version may have more of them: a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The number, which stays the same in all versions and is never given to another code.
    public let number: Int
    /// The name in Swift, such as `impossibleComparison`.
    public let name: String

    private init(_ number: Int, _ name: String) {
      self.number = number
      self.name = name
    }

    /// An attribute is compared with a value that it never has, such as a size with a text.
    ///
    /// Compare it as the suggestion says.
    public static let impossibleComparison = Code(1, "impossibleComparison")
    /// Neither the file system nor a provider gives this attribute.
    ///
    /// Check its spelling, or give it by an ``AttributeProvider``.
    public static let unknownAttribute = Code(2, "unknownAttribute")

    /// All codes of this version, by number; a later version may have more.
    public static let allCases: [Code] = [
      .impossibleComparison, .unknownAttribute,
    ]

    /// The name.
    public var description: String { name }
  }

  /// The kind of warning.
  public let code: Code
  /// The name of the attribute.
  public let attribute: String
  /// The problem, in one sentence.
  public let message: String
  /// The remedy.
  public let suggestion: String

  /// The kind, the problem, and the remedy.
  public var description: String { "\(code): \(message) \(suggestion)" }
}

extension MetadataPredicate {
  /// The suspicious parts of it, for files.
  ///
  /// Comparisons of an attribute with a constant are checked, wherever they stand; computed values aren't.
  ///
  /// - Parameter providers: The providers of attributes that the file system doesn't have; their types aren't known.
  /// - Returns: The warnings, in the order of the predicate.
  /// - Complexity: O(*n*) in the size of the predicate.
  public func warnings(providers: [AttributeProvider] = []) -> [PredicateWarning] {
    warnings(providing: Set(providers.flatMap(\.attributes)))
  }

  func warnings(providing provided: Set<String>) -> [PredicateWarning] {
    switch self {
    case .constant: []
    case .and(let members): members.flatMap { $0.warnings(providing: provided) }
    case .or(let members):
      // Spotlight compares a word in quotes as a text and as any other value it may stand for: one of both is enough.
      isOneComparison(members) && members.contains { $0.warnings(providing: provided).isEmpty }
        ? [] : members.flatMap { $0.warnings(providing: provided) }
    case .not(let member): member.warnings(providing: provided)
    case .comparison(let comparison): comparison.warning(providing: provided).map { [$0] } ?? []
    }
  }
}

/// Whether two predicates compare one attribute in one way with different values.
private func isOneComparison(_ members: [MetadataPredicate]) -> Bool {
  guard members.count == 2, case .comparison(let first) = members[0], case .comparison(let second) = members[1] else {
    return false
  }
  return first.left == second.left && first.comparator == second.comparator
}

extension PredicateComparison {
  fileprivate func warning(providing provided: Set<String>) -> PredicateWarning? {
    let isReversed = left.attributeName == nil
    guard let name = (isReversed ? right : left).attributeName else { return nil }
    let constant = (isReversed ? left : right).literalValue
    guard let attribute = FileAttribute(rawValue: name) else {
      if provided.contains(name) { return nil }
      return PredicateWarning(
        code: .unknownAttribute, attribute: name, message: "no file has the attribute '\(name)' here.",
        suggestion: "Check its spelling, or give it by an attribute provider.")
    }
    guard let constant, constant != .null, !comparator.canCompare(attribute.valueKind, with: constant) else {
      return nil
    }
    let effect = comparator == .notEqual ? "holds for every file" : "never holds"
    let comparison = MetadataPredicate.comparison(self).formatString
    return PredicateWarning(
      code: .impossibleComparison, attribute: name,
      message: "\(comparison) \(effect): the values of '\(name)' are \(attribute.valueKind.plural).",
      suggestion: attribute.valueKind.advice)
  }
}

extension FileAttribute {
  /// The values that an attribute can have.
  enum ValueKind {
    case text
    case number
    case date

    var plural: String {
      switch self {
      case .text: "texts"
      case .number: "numbers"
      case .date: "dates"
      }
    }

    var advice: String {
      switch self {
      case .text: "Compare it with a text in quotes."
      case .number: "Compare it with a number, without quotes."
      case .date: "Compare it with a date, such as CAST('2026-01-31T00:00:00Z', 'NSDate')."
      }
    }
  }

  var valueKind: ValueKind {
    switch self {
    case .name, .displayName, .path, .url, .contentType, .contentTypeTree, .kind, .comment, .finderComment, .whereFroms,
      .userTags:
      .text
    case .size, .isInvisible, .nodeCount, .owner, .group, .isUbiquitous: .number
    case .creationDate, .contentCreationDate, .contentChangeDate, .contentModificationDate, .attributeChangeDate,
      .lastUsedDate:
      .date
    }
  }
}

extension PredicateComparator {
  /// Whether some value of a kind may fulfil a comparison with a constant.
  fileprivate func canCompare(_ kind: FileAttribute.ValueKind, with constant: MetadataValue) -> Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .contains:
      return constant.canEqual(kind) && (self != .contains || kind == .text)
    case .beginsWith, .endsWith, .like, .matches, .tokenMatches, .conformsTo, .typeEquals:
      return kind == .text && constant.canEqual(.text)
    case .isIn:
      // A text is searched for a text.
      guard let members = constant.members else { return kind == .text && constant.canEqual(.text) }
      return members.isEmpty || members.contains { $0 == .null || $0.canEqual(kind) }
    case .between: return constant.members?.allSatisfy { $0.canEqual(kind) } ?? false
    }
  }
}

extension MetadataValue {
  /// Whether it may be equal to a value of a kind: dates also are numbers of seconds, and collections are left alone.
  fileprivate func canEqual(_ kind: FileAttribute.ValueKind) -> Bool {
    switch self {
    case .null, .array, .set, .dictionary: true
    case .string: kind == .text
    case .bool, .integer, .real, .date: kind != .text
    case .data: false
    }
  }
}
