extension Command {
  static let tour = Command(
    name: "tour",
    summary: "Show on real files what coordination is, and check what it shows.",
    details: """
      Plays scenes in a temporary directory that is gone afterwards. Ends with 1 if anything is not as it says.
      """,
    examples: [Example(line: "filecoord tour", explanation: "Takes a second.")],
    run: { _ in await Tour(Terminal.output).run() })
}
