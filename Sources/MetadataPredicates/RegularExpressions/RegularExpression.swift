/// A regular expression that the whole of a text has to fit, matched in time proportional to the length of the text.
///
/// The syntax is ICU's without the parts that an automaton can't follow. ASCII is matched by a table of states where
/// that has a reasonable size, everything else by following all states at once (Thompson's construction): at most
/// states × scalars steps.
struct RegularExpression: Sendable {
  enum Instruction: Sendable {
    case set(Int)
    case split(Int, Int)
    case jump(Int)
    case assertion(Assertion)
    case match
  }

  let pattern: String
  private(set) var instructions: [Instruction] = []
  private(set) var sets: [ScalarSet] = []
  private(set) var table: AutomatonTable?
  private let sizeMax: Int

  /// Makes an automaton of a regular expression.
  ///
  /// - Parameters:
  ///   - pattern: The expression.
  ///   - ignoresCase: Whether upper and lower case are the same.
  ///   - sizeMax: How many states it may have.
  ///   - isForMatching: Whether it's for more than to see that it can be made.
  /// - Throws: ``MetadataPredicateError`` with code `.regularExpression`, or `.limit` if it has more states.
  init(
    _ pattern: String, ignoresCase: Bool, sizeMax: Int, isForMatching: Bool = true
  ) throws(MetadataPredicateError) {
    self.pattern = pattern
    self.sizeMax = sizeMax
    var parser = RegularExpressionParser(pattern, ignoresCase: ignoresCase)
    try emit(parser.parse())
    try append(.match)
    settleEnds()
    table = isForMatching ? AutomatonTable(instructions, sets) : nil
  }

  /// Whether the whole text fits.
  func matches(_ text: String) -> Bool {
    if let table, let result = table.matches(text) { return result }
    return Simulation(instructions, sets).matches(Array(text.unicodeScalars))
  }

  // MARK: Construction

  private mutating func append(_ instruction: Instruction) throws(MetadataPredicateError) {
    if instructions.count >= sizeMax {
      throw MetadataPredicateError(
        .limit, "the regular expression '\(pattern.prefix(200))' has more than \(sizeMax) states",
        suggestion: "Repeat less: {1,1000} of something large makes a large automaton.")
    }
    instructions.append(instruction)
  }

  private mutating func emit(_ node: Node) throws(MetadataPredicateError) {
    switch node {
    case .empty: break
    case .set(let set):
      sets.append(set)
      try append(.set(sets.count - 1))
    case .sequence(let members): for member in members { try emit(member) }
    case .alternatives(let members): try emit(alternatives: members)
    case .repeated(let member, let min, let max): try emit(member, min, max)
    case .assertion(let assertion): try append(.assertion(assertion))
    }
  }

  private mutating func emit(alternatives members: [Node]) throws(MetadataPredicateError) {
    var ends: [Int] = []
    for member in members.dropLast() {
      let fork = instructions.count
      try append(.match)
      try emit(member)
      ends.append(instructions.count)
      try append(.match)
      instructions[fork] = .split(fork + 1, instructions.count)
    }
    if let last = members.last { try emit(last) }
    for end in ends { instructions[end] = .jump(instructions.count) }
  }

  private mutating func emit(_ member: Node, _ min: Int, _ max: Int?) throws(MetadataPredicateError) {
    for _ in 0..<min {
      let before = instructions.count
      try emit(member)
      // Any number of nothing is nothing: (){1000}{1000} takes no time.
      if instructions.count == before { return }
    }
    guard let max else {
      let fork = instructions.count
      try append(.match)
      try emit(member)
      try append(.jump(fork))
      instructions[fork] = .split(fork + 1, instructions.count)
      return
    }
    var forks: [Int] = []
    for _ in min..<max {
      forks.append(instructions.count)
      try append(.match)
      try emit(member)
    }
    for fork in forks { instructions[fork] = .split(fork + 1, instructions.count) }
  }

  /// `$` with nothing behind it is the end of the text, because the whole text has to fit.
  private mutating func settleEnds() {
    for index in instructions.indices {
      guard case .assertion(.textEndOrLastBreak) = instructions[index] else { continue }
      var next = index + 1
      while case .jump(let target) = instructions[next] { next = target }
      if case .match = instructions[next] { instructions[index] = .assertion(.textEnd) }
    }
  }
}
