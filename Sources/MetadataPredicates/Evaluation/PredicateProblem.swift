/// Why a comparison couldn't be made during an evaluation.
///
/// It counts as not holding.
public enum PredicateProblem: Hashable, Sendable, CustomStringConvertible {
  /// Values of these kinds can't be compared like that.
  case operands(left: String, comparator: PredicateComparator, right: String)
  /// `BETWEEN` needs two bounds.
  case bounds(count: Int)
  /// A function or an operator got a value that it can't do anything with.
  case operand(function: String, kind: String)
  /// A regular expression that was computed can't be used.
  case pattern(MetadataPredicateError)
  /// The environment has no present moment.
  case noMoment
  /// The evaluation visited more members of collections than ``PredicateLimits/stepCountMax``.
  case tooManySteps

  /// The problem, in one line.
  public var description: String {
    switch self {
    case .operands(let left, let comparator, let right):
      "\(left) can't be compared with \(right) by \(comparator.rawValue)"
    case .bounds(let count): "BETWEEN needs two bounds, not \(count)"
    case .operand(let function, let kind): "\(function) can't use \(kind)"
    case .pattern(let error): error.message
    case .noMoment: "the environment has no current time"
    case .tooManySteps: "the evaluation visits too many members of collections"
    }
  }
}
