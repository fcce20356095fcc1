import MetadataPredicates

/// Evaluates trees literally by the rules, without any preparation: the compiled evaluator must agree with it.
///
/// It handles the letters that ``RandomPredicates`` uses, and shares no code with the library.
struct NaiveInterpreter {
  let item: MetadataValue
  var variables: [String: MetadataValue] = [:]

  func holds(_ predicate: MetadataPredicate) -> Bool {
    switch predicate {
    case .constant(let value): value
    case .and(let members): members.allSatisfy(holds)
    case .or(let members): members.contains(where: holds)
    case .not(let member): !holds(member)
    case .comparison(let comparison): holds(comparison)
    }
  }

  private func holds(_ comparison: PredicateComparison) -> Bool {
    let right = value(comparison.right)
    if comparison.left == .anyKey { return members(item)?.contains { compare($0, right, comparison) } ?? false }
    let left = value(comparison.left)
    let members = left == .null ? [] : members(left) ?? [left]
    return switch comparison.quantifier {
    case .whole: compare(left, right, comparison)
    case .any: members.contains { compare($0, right, comparison) }
    case .all: members.allSatisfy { compare($0, right, comparison) }
    }
  }

  // MARK: Comparisons

  private func compare(_ left: MetadataValue, _ right: MetadataValue, _ comparison: PredicateComparison) -> Bool {
    let options = comparison.options
    switch comparison.comparator {
    case .equal: return equal(left, right, options)
    case .notEqual: return !equal(left, right, options)
    case .less: return order(left, right, options).map { $0 < 0 } ?? false
    case .greater: return order(left, right, options).map { $0 > 0 } ?? false
    case .lessOrEqual: return left == .null && right == .null || order(left, right, options).map { $0 <= 0 } ?? false
    case .greaterOrEqual: return left == .null && right == .null || order(left, right, options).map { $0 >= 0 } ?? false
    case .between:
      guard case .array(let bounds) = right, bounds.count == 2, let first = order(left, bounds[0], options),
        let second = order(left, bounds[1], options)
      else { return false }
      return first * second <= 0
    case .isIn: return contains(right, left, options)
    case .contains: return contains(left, right, options)
    case .beginsWith, .endsWith, .like, .matches:
      guard case .string(let text) = left, case .string(let pattern) = right else { return false }
      return matches(text, comparison.comparator, pattern, options)
    case .tokenMatches, .conformsTo, .typeEquals: return false
    }
  }

  private func equal(_ left: MetadataValue, _ right: MetadataValue, _ options: PredicateComparison.Options) -> Bool {
    switch (left, right) {
    case (.null, .null): return true
    case (.string(let first), .string(let second)):
      return NaiveText.folded(first, options) == NaiveText.folded(second, options)
    case (.array(let first), .array(let second)):
      return first.count == second.count && zip(first, second).allSatisfy { equal($0, $1, []) }
    case (.set(let first), .set(let second)):
      return first.allSatisfy { member in second.contains { equal($0, member, []) } }
        && second.allSatisfy { member in first.contains { equal($0, member, []) } }
    case (.dictionary(let first), .dictionary(let second)):
      return Set(first.keys) == Set(second.keys) && first.allSatisfy { equal($1, second[$0] ?? .null, []) }
    default:
      guard let first = number(left), let second = number(right) else { return false }
      return first == second
    }
  }

  /// Negative, zero or positive; `nil` for values without an order.
  private func order(_ left: MetadataValue, _ right: MetadataValue, _ options: PredicateComparison.Options) -> Int? {
    if case .string(let first) = left, case .string(let second) = right {
      let (first, second) = (NaiveText.folded(first, options), NaiveText.folded(second, options))
      if first == second { return 0 }
      if options.isEmpty { return String(first) < String(second) ? -1 : 1 }
      return NaiveText.decomposed(first).lexicographicallyPrecedes(NaiveText.decomposed(second)) ? -1 : 1
    }
    guard let first = number(left), let second = number(right) else { return nil }
    return first < second ? -1 : (first == second ? 0 : (first > second ? 1 : nil))
  }

  private func contains(
    _ collection: MetadataValue, _ value: MetadataValue, _ options: PredicateComparison.Options
  ) -> Bool {
    if case .string(let text) = collection {
      guard case .string(let part) = value else { return false }
      return matches(text, .contains, part, options)
    }
    return members(collection)?.contains { member in
      if case .string = value, !options.isEmpty {
        guard case .string = member else { return false }
        return equal(member, value, options)
      }
      return equal(member, value, [])
    } ?? false
  }

  private func matches(
    _ text: String, _ comparator: PredicateComparator, _ pattern: String, _ options: PredicateComparison.Options
  ) -> Bool {
    if comparator == .matches { return NaiveText.wholeMatch(text, pattern, options) }
    if comparator == .like {
      return NaiveText.fits(NaiveText.parts(text, options)[...], NaiveText.tokens(pattern, options)[...])
    }
    let characters = NaiveText.folded(text, options)
    let part = NaiveText.folded(pattern, options)
    if part.isEmpty { return false }
    switch comparator {
    case .beginsWith: return characters.starts(with: part)
    case .endsWith: return characters.reversed().starts(with: part.reversed())
    default: return characters.indices.contains { characters[$0...].starts(with: part) }
    }
  }

  // MARK: Values

  func value(_ expression: MetadataExpression) -> MetadataValue {
    switch expression {
    case .constant(let value): return value
    case .itself: return item
    case .anyKey: return members(item).map(MetadataValue.array) ?? .array([])
    case .variable(let name): return variables[name] ?? .null
    case .path(let base, let steps): return follow(steps[...], value(base))
    case .element(let base, let index): return element(value(base), index)
    case .aggregate(let members): return .array(members.map(value))
    case .negation(let operand): return arithmetic(.subtract, .integer(0), value(operand))
    case .arithmetic(let sign, let left, let right): return arithmetic(sign, value(left), value(right))
    case .setOperation(let word, let left, let right): return combine(word, value(left), value(right))
    case .function(let name, let operands): return call(name, operands.map(value))
    case .subquery(let collection, let name, let condition):
      guard let members = members(value(collection)) else { return .null }
      var inner = self
      return .array(
        members.filter { member in
          inner.variables[name] = member
          return inner.holds(condition)
        })
    case .ternary(let condition, let first, let second): return value(holds(condition) ? first : second)
    case .cast(let operand, let type): return cast(value(operand), type)
    case .assignment(_, let operand): return value(operand)
    }
  }

  private func number(_ value: MetadataValue) -> Double? {
    switch value {
    case .bool(let flag): flag ? 1 : 0
    case .integer(let number): Double(number)
    case .real(let number): number
    case .date(let date): date.secondsSince2001
    default: nil
    }
  }

  private func members(_ value: MetadataValue) -> [MetadataValue]? {
    switch value {
    case .array(let elements): elements
    case .set(let elements): Array(elements)
    case .dictionary(let entries): Array(entries.values)
    default: nil
    }
  }

  private func follow(_ steps: ArraySlice<MetadataExpression.PathStep>, _ value: MetadataValue) -> MetadataValue {
    guard let step = steps.first else { return value }
    let rest = steps.dropFirst()
    switch step {
    case .key(let key):
      switch value {
      case .dictionary(let entries): return follow(rest, entries[key] ?? .null)
      case .array(let elements): return follow(rest, .array(elements.map { follow([step], $0) }))
      case .set(let elements): return follow(rest, .set(Set(elements.map { follow([step], $0) })))
      default: return follow(rest, .null)
      }
    case .collection(let known):
      guard let members = members(value) else { return .null }
      let values = members.map { follow(rest, $0) }.filter { $0 != .null }
      switch known {
      case .count: return .integer(Int64(members.count))
      case .sum: return values.reduce(.integer(0)) { arithmetic(.add, $0, $1) }
      case .unionOfObjects: return .array(values)
      default: return .array(distinct(values))
      }
    }
  }

  private func distinct(_ values: [MetadataValue]) -> [MetadataValue] {
    values.reduce(into: []) { result, value in
      if !result.contains(where: { equal($0, value, []) }) { result.append(value) }
    }
  }

  private func element(_ collection: MetadataValue, _ index: MetadataExpression.ElementIndex) -> MetadataValue {
    if case .size = index { return members(collection).map { .integer(Int64($0.count)) } ?? .null }
    if case .dictionary(let entries) = collection, case .at(let place) = index, case .string(let key) = value(place) {
      return entries[key] ?? .null
    }
    guard case .array(let elements) = collection else { return .null }
    switch index {
    case .first: return elements.first ?? .null
    case .last: return elements.last ?? .null
    case .at(let place):
      guard case .integer(let number) = value(place), number >= 0, number < elements.count else { return .null }
      return elements[Int(number)]
    case .size: return .null
    }
  }

  private func arithmetic(
    _ sign: MetadataExpression.ArithmeticOperator, _ left: MetadataValue, _ right: MetadataValue
  ) -> MetadataValue {
    if case .bool(let flag) = left { return arithmetic(sign, .integer(flag ? 1 : 0), right) }
    if case .bool(let flag) = right { return arithmetic(sign, left, .integer(flag ? 1 : 0)) }
    if case .integer(let first) = left, case .integer(let second) = right {
      switch sign {
      case .add: return .integer(first + second)
      case .subtract: return .integer(first - second)
      case .multiply: return .integer(first * second)
      case .divide: return second == 0 ? .null : .integer(first / second)
      case .power: return .null
      }
    }
    guard let first = number(left), let second = number(right) else { return .null }
    // There is time between two moments, but no sum of them.
    if sign == .add, case .date = left, case .date = right { return .null }
    switch sign {
    case .add: return .real(first + second)
    case .subtract: return .real(first - second)
    case .multiply: return .real(first * second)
    case .divide: return .real(first / second)
    case .power: return .null
    }
  }

  private func combine(
    _ word: MetadataExpression.SetOperator, _ left: MetadataValue, _ right: MetadataValue
  ) -> MetadataValue {
    guard let first = members(left), let second = members(right) else { return .null }
    func isInSecond(_ value: MetadataValue) -> Bool { second.contains { equal($0, value, []) } }
    switch word {
    case .union: return .set(Set(distinct(first + second)))
    case .intersect: return .set(Set(distinct(first.filter(isInSecond))))
    case .minus: return .set(Set(distinct(first.filter { !isInSecond($0) })))
    }
  }

  private func call(_ name: String, _ operands: [MetadataValue]) -> MetadataValue {
    switch (name, operands.first) {
    case ("count:", let collection?): members(collection).map { .integer(Int64($0.count)) } ?? .null
    case ("uppercase:", .string(let text)?): .string(text.uppercased())
    case ("length:", .string(let text)?): .integer(Int64(text.utf16.count))
    case ("abs:", .integer(let number)?): .integer(abs(number))
    case ("abs:", .bool(let flag)?): .integer(flag ? 1 : 0)
    case ("abs:", .real(let number)?): .real(abs(number))
    case ("abs:", .date(let date)?): .real(abs(date.secondsSince2001))
    case ("onesComplement:", let operand?): bits(operand).map { .integer(~$0) } ?? .null
    case ("bitwiseAnd:with:", let left?): bits(left, operands[1]) { $0 & $1 }
    case ("bitwiseOr:with:", let left?): bits(left, operands[1]) { $0 | $1 }
    case ("bitwiseXor:with:", let left?): bits(left, operands[1]) { $0 ^ $1 }
    case ("leftshift:by:", let left?): bits(left, operands[1]) { shifted($0, by: $1) }
    case ("rightshift:by:", let left?): bits(left, operands[1]) { shifted($0, by: -$1) }
    case ("add:to:", let left?): arithmetic(.add, left, operands[1])
    default: .null
    }
  }

  /// Whole numbers have bits, however they're written.
  private func bits(_ value: MetadataValue) -> Int64? {
    if case .integer(let whole) = value { return whole }
    return number(value).flatMap(Int64.init(exactly:))
  }

  private func bits(_ left: MetadataValue, _ right: MetadataValue, _ body: (Int64, Int64) -> Int64) -> MetadataValue {
    guard let first = bits(left), let second = bits(right) else { return .null }
    return .integer(body(first, second))
  }

  /// Bit by bit: by as many places as one says, in the other direction if that's negative.
  private func shifted(_ number: Int64, by places: Int64) -> Int64 {
    var result = number
    for _ in 0..<min(64, places.magnitude) {
      result = places > 0 ? result &* 2 : (result - (result & 1)) / 2
    }
    return result
  }

  private func cast(_ value: MetadataValue, _ type: String) -> MetadataValue {
    switch (type, value) {
    case ("NSNumber", .string(let text)):
      Int64(text).map(MetadataValue.integer) ?? Double(text).map(MetadataValue.real) ?? .null
    case ("NSNumber", .date(let date)): .real(date.secondsSince2001)
    case ("NSNumber", _): number(value) == nil ? .null : value
    case ("NSSet", _): members(value).map { .set(Set($0)) } ?? .null
    default: .null
    }
  }
}
