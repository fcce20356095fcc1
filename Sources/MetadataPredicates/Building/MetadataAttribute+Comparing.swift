extension MetadataAttribute {
  private func compared(
    _ comparator: PredicateComparator, _ value: MetadataValue, _ options: PredicateComparison.Options = []
  ) -> MetadataPredicate {
    .comparison(PredicateComparison(expression, comparator, .bound(value), options: options))
  }

  /// Whether the item has the attribute.
  public var exists: MetadataPredicate { compared(.notEqual, .null) }

  /// Whether the item doesn't have the attribute.
  public var isMissing: MetadataPredicate { compared(.equal, .null) }
}

extension MetadataAttribute where Value: MetadataValueConvertible {
  /// Holds if the attribute has that value.
  public static func == (left: Self, right: Value) -> MetadataPredicate { left.compared(.equal, right.metadataValue) }

  /// Holds if the attribute has another value, or none.
  public static func != (left: Self, right: Value) -> MetadataPredicate {
    left.compared(.notEqual, right.metadataValue)
  }

  /// Holds if the value is less; never for a missing one.
  public static func < (left: Self, right: Value) -> MetadataPredicate { left.compared(.less, right.metadataValue) }

  /// Holds if the value isn't greater; never for a missing one.
  public static func <= (left: Self, right: Value) -> MetadataPredicate {
    left.compared(.lessOrEqual, right.metadataValue)
  }

  /// Holds if the value is greater; never for a missing one.
  public static func > (left: Self, right: Value) -> MetadataPredicate { left.compared(.greater, right.metadataValue) }

  /// Holds if the value isn't less; never for a missing one.
  public static func >= (left: Self, right: Value) -> MetadataPredicate {
    left.compared(.greaterOrEqual, right.metadataValue)
  }

  /// Holds if the value is one of some.
  ///
  /// - Parameter values: The values.
  /// - Returns: The predicate.
  public func isOne(of values: [Value]) -> MetadataPredicate { compared(.isIn, values.metadataValue) }

  /// Holds if the value lies between two others, which belong to it.
  ///
  /// - Parameters:
  ///   - first: One bound; they may be in either order.
  ///   - second: The other one.
  /// - Returns: The predicate.
  public func isBetween(_ first: Value, _ second: Value) -> MetadataPredicate {
    compared(.between, [first, second].metadataValue)
  }
}

extension MetadataAttribute where Value == String {
  /// Holds if the text is another one, up to the differences that the options ignore.
  ///
  /// - Parameters:
  ///   - text: The other text.
  ///   - options: The differences that don't count.
  /// - Returns: The predicate.
  public func equals(_ text: String, _ options: PredicateComparison.Options) -> MetadataPredicate {
    compared(.equal, .string(text), options)
  }

  /// Holds if the text begins with another one; never for an empty one.
  ///
  /// - Parameters:
  ///   - text: The beginning.
  ///   - options: The differences that don't count.
  /// - Returns: The predicate.
  public func hasPrefix(_ text: String, _ options: PredicateComparison.Options = []) -> MetadataPredicate {
    compared(.beginsWith, .string(text), options)
  }

  /// Holds if the text ends with another one; never for an empty one.
  ///
  /// - Parameters:
  ///   - text: The end.
  ///   - options: The differences that don't count.
  /// - Returns: The predicate.
  public func hasSuffix(_ text: String, _ options: PredicateComparison.Options = []) -> MetadataPredicate {
    compared(.endsWith, .string(text), options)
  }

  /// Holds if another text occurs in it; never for an empty one.
  ///
  /// - Parameters:
  ///   - text: The part.
  ///   - options: The differences that don't count.
  /// - Returns: The predicate.
  public func contains(_ text: String, _ options: PredicateComparison.Options = []) -> MetadataPredicate {
    compared(.contains, .string(text), options)
  }

  /// Holds if the whole text fits a pattern.
  ///
  /// - Parameters:
  ///   - pattern: `*` stands for any number of characters, `?` for one; a backslash takes their meaning away.
  ///   - options: The differences that don't count.
  /// - Returns: The predicate.
  public func isLike(_ pattern: String, _ options: PredicateComparison.Options = []) -> MetadataPredicate {
    compared(.like, .string(pattern), options)
  }

  /// Holds if the whole text fits a regular expression.
  ///
  /// One that can't be used is an error of
  /// ``MetadataPredicate/compiled(functions:limits:attributeCosts:)``.
  ///
  /// - Parameters:
  ///   - expression: The regular expression, in ICU's syntax.
  ///   - options: The differences that don't count.
  /// - Returns: The predicate.
  public func matches(_ expression: String, _ options: PredicateComparison.Options = []) -> MetadataPredicate {
    compared(.matches, .string(expression), options)
  }

  /// Holds if the type is another one, or a kind of it.
  ///
  /// - Parameter type: A uniform type identifier, such as `public.image`.
  /// - Returns: The predicate.
  public func conforms(to type: String) -> MetadataPredicate { compared(.conformsTo, .string(type)) }
}

extension MetadataAttribute {
  /// Holds if a value is among those of the attribute.
  ///
  /// - Parameters:
  ///   - member: The value.
  ///   - options: The differences between texts that don't count.
  /// - Returns: The predicate.
  public func contains<Member: MetadataValueConvertible>(
    _ member: Member, _ options: PredicateComparison.Options = []
  ) -> MetadataPredicate where Value == [Member] {
    compared(.contains, member.metadataValue, options)
  }
}

extension MetadataPredicate {
  /// Holds if both hold.
  ///
  /// Joins chains into one list.
  public static func && (left: Self, right: Self) -> Self {
    if case .and(let members) = left { return .and(members + [right]) }
    return .and([left, right])
  }

  /// Holds if one of them holds.
  ///
  /// Joins chains into one list.
  public static func || (left: Self, right: Self) -> Self {
    if case .or(let members) = left { return .or(members + [right]) }
    return .or([left, right])
  }

  /// Holds if the other doesn't.
  public static prefix func ! (negated: Self) -> Self { .not(negated) }
}
