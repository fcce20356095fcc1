import FileMetadata
import MetadataPredicates

extension Command {
  static let predicate = Command(
    name: "predicate", operands: "TEXT", operandCount: 1...1, takesFiles: false, options: [.spotlight, .untrusted],
    summary: "Explain a predicate and its compiled form.",
    details: """
      Prints the predicate in its canonical form and as a tree. Then prints the compiled tests in the order in which they run,
      with the attributes that they need, and the conditions that no file can fulfil. Nothing is searched. If the predicate
      can't be used, the command shows the place of the mistake and ends with 65.
      """,
    examples: [
      Example(
        line: #"filecoord predicate 'kMDItemFSName LIKE[c] "*.md" AND kMDItemFSSize > 1000'"#,
        explanation: "The size is tested before the name."),
      Example(
        line: #"filecoord predicate --spotlight 'kMDItemFSName == "*.md"c && kMDItemFSSize > 1000'"#,
        explanation: "The same in the language of mdfind."),
    ],
    run: { session in
      let text = session.invocation.operands[0].text
      let limits: PredicateLimits = session.invocation.has(.untrusted) ? .untrusted : .standard
      do throws(MetadataPredicateError) {
        let predicate =
          session.invocation.has(.spotlight)
          ? try MetadataPredicate(query: text, limits: limits) : try MetadataPredicate(format: text, limits: limits)
        let explanation = try predicate.compiled(limits: limits).explanation()
        // Not only files have attributes, so others than theirs are no mistake here.
        let warnings = Excerpt.lines(
          of: predicate.warnings().filter { $0.code == .impossibleComparison }, in: text
        ).flatMap { $0.split(separator: "\n").map(String.init) }
        let sections = [
          ("predicate", [predicate.formatString]), ("tree", PredicateTree(predicate).lines),
          ("compiled", explanation.description.split(separator: "\n").map(String.init)), ("warnings", warnings),
        ]
        Terminal.output.write(
          sections.filter { !$1.isEmpty }.map { name, lines in "\(name):\n\(lines.map { "  \($0)\n" }.joined())" }
            .joined())
      } catch {
        throw Failure(.dataError, "the predicate can't be used\n\(error)")
      }
      return .success
    })
}

extension Option {
  static let spotlight = Option(
    name: "--spotlight", kind: .flag, help: "Use the query language of mdfind instead of the format language.")
  static let untrusted = Option(
    name: "--untrusted", kind: .flag, help: "Accept only constructs that untrusted text may use.")
}

/// A predicate with one node in each line.
private struct PredicateTree {
  private(set) var lines: [String] = []

  init(_ predicate: MetadataPredicate) { add(predicate, 0) }

  private mutating func add(_ line: String, _ depth: Int) {
    lines.append(String(repeating: "  ", count: depth) + line)
  }

  private mutating func add(_ predicate: MetadataPredicate, _ depth: Int) {
    switch predicate {
    case .and(let members): add("AND", members, depth)
    case .or(let members): add("OR", members, depth)
    case .not(let member): add("NOT", [member], depth)
    case .constant, .comparison: add(predicate.formatString, depth)
    }
  }

  private mutating func add(_ word: String, _ members: [MetadataPredicate], _ depth: Int) {
    add(word, depth)
    for member in members { add(member, depth + 1) }
  }
}
