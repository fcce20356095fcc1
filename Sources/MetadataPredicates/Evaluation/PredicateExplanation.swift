/// The result of compiling a predicate, and its needs.
public struct PredicateExplanation: Hashable, Sendable, CustomStringConvertible {
  /// One test, or an operator that joins several.
  public struct Step: Hashable, Sendable {
    /// How many steps it's inside of.
    public let depth: Int
    /// The test.
    public let text: String
    /// The attributes that are read for it, in order of their first use.
    public let attributes: [String]
    /// Whether all of them are in the index, so that nothing has to be read from elsewhere.
    public let isAnsweredByIndex: Bool
  }

  /// The tests in the order in which they're made.
  public let steps: [Step]
  /// The attributes that an evaluation may read.
  public let attributes: [String]
  /// Whether the result changes as time passes.
  public let isTimeDependent: Bool
  /// Whether it's known beforehand when the result changes as time passes; if not, a query evaluates every second.
  public let isForeseeable: Bool
  /// Whether every attribute is read.
  public let readsWholeItem: Bool

  /// One line for each step, then the needs.
  public var description: String {
    var lines = steps.map { step in
      String(repeating: "  ", count: step.depth) + step.text + (step.isAnsweredByIndex ? " [index]" : "")
    }
    lines.append("attributes: " + (attributes.isEmpty ? "none" : attributes.joined(separator: ", ")))
    if readsWholeItem { lines.append("reads every attribute") }
    if isTimeDependent {
      lines.append(
        "changes as time passes" + (isForeseeable ? ", at moments that are known" : ": looked at every second"))
    }
    return lines.joined(separator: "\n")
  }
}

extension CompiledPredicate {
  /// Explains the result of compilation.
  ///
  /// - Parameter indexed: The attributes that an index has at hand.
  /// - Returns: The explanation.
  /// - Complexity: O(*n*) in the size of the predicate.
  public func explanation(indexed: Set<String> = []) -> PredicateExplanation {
    var explainer = Explainer(predicate: self, indexed: indexed)
    explainer.explain(test, 0)
    return PredicateExplanation(
      steps: explainer.steps, attributes: attributes, isTimeDependent: isTimeDependent,
      isForeseeable: isForeseeable, readsWholeItem: readsWholeItem)
  }
}

/// Writes an explanation.
private struct Explainer {
  let predicate: CompiledPredicate
  let indexed: Set<String>
  var steps: [PredicateExplanation.Step] = []

  mutating func explain(_ test: CompiledTest, _ depth: Int) {
    switch test {
    case .constant(let value): add(value ? "holds always" : "holds never", [], depth)
    case .all(let tests): join("all of, cheapest first:", tests, depth)
    case .any(let tests): join("any of, cheapest first:", tests, depth)
    case .not(let test): join("not:", [test], depth)
    case .text(let attribute, let matcher, _): add("\(name(attribute)): \(matcher.explanation)", [attribute], depth)
    case .number(let attribute, let test, _):
      add("\(name(attribute)): number \(test.comparator.rawValue) \(Self.text(test.bound))", [attribute], depth)
    case .member(let attribute, let members, _):
      add("\(name(attribute)): look-up among \(members.count) constants", [attribute], depth)
    case .comparison(let comparison):
      var text = ""
      var printer = PredicatePrinter()
      printer.print(.comparison(comparison.source))
      text = "general comparison: " + printer.text
      if let matcher = comparison.matcher { text += " (\(matcher.explanation))" }
      let attributes = comparison.left.attributes.union(comparison.right.attributes).sorted()
      add(text, attributes, depth, readsAll: comparison.left.readsWholeItem || comparison.right.readsWholeItem)
    }
  }

  private mutating func join(_ text: String, _ tests: [CompiledTest], _ depth: Int) {
    steps.append(PredicateExplanation.Step(depth: depth, text: text, attributes: [], isAnsweredByIndex: false))
    for test in tests { explain(test, depth + 1) }
  }

  private func name(_ attribute: Int) -> String { predicate.attributes[attribute] }

  private mutating func add(_ text: String, _ attributes: [Int], _ depth: Int, readsAll: Bool = false) {
    let names = attributes.map(name)
    let isIndexed = !readsAll && !names.isEmpty && indexed.isSuperset(of: names)
    steps.append(
      PredicateExplanation.Step(depth: depth, text: text, attributes: names, isAnsweredByIndex: isIndexed))
  }

  private static func text(_ value: MetadataValue) -> String {
    var printer = PredicatePrinter()
    printer.print(value)
    return printer.text
  }
}

extension StringMatcher {
  /// The treatment of a text.
  var explanation: String {
    let how: String =
      if options.contains(.normalized) {
        "bytes"
      } else if options.contains(.wordBased) {
        "words"
      } else if folding.ignoresCase || folding.ignoresDiacritics {
        "folded text"
      } else {
        "text"
      }
    let what = pattern.quotedForPredicate
    switch test {
    case .equal: return "\(how) is \(what)"
    case .prefix: return "\(how) begins as \(what)"
    case .suffix: return "\(how) ends as \(what)"
    case .contains: return "\(how) contains \(what)"
    case .like: return "\(how) fits \(what)"
    case .tokens: return "has the words of \(what)"
    case .never: return "never"
    case .foreign: return "whole text matches \(what) (by another engine, in no bounded time)"
    case .expression(let expression):
      let machine = expression.table.map { "table of \($0.stateCount) states for ASCII" } ?? "simulation"
      return "whole text matches \(what) (\(expression.instructions.count) steps, \(machine))"
    }
  }
}

extension CompiledExpression {
  /// The expressions and the test that it's made of.
  var parts: (expressions: [CompiledExpression], test: CompiledTest?) {
    switch self {
    case .constant, .attribute, .itself, .anyKey, .variable: ([], nil)
    case .path(let base, _), .negation(let base), .cast(let base, _), .assignment(_, let base): ([base], nil)
    case .element(let base, .at(let place)): ([base, place], nil)
    case .element(let base, _): ([base], nil)
    case .aggregate(let members), .predefined(_, let members), .registered(_, _, let members): (members, nil)
    case .arithmetic(_, let left, let right), .setOperation(_, let left, let right): ([left, right], nil)
    case .subquery(let collection, _, let test): ([collection], test)
    case .ternary(let test, let first, let second): ([first, second], test)
    }
  }

  /// The attributes that are read for it.
  var attributes: Set<Int> {
    if case .attribute(let number) = self { return [number] }
    let (expressions, test) = parts
    return expressions.reduce(into: test?.attributes ?? []) { $0.formUnion($1.attributes) }
  }

  var readsWholeItem: Bool {
    switch self {
    case .itself, .anyKey: return true
    default:
      let (expressions, test) = parts
      return expressions.contains(where: \.readsWholeItem) || test?.readsWholeItem == true
    }
  }
}

extension CompiledTest {
  fileprivate var attributes: Set<Int> {
    switch self {
    case .constant: []
    case .all(let tests), .any(let tests): tests.reduce(into: []) { $0.formUnion($1.attributes) }
    case .not(let test): test.attributes
    case .text(let number, _, _), .number(let number, _, _), .member(let number, _, _): [number]
    case .comparison(let comparison): comparison.left.attributes.union(comparison.right.attributes)
    }
  }

  fileprivate var readsWholeItem: Bool {
    switch self {
    case .constant, .text, .number, .member: false
    case .all(let tests), .any(let tests): tests.contains(where: \.readsWholeItem)
    case .not(let test): test.readsWholeItem
    case .comparison(let comparison): comparison.left.readsWholeItem || comparison.right.readsWholeItem
    }
  }
}
