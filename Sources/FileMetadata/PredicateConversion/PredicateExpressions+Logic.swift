import FoundationEssentials
import MetadataPredicates

extension PredicateExpressions.Conjunction: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .predicate(try conversion.predicate(lhs) && conversion.predicate(rhs))
  }
}

extension PredicateExpressions.Disjunction: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .predicate(try conversion.predicate(lhs) || conversion.predicate(rhs))
  }
}

extension PredicateExpressions.Negation: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .predicate(!(try conversion.predicate(wrapped)))
  }
}

extension PredicateExpressions.Equal: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .predicate(.compare(try conversion.expression(lhs), .equal, try conversion.expression(rhs)))
  }
}

extension PredicateExpressions.NotEqual: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .predicate(.compare(try conversion.expression(lhs), .notEqual, try conversion.expression(rhs)))
  }
}

extension PredicateExpressions.Comparison: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let comparator: PredicateComparator =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default:
        throw PredicateConversionError(.expression, "the comparison '\(op)' isn't known")
      }
    return .predicate(.compare(try conversion.expression(lhs), comparator, try conversion.expression(rhs)))
  }
}

extension PredicateExpressions.Conditional: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let test = try conversion.predicate(test)
    let branches = (try conversion.convert(trueBranch), try conversion.convert(falseBranch))
    if case (.predicate(let first), .predicate(let second)) = branches {
      return .predicate(.or([.and([test, first]), .and([.not(test), second])]))
    }
    return .expression(.ternary(test, try branches.0.expression(), try branches.1.expression()))
  }
}

// MARK: Optional values

extension PredicateExpressions.OptionalFlatMap: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let wrapped = try conversion.expression(wrapped)
    conversion.bind(variable.key, to: wrapped)
    switch try conversion.convert(transform) {
    case .predicate(let predicate): return .optional(wrapped, predicate)
    // A value that is reached through nothing is nothing as well.
    case .named(let expression, _, _): return .expression(expression)
    case let transformed:
      return .expression(
        .ternary(.compare(wrapped, .notEqual, .constant(.null)), try transformed.expression(), .constant(.null)))
    }
  }
}

extension PredicateExpressions.NilCoalesce: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let value = try conversion.convert(lhs)
    let substitute = try conversion.expression(rhs)
    // `$0.title?.contains("x") ?? false` is the usual form.
    if case .optional(let wrapped, let predicate) = value {
      if substitute == .no { return .predicate(.compare(wrapped, .notEqual, .constant(.null)) && predicate) }
      if substitute == .yes { return .predicate(.compare(wrapped, .equal, .constant(.null)) || predicate) }
    }
    let expression = try value.expression()
    return .expression(.ternary(.compare(expression, .notEqual, .constant(.null)), expression, substitute))
  }
}

extension PredicateExpressions.ForcedUnwrap: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    try conversion.convert(inner)
  }
}

// MARK: Numbers

extension PredicateExpressions.Arithmetic: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let sign: MetadataExpression.ArithmeticOperator =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw PredicateConversionError(.expression, "the operator '\(op)' isn't known")
      }
    return .expression(.arithmetic(sign, try conversion.expression(lhs), try conversion.expression(rhs)))
  }
}

extension PredicateExpressions.FloatDivision: ConvertibleExpression {
  /// An attribute may give a whole number for a property that isn't one, whose quotient must have its fraction all the same.
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    let dividend = MetadataExpression.arithmetic(.multiply, try conversion.expression(lhs), .constant(.real(1)))
    return .expression(.arithmetic(.divide, dividend, try conversion.expression(rhs)))
  }
}

extension PredicateExpressions.IntDivision: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .expression(.arithmetic(.divide, try conversion.expression(lhs), try conversion.expression(rhs)))
  }
}

extension PredicateExpressions.IntRemainder: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    .expression(.function("modulus:by:", [try conversion.expression(lhs), try conversion.expression(rhs)]))
  }
}

extension PredicateExpressions.UnaryMinus: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    switch try conversion.expression(wrapped) {
    // Foundation has no negative literals.
    case .constant(.integer(let number)) where number != .min: .expression(.constant(.integer(-number)))
    case .constant(.real(let number)): .expression(.constant(.real(-number)))
    case let operand: .expression(.negation(operand))
    }
  }
}

// MARK: Ranges

/// A range whose bounds are computed.
private protocol ComputedRange {
  func contains(
    _ element: MetadataExpression, _ conversion: inout PredicateConversion
  ) throws(PredicateConversionError) -> MetadataPredicate
}

extension PredicateExpressions.Range: ComputedRange {
  func contains(
    _ element: MetadataExpression, _ conversion: inout PredicateConversion
  ) throws(PredicateConversionError) -> MetadataPredicate {
    .compare(element, .greaterOrEqual, try conversion.expression(lower))
      && .compare(element, .less, try conversion.expression(upper))
  }
}

extension PredicateExpressions.ClosedRange: ComputedRange {
  func contains(
    _ element: MetadataExpression, _ conversion: inout PredicateConversion
  ) throws(PredicateConversionError) -> MetadataPredicate {
    .compare(element, .greaterOrEqual, try conversion.expression(lower))
      && .compare(element, .lessOrEqual, try conversion.expression(upper))
  }
}

extension PredicateExpressions.Value: ComputedRange {
  func contains(
    _ element: MetadataExpression, _ conversion: inout PredicateConversion
  ) throws(PredicateConversionError) -> MetadataPredicate {
    guard let range = value as? any KnownRange else {
      throw PredicateConversionError(.constant, "'\(value)' is no range that can be converted")
    }
    let (lower, upper, isClosed) = range.knownBounds
    var conditions: [MetadataPredicate] = []
    for (bound, comparator) in [
      (lower, PredicateComparator.greaterOrEqual), (upper, isClosed ? .lessOrEqual : .less),
    ] {
      guard let bound else { continue }
      guard let value = PredicateConversion.value(of: bound) else {
        throw PredicateConversionError(.constant, "no attribute has values such as '\(bound)'")
      }
      conditions.append(.compare(element, comparator, PredicateConversion.expression(value)))
    }
    return conditions.count == 1 ? conditions[0] : .and(conditions)
  }
}

extension PredicateExpressions.RangeExpressionContains: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    guard let range = range as? any ComputedRange else {
      throw PredicateConversionError(
        .expression, "\(PredicateConversion.name(of: type(of: range))) can't be asked what it contains")
    }
    return .predicate(try range.contains(try conversion.expression(element), &conversion))
  }
}
