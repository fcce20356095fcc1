extension Evaluation {
  mutating func value(_ expression: CompiledExpression) -> MetadataValue {
    switch expression {
    case .constant(let value): return value
    case .attribute(let number): return attribute(number)
    case .itself: return item.wholeValue
    case .anyKey: return .array(item.wholeValue.members ?? [])
    case .variable(let place): return variables[place]
    case .path(let base, let steps): return follow(steps[...], from: value(base))
    case .element(let base, let index): return element(of: value(base), index)
    case .aggregate(let members): return .array(values(members))
    case .negation(let operand):
      let number = value(operand)
      return Arithmetic.negated(number) ?? refuse("-", number)
    case .arithmetic(let sign, let left, let right): return arithmetic(sign, value(left), value(right))
    case .setOperation(let word, let left, let right): return combine(word, value(left), value(right))
    case .predefined(let function, let operands): return call(function, values(operands))
    case .registered(_, let body, let operands): return body(values(operands))
    case .subquery(let collection, let place, let test): return members(of: value(collection), place, test)
    case .ternary(let test, let first, let second): return value(holds(test) ? first : second)
    case .cast(let operand, let type): return type.apply(value(operand))
    case .assignment(let place, let operand):
      variables[place] = value(operand)
      return variables[place]
    }
  }

  private mutating func values(_ expressions: [CompiledExpression]) -> [MetadataValue] {
    var values: [MetadataValue] = []
    values.reserveCapacity(expressions.count)
    for expression in expressions { values.append(value(expression)) }
    return values
  }

  /// Records that a value can't be used; the result for `nil` is `nil`, which is no problem.
  mutating func refuse(_ function: String, _ values: MetadataValue...) -> MetadataValue {
    if !values.contains(.null), let value = values.first(where: { $0.quantity == nil }) ?? values.first {
      note(.operand(function: function, kind: value.kind))
    }
    return .null
  }

  private mutating func arithmetic(
    _ sign: MetadataExpression.ArithmeticOperator, _ left: MetadataValue, _ right: MetadataValue
  ) -> MetadataValue {
    Arithmetic.apply(sign, left, right) ?? refuse(sign.rawValue, left, right)
  }

  // MARK: Collections

  private mutating func element(of collection: MetadataValue, _ index: CompiledExpression.Index) -> MetadataValue {
    switch index {
    case .size: return collection.members.map { .integer(Int64($0.count)) } ?? refuseMember(collection)
    case .first, .last:
      guard case .array(let elements) = collection else { return refuseMember(collection) }
      if case .first = index { return elements.first ?? .null }
      return elements.last ?? .null
    case .at(let place): return element(of: collection, at: value(place))
    }
  }

  mutating func element(of collection: MetadataValue, at place: MetadataValue) -> MetadataValue {
    switch (collection, place) {
    case (.dictionary(let entries), .string(let key)): return entries[key] ?? .null
    case (.array(let elements), .integer(let index)):
      return elements.indices.contains(Int(index)) ? elements[Int(index)] : .null
    default: return refuseMember(collection)
    }
  }

  private mutating func refuseMember(_ collection: MetadataValue) -> MetadataValue {
    if collection != .null { note(.operand(function: "[ ]", kind: collection.kind)) }
    return .null
  }

  private mutating func combine(
    _ word: MetadataExpression.SetOperator, _ left: MetadataValue, _ right: MetadataValue
  ) -> MetadataValue {
    guard let first = left.members, let second = right.members else { return refuse(word.rawValue, left, right) }
    if !visit(first.count + second.count) { return .null }
    let others = Set(second.map(\.canonical))
    switch word {
    case .union: return .set(Set(distinct(first + second)))
    case .intersect: return .set(Set(distinct(first).filter { others.contains($0.canonical) }))
    case .minus: return .set(Set(distinct(first).filter { !others.contains($0.canonical) }))
    }
  }

  /// The members for which a predicate holds.
  ///
  /// The result is an array; of a set, in no order.
  private mutating func members(
    of collection: MetadataValue, _ place: Int, _ test: CompiledTest
  ) -> MetadataValue {
    guard let members = collection.members else { return refuseMember(collection) }
    var found: [MetadataValue] = []
    let outer = variables[place]
    for member in members {
      if !visit() { break }
      variables[place] = member
      if holds(test) { found.append(member) }
    }
    variables[place] = outer
    return .array(found)
  }
}
