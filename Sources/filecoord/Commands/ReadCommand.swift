import FileCoordination

extension Command {
  static let read = Command(
    name: "read", operands: "FILE… -- COMMAND [ARG…]", operandCount: 1...FileCoordinator.itemCountMax,
    takesProgram: true,
    summary: "Run a command while no other program writes the files.",
    details: """
      Waits until no other access writes any of the files and their presenters have saved. Then runs COMMAND, and ends with
      its exit status. Others may read at the same time.

      \(Program.help)
      """,
    examples: [
      Example(line: "filecoord read notes.txt -- wc -w {}", explanation: "Counts words, including unsaved ones."),
      Example(
        line: "filecoord read data -- tar -cf backup.tar {}",
        explanation: "Packs a directory; name the files inside too if they mustn't change."),
      Example(line: "filecoord read a b -- diff {1} {2}", explanation: "Compares two files at the same moment."),
    ],
    run: { session in
      let intents = try session.files.map { FileAccessIntent.reading($0) }
      return try await session.withAccess(intents, label: Program.label(session)) { access in
        try await Program.run(session, access)
      }
    })
}
