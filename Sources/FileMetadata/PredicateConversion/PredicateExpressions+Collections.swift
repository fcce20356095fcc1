import FoundationEssentials
import MetadataPredicates

// MARK: Properties

extension PredicateExpressions.Variable: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .expression(try conversion.binding(of: key))
  }
}

extension PredicateExpressions.KeyPath: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let root = try conversion.convert(root)
    switch root {
    case .unnamed(let base, let path):
      guard let whole = path.appending(path: keyPath) else { return .unnamed(base, path) }
      return conversion.property(whole, of: base)
    case .named(let expression, let base, let path):
      // A longer path counts before its parts.
      if let whole = path.appending(path: keyPath), conversion.attributes[whole] != nil {
        return conversion.property(whole, of: base)
      }
      return try property(of: expression, conversion)
    case .expression(let expression): return try property(of: expression, conversion)
    case .predicate, .optional: return try property(of: root.expression(), conversion)
    }
  }

  private func property(
    of expression: MetadataExpression, _ conversion: PredicateConversion
  ) throws(PredicateConversionError) -> ConvertedExpression {
    if conversion.attributes[keyPath] != nil { return conversion.property(keyPath, of: expression) }
    guard let kind else {
      if !(Root.Output.self is any Collection.Type) { return conversion.property(keyPath, of: expression) }
      throw PredicateConversionError(
        .expression,
        "a property of '\(Root.Output.self)' can't be converted, except 'count', 'isEmpty', 'first' and 'last'",
        suggestion: "Texts have no 'count' here, and only arrays have an order.")
    }
    let isText = Root.Output.self is any StringProtocol.Type
    switch kind {
    case .collectionIsEmpty where isText: return .predicate(.compare(expression, .equal, .constant(.string(""))))
    case .collectionIsEmpty: return .predicate(.compare(expression.memberCount, .equal, .constant(.integer(0))))
    case .collectionCount where !isText: return .expression(expression.memberCount)
    case .collectionFirst where Root.Output.self is any ArrayType.Type: return .expression(.element(expression, .first))
    case .bidirectionalCollectionLast where Root.Output.self is any ArrayType.Type:
      return .expression(.element(expression, .last))
    case .collectionCount, .collectionFirst, .bidirectionalCollectionLast:
      throw PredicateConversionError(
        .expression, "\(kind) of '\(Root.Output.self)' can't be converted",
        suggestion: "Texts have no 'count' here, and only arrays have an order.")
    @unknown default: throw PredicateConversionError(.expression, "\(kind) can't be converted")
    }
  }
}

extension PredicateConversion {
  /// A property of something: an attribute, if one was named for it.
  fileprivate func property(_ path: AnyKeyPath, of base: MetadataExpression) -> ConvertedExpression {
    guard let name = attributes[path] else { return .unnamed(base, path) }
    return .named(.attribute(name, of: base), base: base, path)
  }
}

/// Arrays have places, other collections don't.
protocol ArrayType {}
extension Array: ArrayType {}

// MARK: Texts

/// Swift's rule for an empty text, which predicates don't have: every text contains it, begins with it and ends with
/// it.
private func textTest(
  _ text: MetadataExpression, _ comparator: PredicateComparator, _ part: MetadataExpression
) -> MetadataPredicate {
  switch part {
  case .constant(.string(let pattern)):
    pattern.isEmpty ? .compare(text, .notEqual, .constant(.null)) : .compare(text, comparator, part)
  default: .compare(part, .equal, .constant(.string(""))) || .compare(text, comparator, part)
  }
}

private func requireTexts(_ what: String, _ types: any Any.Type...) throws(PredicateConversionError) {
  guard let other = types.first(where: { !($0 is any StringProtocol.Type) }) else { return }
  throw PredicateConversionError(
    .expression, "\(what) can only be converted for texts, not for '\(other)'")
}

extension PredicateExpressions.CollectionContainsCollection: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    try requireTexts("whether a collection contains another one", Base.Output.self, Other.Output.self)
    return .predicate(textTest(try conversion.expression(base), .contains, try conversion.expression(other)))
  }
}

extension PredicateExpressions.SequenceStartsWith: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    try requireTexts("what a sequence starts with", Base.Output.self, Prefix.Output.self)
    return .predicate(textTest(try conversion.expression(base), .beginsWith, try conversion.expression(prefix)))
  }
}

// MARK: Members

extension PredicateExpressions.SequenceContains: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let sequence = try conversion.expression(sequence)
    let element = try conversion.expression(element)
    // Constants are looked up.
    if case .aggregate = sequence { return .predicate(.compare(element, .isIn, sequence)) }
    return .predicate(.compare(sequence, .contains, element))
  }
}

extension PredicateConversion {
  /// The members of a collection for which a closure holds.
  fileprivate mutating func members(
    _ sequence: some PredicateExpression, _ variable: PredicateExpressions.VariableID,
    _ test: some PredicateExpression, isNegated: Bool = false
  ) throws(PredicateConversionError) -> MetadataExpression {
    let collection = try expression(sequence)
    let name = declare(variable)
    let condition = try predicate(test)
    return .subquery(collection, variable: name, isNegated ? !condition : condition)
  }
}

extension PredicateExpressions.SequenceContainsWhere: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let found = try conversion.members(sequence, variable.key, test)
    return .predicate(.compare(found.memberCount, .greater, .constant(.integer(0))))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let others = try conversion.members(sequence, variable.key, test, isNegated: true)
    return .predicate(.compare(others.memberCount, .equal, .constant(.integer(0))))
  }
}

extension PredicateExpressions.Filter: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .expression(try conversion.members(sequence, variable.key, filter))
  }
}

extension PredicateExpressions.SequenceMinimum: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .expression(.function("min:", [try conversion.expression(elements)]))
  }
}

extension PredicateExpressions.SequenceMaximum: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .expression(.function("max:", [try conversion.expression(elements)]))
  }
}

// MARK: Subscripts

extension PredicateExpressions.CollectionIndexSubscript: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    guard Wrapped.Output.self is any ArrayType.Type else {
      throw PredicateConversionError(.expression, "a member of '\(Wrapped.Output.self)' has no number")
    }
    return .expression(.element(try conversion.expression(wrapped), .at(try conversion.expression(index))))
  }
}

/// The value for a key, which has to be a text.
private func entry(
  _ dictionary: some PredicateExpression, _ key: some PredicateExpression, _ keyType: any Any.Type,
  _ conversion: inout PredicateConversion
) throws(PredicateConversionError) -> MetadataExpression {
  guard keyType == String.self else {
    throw PredicateConversionError(.expression, "the keys of dictionaries have to be texts, not '\(keyType)'")
  }
  return .element(try conversion.expression(dictionary), .at(try conversion.expression(key)))
}

extension PredicateExpressions.DictionaryKeySubscript: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .expression(try entry(wrapped, key, Key.Output.self, &conversion))
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let value = try entry(wrapped, key, Key.Output.self, &conversion)
    let substitute = try conversion.expression(`default`)
    return .expression(.ternary(.compare(value, .notEqual, .constant(.null)), value, substitute))
  }
}
