extension Evaluation {
  /// `sum(a)` and the like: one collection, or its members one by one.
  ///
  /// `nil` members don't count.
  mutating func aggregate(_ function: PredefinedFunction, of operands: [MetadataValue]) -> MetadataValue {
    guard operands.count == 1 else { return aggregate(function, operands.filter { $0 != .null }) }
    if case .null = operands[0] { return .null }
    guard let members = operands[0].members else {
      note(.operand(function: function.shortName, kind: operands[0].kind))
      return .null
    }
    if !visit(members.count) { return .null }
    if function == .count { return .integer(Int64(members.count)) }
    return aggregate(function, members.filter { $0 != .null })
  }

  mutating func aggregate(_ function: PredefinedFunction, _ values: [MetadataValue]) -> MetadataValue {
    switch function {
    case .count: return .integer(Int64(values.count))
    case .sum: return sum(values)
    case .average:
      guard !values.isEmpty else { return .integer(0) }
      guard let total = sum(values).quantity else { return .null }
      return .real(total.real / Double(values.count))
    case .min: return extreme(values, .less)
    case .max: return extreme(values, .greater)
    case .mode: return mode(values)
    case .median: return median(values)
    default: return deviation(values)
    }
  }

  private mutating func sum(_ values: [MetadataValue]) -> MetadataValue {
    var total = MetadataValue.integer(0)
    for value in values {
      guard let next = Arithmetic.apply(.add, total, value) else { return refuse("sum", value) }
      total = next
    }
    return total
  }

  /// The least or the greatest; texts are ordered too, but not with numbers.
  private mutating func extreme(_ values: [MetadataValue], _ wanted: ValueOrder) -> MetadataValue {
    guard var best = values.first else { return .null }
    for value in values.dropFirst() {
      let order: ValueOrder?
      if case .string(let left) = value, case .string(let right) = best {
        order = ValueOrder(left, right)
      } else {
        order = value.numericOrder(with: best)
      }
      guard let order else { return refuse("min and max", value) }
      if order == wanted { best = value }
    }
    return best
  }

  /// Those that occur most often, in the order in which they occur first.
  private func mode(_ values: [MetadataValue]) -> MetadataValue {
    var counts: [MetadataValue: Int] = [:]
    for value in values { counts[value.canonical, default: 0] += 1 }
    let most = counts.values.max() ?? 0
    return .array(distinct(values.filter { counts[$0.canonical] == most }))
  }

  private mutating func numbers(_ values: [MetadataValue]) -> [Double]? {
    var numbers: [Double] = []
    for value in values {
      guard let number = value.quantity?.real else {
        _ = refuse("median and stddev", value)
        return nil
      }
      numbers.append(number)
    }
    return numbers
  }

  private mutating func median(_ values: [MetadataValue]) -> MetadataValue {
    guard let numbers = numbers(values)?.filter({ !$0.isNaN }).sorted(), !numbers.isEmpty else { return .null }
    let middle = numbers.count / 2
    return .real(numbers.count.isMultiple(of: 2) ? (numbers[middle - 1] + numbers[middle]) / 2 : numbers[middle])
  }

  /// The standard deviation of these values, not an estimate from a sample.
  private mutating func deviation(_ values: [MetadataValue]) -> MetadataValue {
    guard let numbers = numbers(values), !numbers.isEmpty else { return .null }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let variance = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)
    return .real(variance.squareRoot())
  }
}
