import FileCoordination

extension Command {
  static let read = Command(
    name: "read", operands: "FILE… -- COMMAND [ARG…]", operandCount: 1...FileCoordinator.itemCountMax,
    takesProgram: true,
    summary: "Run a command while nobody writes the files.",
    details: """
      Waits until nobody writes any of the files and until whoever presents them has saved, runs COMMAND, and ends with
      what it ended with. Others may read meanwhile.

      \(Program.help)
      """,
    examples: [
      Example(line: "filecoord read notes.txt -- wc -w {}", explanation: "Counts words, including unsaved ones."),
      Example(
        line: "filecoord read data -- tar -cf backup.tar {}",
        explanation: "Packs a directory; add the files inside if they mustn't change meanwhile."),
      Example(line: "filecoord read a b -- diff {1} {2}", explanation: "Compares two files of the same moment."),
    ],
    run: { session in
      let intents = try session.files.map { FileAccessIntent.reading($0) }
      return try await session.withAccess(intents, label: Program.label(session)) { access in
        try await Program.run(session, access)
      }
    })
}
