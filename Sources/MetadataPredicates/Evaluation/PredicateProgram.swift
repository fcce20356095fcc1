/// The tests of a predicate in the order in which they're made, each with the next step for either result.
///
/// Most tests compare one attribute with a constant. Such a test is a ``Step`` without references, which decides by the value alone. The loop over
/// the steps is compiled into the caller, together with how its items find their attributes: an evaluation then counts no reference, allocates
/// nothing, and sets nothing up. A step that can't decide, because it's a general comparison or the value is of another kind, hands
/// over to an ``Evaluation``, which goes on from there.
///
/// A class, so that a predicate has one reference to it, and calls pass no other.
@usableFromInline
final class PredicateProgram: Sendable {
  /// The numbers of steps end below zero.
  @usableFromInline static let accepted = -1
  @usableFromInline static let rejected = -2
  /// This step can't decide.
  @usableFromInline static let undecided = -3

  @usableFromInline
  struct Step: Sendable {
    /// The attribute that it needs; -1 if it's a general comparison.
    @usableFromInline let attribute: Int
    fileprivate let ifHolds: Int
    fileprivate let ifNot: Int
    fileprivate let test: Test
    fileprivate let comparator: PredicateComparator
    /// A number, or a number of the program's matchers or sets.
    fileprivate let bits: UInt64
    fileprivate let probe: TextProbe
  }

  /// The kinds of questions about a value.
  fileprivate enum Test: UInt8, Sendable {
    /// A text that stands at the beginning or the end, or is all.
    case anchored
    /// A text that stands anywhere.
    case search
    case matcher, integer, real, member, general
  }

  @usableFromInline let steps: [Step]
  /// The names of the attributes by their numbers.
  @usableFromInline let attributes: [String]
  /// The first step, or an end.
  @usableFromInline let start: Int
  /// For each step the test that it was made of.
  let tests: [CompiledTest]
  private let matchers: [StringMatcher]
  private let sets: [Set<MetadataValue>]

  init(_ test: CompiledTest, _ attributes: [String]) {
    var builder = Builder()
    start = builder.add(test, Self.accepted, Self.rejected)
    self.attributes = attributes
    steps = builder.steps
    tests = builder.tests
    matchers = builder.matchers
    sets = builder.sets
  }

  /// Whether a step needs more than the value of one attribute.
  @inlinable
  func isGeneral(_ place: Int) -> Bool { steps[place].attribute < 0 }

  /// The step after another one, given the result of that.
  func next(after place: Int, _ holds: Bool) -> Int { holds ? steps[place].ifHolds : steps[place].ifNot }

  private func next(after place: Int, _ result: Bool?) -> Int {
    result.map { next(after: place, $0) } ?? Self.undecided
  }

  /// The step after another one, given a text.
  ///
  /// - Parameters:
  ///   - place: The number of a step.
  ///   - text: The value of its attribute.
  /// - Returns: The number of a step or one of the ends; ``undecided`` if the step isn't about texts.
  @usableFromInline
  func next(after place: Int, text: String) -> Int {
    if steps[place].test == .anchored, let result = steps[place].probe.holdsAnchored(text) {
      return next(after: place, result)
    }
    return next(afterOther: place, text)
  }

  /// Leaves the registers to the tests that are over at once.
  @inline(never)
  private func next(afterOther place: Int, _ text: String) -> Int {
    switch steps[place].test {
    case .anchored, .search:
      guard case .text(_, let matcher, _) = tests[place] else { return Self.undecided }
      return next(after: place, steps[place].probe.holds(text) ?? matcher.matchesByCharacters(text))
    case .matcher: return next(after: place, matchers[Int(steps[place].bits)].matches(text))
    case .member: return next(after: place, sets[Int(steps[place].bits)].contains(.string(text)))
    case .integer, .real, .general: return Self.undecided
    }
  }

  /// The step after another one, given a text in UTF-8.
  ///
  /// - Parameters:
  ///   - place: The number of a step.
  ///   - text: The value of its attribute.
  /// - Returns: The number of a step or one of the ends; ``undecided`` if the step isn't about texts.
  @usableFromInline
  func next(after place: Int, utf8 text: Span<UInt8>) -> Int {
    switch steps[place].test {
    case .anchored, .search:
      if let result = unsafe steps[place].probe.holds(text.bytes) { return next(after: place, result) }
      return next(afterOther: place, Self.string(text))
    case .matcher, .member: return next(afterOther: place, Self.string(text))
    case .integer, .real, .general: return Self.undecided
    }
  }

  private static func string(_ utf8: Span<UInt8>) -> String {
    unsafe utf8.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// The step after another one, given a value.
  ///
  /// - Parameters:
  ///   - place: The number of a step.
  ///   - value: The value of its attribute.
  /// - Returns: The number of a step or one of the ends; ``undecided`` for a value of another kind than the usual one.
  @usableFromInline
  func next(after place: Int, _ value: MetadataValue) -> Int {
    if case .string(let text) = value { return next(after: place, text: text) }
    let step = steps[place]
    switch step.test {
    case .anchored, .search, .matcher:
      if case .null = value { return step.ifNot }
      return Self.undecided
    case .integer:
      let bound = Int64(bitPattern: step.bits)
      if case .integer(let number) = value {
        return next(after: place, step.comparator.holds(for: ValueOrder(number, bound)))
      }
      return next(after: place, NumberTest(comparator: step.comparator, bound: .integer(bound)).holds(value))
    case .real:
      let bound = MetadataValue.real(Double(bitPattern: step.bits))
      return next(after: place, NumberTest(comparator: step.comparator, bound: bound).holds(value))
    case .member:
      if case .integer = value { return next(after: place, sets[Int(step.bits)].contains(value)) }
      return Self.undecided
    case .general: return Self.undecided
    }
  }
}

extension PredicateProgram {
  /// Lays out tests from the last to the first, so that each gets the numbers of those behind it.
  private struct Builder {
    var steps: [Step] = []
    var tests: [CompiledTest] = []
    var matchers: [StringMatcher] = []
    var sets: [Set<MetadataValue>] = []

    /// Adds a test.
    ///
    /// - Parameters:
    ///   - test: The test.
    ///   - ifHolds: The step or end that comes next if it holds.
    ///   - ifNot: The one if it doesn't.
    /// - Returns: The step where the test begins.
    mutating func add(_ test: CompiledTest, _ ifHolds: Int, _ ifNot: Int) -> Int {
      func append(
        _ kind: Test, _ attribute: Int, bits: UInt64 = 0, comparator: PredicateComparator = .equal,
        probe: TextProbe = .none
      ) {
        steps.append(
          Step(
            attribute: attribute, ifHolds: ifHolds, ifNot: ifNot, test: kind, comparator: comparator, bits: bits,
            probe: probe))
      }
      switch test {
      case .constant(let value): return value ? ifHolds : ifNot
      case .all(let tests): return tests.reversed().reduce(ifHolds) { add($1, $0, ifNot) }
      case .any(let tests): return tests.reversed().reduce(ifNot) { add($1, ifHolds, $0) }
      case .not(let test): return add(test, ifNot, ifHolds)
      case .text(let attribute, let matcher, _):
        if let probe = matcher.probe {
          append(probe.kind == .contains ? .search : .anchored, attribute, probe: probe)
        } else {
          append(.matcher, attribute, bits: UInt64(matchers.count))
          matchers.append(matcher)
        }
      case .number(let attribute, let number, _):
        switch number.bound.quantity {
        case .integer(let bound):
          append(.integer, attribute, bits: UInt64(bitPattern: bound), comparator: number.comparator)
        case .real(let bound): append(.real, attribute, bits: bound.bitPattern, comparator: number.comparator)
        case nil: append(.general, -1)
        }
      case .member(let attribute, let members, _):
        append(.member, attribute, bits: UInt64(sets.count))
        sets.append(members)
      case .comparison: append(.general, -1)
      }
      tests.append(test)
      return steps.count - 1
    }
  }
}

/// A predicate that only compares one attribute with a constant: for loops over a column, which set nothing up for each
/// item.
package enum ColumnTest: Sendable {
  /// Whether a whole number is in a range.
  case integer(attribute: Int, ClosedRange<Int64>)
  /// Whether a text passes.
  case text(attribute: Int, TextColumnTest)
}

/// The question about a column of texts.
package struct TextColumnTest: Sendable {
  fileprivate let probe: TextProbe

  /// Whether a text in UTF-8 passes; `nil` if its bytes don't decide that, but the predicate as a whole does.
  package func holds(_ text: Span<UInt8>) -> Bool? { unsafe probe.holds(text.bytes) }
}

extension PredicateProgram {
  /// The test of the program if it's one simple step.
  var columnTest: ColumnTest? {
    guard let step = steps.first, steps.count == 1, start == 0, step.attribute >= 0, step.ifHolds == Self.accepted,
      step.ifNot == Self.rejected
    else { return nil }
    switch step.test {
    case .anchored, .search: return .text(attribute: step.attribute, TextColumnTest(probe: step.probe))
    case .integer:
      let range = step.comparator.range(for: Int64(bitPattern: step.bits))
      return range.map { .integer(attribute: step.attribute, $0) }
    case .matcher, .real, .member, .general: return nil
    }
  }
}

extension PredicateComparator {
  /// The whole numbers for which a comparison with another one holds; `nil` if they aren't one range.
  fileprivate func range(for bound: Int64) -> ClosedRange<Int64>? {
    switch self {
    case .less: bound == .min ? nil : .min...(bound - 1)
    case .lessOrEqual: .min...bound
    case .equal: bound...bound
    case .greaterOrEqual: bound ... .max
    case .greater: bound == .max ? nil : (bound + 1) ... .max
    default: nil
    }
  }
}
