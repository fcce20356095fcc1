extension Option {
  static let man = Option(name: "--man", kind: .flag, help: "Print the manual page of the tool, for man(1).")
}

extension Command {
  static let help = Command(
    name: "help", operands: "[COMMAND]", operandCount: 0...1, choices: { Command.all.map(\.name) }, options: [.man],
    summary: "Print the help of the tool or of one command.",
    details:
      "The same as --help before or after the name of a command. With --man it prints all of it as one manual page.",
    examples: [
      Example(line: "filecoord help write", explanation: "Explains 'filecoord write'."),
      Example(
        line: "filecoord help --man > ~/.local/share/man/man1/filecoord.1", explanation: "Lets man(1) show 'filecoord'."
      ),
    ],
    run: { session in
      if session.invocation.has(.man) {
        Terminal.output.write(ManualPage.text)
        return .success
      }
      let name = session.invocation.operands.first?.text
      Terminal.output.write(name.flatMap(Command.named).map(Help.text) ?? Help.overview)
      return .success
    })

  /// The command behind `--version`; it has no name of its own.
  static let version = Command(
    name: "--version", summary: "", details: "", examples: [],
    run: { _ in
      Terminal.output.write("filecoord \(Help.version)\n")
      return .success
    })
}
