/// The request of the command line.
package struct Arguments: Equatable, Sendable {
  package enum Action: Equatable, Sendable {
    case run, list, help
  }

  package var action = Action.run
  /// The first components of the names of suites or rows; `nil` for all of them.
  package var filter: String?
  package var isTiny = false
  package var jsonPath: String?
  package var plotPath: String?

  package init() {}

  /// An argument that can't be meant.
  package struct Problem: Error, Equatable, CustomStringConvertible {
    package let description: String
  }

  /// Reads arguments, the name of the program not among them.
  ///
  /// - Parameter arguments: As the shell gave them; a value follows its option or, after `=`, is part of it.
  /// - Returns: The request in the arguments.
  /// - Throws: ``Problem`` for an unknown option, a missing or an unwanted value.
  package static func parse(_ arguments: [String]) throws(Problem) -> Arguments {
    var result = Arguments()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      var value = parts.count == 2 ? parts[1] : nil
      func takeValue() throws(Problem) -> String {
        if value == nil { value = rest.popFirst() }
        guard let taken = value, !taken.isEmpty, !taken.hasPrefix("--") else {
          throw Problem(description: "\(parts[0]) needs a value")
        }
        value = nil
        return taken
      }
      switch parts[0] {
      case "--filter": result.filter = try takeValue()
      case "--json": result.jsonPath = try takeValue()
      case "--plot": result.plotPath = try takeValue()
      case "--tiny": result.isTiny = true
      case "--list": result.action = .list
      case "--help", "-h": result.action = .help
      default:
        let kind = argument.hasPrefix("-") ? "option" : "argument"
        throw Problem(description: "unknown \(kind) '\(argument)'")
      }
      if value != nil { throw Problem(description: "\(parts[0]) takes no value") }
    }
    return result
  }

  package static let usage = """
    usage: benchmarks [--filter NAME] [--tiny] [--json FILE] [--plot FILE]

    Measures file coordination beside other locks, in one run, and prints one line for each target.

      --filter NAME   only the suites and rows whose name begins with NAME, such as claims, claims/table
                      or processes/first
      --tiny          everything in seconds; the figures prove nothing. Fails if a counter breaks its limit
      --json FILE     also writes the report for programs
      --plot FILE     also draws the table, as SVG
      --list          prints the names of the suites
      --help          prints this

    """
}
