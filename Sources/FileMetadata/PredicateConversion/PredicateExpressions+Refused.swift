import FoundationEssentials

// The other nodes have no counterpart. Their errors say so, and name the alternative.

extension PredicateExpressions.StringContainsRegex: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    throw PredicateConversionError(
      .expression, "Swift's regular expressions can't be converted",
      suggestion: "Join the rest with 'MetadataAttribute.matches(_:_:)', which takes those of ICU.")
  }
}

private let casts = PredicateConversionError(
  .expression, "type casts can't be converted", suggestion: "Compare the value: one of another kind isn't equal.")

extension PredicateExpressions.TypeCheck: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    throw casts
  }
}

extension PredicateExpressions.ConditionalCast: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    throw casts
  }
}

extension PredicateExpressions.ForceCast: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    throw casts
  }
}

extension PredicateExpressions.CollectionRangeSubscript: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    throw PredicateConversionError(.expression, "a part of a collection, by a range of places, can't be converted")
  }
}

extension PredicateExpressions.Range: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    throw PredicateConversionError(.expression, "a range can only be converted where 'contains' is asked of it")
  }
}

extension PredicateExpressions.ClosedRange: ConvertibleExpression {
  func converted(_ conversion: inout PredicateConversion) throws(PredicateConversionError) -> ConvertedExpression {
    throw PredicateConversionError(.expression, "a range can only be converted where 'contains' is asked of it")
  }
}
