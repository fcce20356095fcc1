// When a predicate about the present moment has another result, though the item is the same.

/// A comparison of which a side changes evenly as time passes, or in steps at the beginning of days.
struct TimedComparison: Sendable {
  private let left: CompiledExpression
  private let rights: [CompiledExpression]
  /// By how much the left side grows beyond each right one in a second.
  private let slopes: [Double]
  private let hasSteps: Bool

  /// - Returns: `nil` if the moment when the result changes can't be predicted.
  init?(_ comparison: CompiledComparison) {
    left = comparison.left
    switch (comparison.source.comparator, comparison.right) {
    case (.between, .aggregate(let bounds)): rights = bounds
    case (let comparator, let right) where comparator.isRelational: rights = [right]
    default: return nil
    }
    guard let pace = left.pace else { return nil }
    var slopes: [Double] = []
    var hasSteps = pace.hasSteps
    for right in rights {
      guard let other = right.pace else { return nil }
      slopes.append(pace.slope - other.slope)
      hasSteps = hasSteps || other.hasSteps
    }
    self.slopes = slopes
    self.hasSteps = hasSteps
  }

  /// The next moment at which the sides are equal, or a step comes.
  func nextMoment<Item>(_ evaluation: inout Evaluation<Item>, _ now: MetadataDate) -> MetadataDate? {
    let left = evaluation.value(left)
    let numbers = (left.members ?? [left]).compactMap(\.quantity?.real)
    var next: MetadataDate?
    func note(_ moment: MetadataDate?) { next = [next, moment].compactMap(\.self).min() }
    for (right, slope) in zip(rights, slopes) where slope != 0 {
      guard let bound = evaluation.value(right).quantity?.real else { continue }
      for number in numbers {
        let distance = (bound - number) / slope
        if distance >= 0 { note(MetadataDate(secondsSince2001: now.secondsSince2001 + distance + Self.beyond)) }
      }
    }
    if hasSteps { note(evaluation.environment.calendar.beginning(of: .day, around: now, movedBy: 1, .day)) }
    return next
  }

  /// A microsecond behind the moment at which both sides are equal, one is greater than the other for sure.
  private static let beyond = 1e-6
}

extension CompiledExpression {
  /// How a value changes as time passes.
  fileprivate struct Pace {
    /// By how much it grows in a second.
    var slope = 0.0
    /// Whether it's another one from some midnight on.
    var hasSteps = false
  }

  /// How the value changes; `nil` if that can't be said beforehand.
  fileprivate var pace: Pace? {
    switch self {
    case .predefined(let function, let operands) where function.isTimeDependent:
      guard operands.allSatisfy({ $0.constantValue != nil }) else { return nil }
      // So many days, weeks or months ago at the same time of the day: how many seconds that is changes with the day.
      let isCalendrical = TimeOffset(operands.first?.constantValue)?.unit != nil
      return function == .now ? Pace(slope: 1, hasSteps: isCalendrical) : Pace(hasSteps: true)
    case .negation(let operand): return operand.pace.map { Pace(slope: -$0.slope, hasSteps: $0.hasSteps) }
    case .cast(let operand, .number), .cast(let operand, .date): return operand.pace
    case .arithmetic(.add, let left, let right): return Pace(left.pace, right.pace, 1)
    case .arithmetic(.subtract, let left, let right): return Pace(left.pace, right.pace, -1)
    case .predefined(let function, _) where function.isRandom: return nil
    case .anyKey, .variable, .assignment: return nil
    default:
      let (operands, test) = parts
      return test == nil && operands.allSatisfy { $0.pace?.isSteady == true } ? Pace() : nil
    }
  }
}

extension CompiledExpression.Pace {
  fileprivate init?(_ left: Self?, _ right: Self?, _ sign: Double) {
    guard let left, let right else { return nil }
    self.init(slope: left.slope + sign * right.slope, hasSteps: left.hasSteps || right.hasSteps)
  }

  fileprivate var isSteady: Bool { slope == 0 && !hasSteps }
}

extension CompiledPredicate {
  /// From when on the predicate may have another result for an item, if the item stays as it is.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - environment: The present moment, and the calendar.
  /// - Returns: A moment behind the present one; `nil` for never. Only if ``isForeseeable``.
  /// - Complexity: O(*n*) in the number of comparisons with the present moment.
  package func nextMoment(for item: some PredicateItem, in environment: PredicateEnvironment) -> MetadataDate? {
    guard let now = environment.now else { return nil }
    var evaluation = Evaluation(self, item, environment)
    return timedComparisons.compactMap { $0.nextMoment(&evaluation, now) }.min()
  }
}
