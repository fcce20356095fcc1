/// The manual page, in the language of man(7), made from the table of commands.
enum ManualPage {
  static var text: String {
    """
    .TH FILECOORD 1 "" "filecoord \(Help.version)"
    .SH NAME
    filecoord \\- coordinate the readers, writers and editors of shared files
    .SH SYNOPSIS
    \(line(Help.usage))
    .SH OPTIONS
    \(list(Option.common.map { ($0.usage, $0.help) })).SH COMMANDS
    \(Command.all.map(section).joined()).SH ENVIRONMENT
    \(paragraphs(Help.environment)).SH EXIT STATUS
    \(list(ExitCode.table.map { ($0.code, $0.meaning) }))
    """
  }

  private static func section(_ command: Command) -> String {
    let examples = command.examples.map { "\(line($0.line))\n.RS\n\(line($0.explanation))\n.RE\n" }.joined(
      separator: ".PP\n")
    return ".SS \(line(command.usage))\n\(line(command.summary))\n.PP\n\(paragraphs(command.details))"
      + list(command.options.map { ($0.usage, $0.help) }) + ".PP\nExamples:\n.PP\n" + examples
  }

  private static func list(_ rows: [(String, String)]) -> String {
    rows.map { ".TP\n\(line($0.0))\n\(line($0.1))\n" }.joined()
  }

  /// Text that's filled, and tables, which are indented and stay as they are.
  private static func paragraphs(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.split(separator: "", omittingEmptySubsequences: true).map { lines in
      let body = lines.map { line(String($0)) }.joined(separator: "\n")
      return lines.first?.hasPrefix(" ") == true ? ".nf\n\(body)\n.fi\n" : "\(body)\n"
    }.joined(separator: ".PP\n")
  }

  /// Text that begins no request: backslashes, hyphens, and dots and quotes at the beginning are escaped.
  private static func line(_ text: String) -> String {
    let escaped = text.reduce(into: "") { escaped, character in
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      default: escaped.append(character)
      }
    }
    return escaped.first == "." || escaped.first == "'" ? "\\&" + escaped : escaped
  }
}
