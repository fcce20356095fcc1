/// One command of the tool.
///
/// Parsing, help, error messages and completion are all made from this.
struct Command: Sendable {
  struct Example: Sendable {
    let line: String
    let explanation: String
  }

  let name: String
  /// The words behind the options, for people.
  var operands = ""
  /// How many operands there may be.
  var operandCount = 0...0
  /// The choices for the operands, where they aren't files; a function, because those of 'help' are the names in the table that it's in itself.
  var choices: (@Sendable () -> [String])?
  var operandChoices: [String]? { choices?() }
  /// Whether the operands are files, which shells complete.
  var takesFiles = true
  /// Whether `-- COMMAND [ARG…]` follows.
  var takesProgram = false
  /// Whether options may follow operands, because the first of these is no file and people write it first.
  var takesOptionsAnywhere = false
  var options: [Option] = []
  /// One line.
  let summary: String
  /// Paragraphs.
  let details: String
  let examples: [Example]
  let run: @Sendable (Session) async throws -> ExitCode

  /// Whether shells complete files for it.
  var completesFiles: Bool { takesFiles && choices == nil && operandCount.upperBound > 0 }

  var usage: String {
    // As many as fit into a line.
    let optionWords = options.count > 6 ? ["[OPTION…]"] : options.map { "[\($0.usage)]" }
    let words = ["filecoord", name] + optionWords + (operands.isEmpty ? [] : [operands])
    return words.joined(separator: " ")
  }

  /// All options that may follow the name.
  var allOptions: [Option] { options + Option.common }

  static func named(_ name: String) -> Command? { all.first { $0.name == name } }

  /// All commands, in the order of help.
  static let all: [Command] = [
    .read, .write, .move, .copy, .delete, .watch, .hold, .tree, .explain, .predicate, .query, .versions, .keep, .show,
    .diff,
    .restore, .remove, .recover, .purge, .conflicts, .resolve, .values, .doctor, .serve, .tour, .completion, .help,
  ]
}
