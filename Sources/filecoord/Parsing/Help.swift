/// The help of the tool, made from the table of commands.
enum Help {
  static let version = "0.1.0"
  static let usage = "filecoord [OPTION…] COMMAND …"
  private static let lineWidth = 96

  static let environment = """
    Without --domain the variable FILE_COORDINATION_DOMAIN names the domain: all processes of the user (user, the default),
    this process only (process), or all processes that name a socket (socket:/PATH). Output is coloured on a terminal only,
    and never while NO_COLOR is set.
    """

  /// All commands and their common options.
  static var overview: String {
    """
    usage: \(usage)

    Coordinates the readers, writers and editors of shared files.

    Commands:
    \(rows(Command.all.map { ($0.name, $0.summary) }))
    Options of every command, before or after its name, before files:
    \(rows(Option.common.map { ($0.usage, $0.help) }))
    \(paragraphs(environment))

    Exit codes:
    \(rows(ExitCode.table.map { ($0.code, $0.meaning) }))
    'filecoord help COMMAND' explains a command, with examples.

    """
  }

  /// One command.
  static func text(_ command: Command) -> String {
    let options =
      command.options.isEmpty ? "" : "\nOptions:\n" + rows(command.options.map { ($0.usage, $0.help) })
    let examples = command.examples.map { "  \($0.line)\n      \($0.explanation)\n" }.joined()
    return """
      usage: \(command.usage)

      \(command.summary)

      \(paragraphs(command.details))
      \(options)
      Examples:
      \(examples)
      'filecoord help' lists the options that every command takes, and the exit codes.

      """
  }

  /// Wraps all paragraphs but tables, which are indented.
  private static func paragraphs(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let paragraphs = lines.split(separator: "", omittingEmptySubsequences: true)
    return paragraphs.map { lines in
      if lines.first?.hasPrefix(" ") == true { return lines.joined(separator: "\n") }
      return wrapped(lines.joined(separator: " "), lineWidth).joined(separator: "\n")
    }.joined(separator: "\n\n")
  }

  /// Two columns, the second one wrapped.
  private static func rows(_ rows: [(String, String)]) -> String {
    let indentation = min(28, (rows.map(\.0.count).max() ?? 0) + 4)
    return rows.map { name, text in
      let lines = wrapped(text, lineWidth - indentation)
      let margin = "\n" + String(repeating: " ", count: indentation)
      let padding = indentation - name.count - 2
      let separator = padding > 0 ? String(repeating: " ", count: padding) : margin
      return "  " + name + separator + lines.joined(separator: margin) + "\n"
    }.joined()
  }

  private static func wrapped(_ text: String, _ width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
