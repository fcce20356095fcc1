extension RegularExpression {
  /// A regular expression as a tree.
  indirect enum Node: Sendable {
    case empty
    case set(ScalarSet)
    case sequence([Node])
    case alternatives([Node])
    /// Lazy or greedy makes no difference: the whole text has to fit.
    case repeated(Node, min: Int, max: Int?)
    case assertion(Assertion)
  }

  /// A place between two scalars.
  enum Assertion: Hashable, Sendable {
    case textStart
    case textEnd
    /// `$` and `\Z`: the end, or before the line break there.
    case textEndOrLastBreak
    case lineStart
    case lineEnd
    case wordBoundary
    case noWordBoundary

    func holds(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
      switch self {
      case .textStart: index == 0
      case .textEnd: index == scalars.count
      case .textEndOrLastBreak: index == scalars.count || Self.isLastBreak(index, scalars)
      case .lineStart: index == 0 || (index < scalars.count && Self.isBehindBreak(index, scalars))
      case .lineEnd: index == scalars.count || Self.isAtBreak(index, scalars)
      case .wordBoundary: Self.isBoundary(index, scalars)
      case .noWordBoundary: !Self.isBoundary(index, scalars)
      }
    }

    private static func isBoundary(_ index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
      let before = index > 0 && scalars[index - 1].isWordScalar
      let after = index < scalars.count && scalars[index].isWordScalar
      return before != after
    }

    /// CR and LF together are one break: there's no place between them.
    private static func isInside(_ index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
      index > 0 && index < scalars.count && scalars[index - 1] == "\r" && scalars[index] == "\n"
    }

    private static func isBehindBreak(_ index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
      scalars[index - 1].isLineBreak && !isInside(index, scalars)
    }

    private static func isAtBreak(_ index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
      scalars[index].isLineBreak && !isInside(index, scalars)
    }

    private static func isLastBreak(_ index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
      guard isAtBreak(index, scalars) else { return false }
      return index == scalars.count - 1
        || (index == scalars.count - 2 && scalars[index] == "\r" && scalars[index + 1] == "\n")
    }
  }
}
