extension Command {
  static let tour = Command(
    name: "tour",
    summary: "Show coordination on real files, and check each result.",
    details: """
      Plays scenes in a temporary directory, and removes it afterwards. Ends with 1 if any result differs from the text.
      """,
    examples: [Example(line: "filecoord tour", explanation: "Takes a second.")],
    run: { _ in await Tour(Terminal.output).run() })
}
