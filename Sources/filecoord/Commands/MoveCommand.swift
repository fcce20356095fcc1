import FileCoordination
import FoundationEssentials

extension Option {
  static let replace = Option(
    name: "--replace", kind: .flag, help: "Take the place of what is at NEW-PATH; its presenters are asked first.")
}

extension Command {
  static let move = Command(
    name: "move", operands: "FILE NEW-PATH", operandCount: 2...2, options: [.replace],
    summary: "Move or rename a file or directory, and tell whoever presents it or waits for it.",
    details: """
      NEW-PATH is the new path itself, also if there is a directory of this name: nothing is moved into it. Between file
      systems the item is copied, synced, put in place, and only then deleted at the old one.
      """,
    examples: [
      Example(line: "filecoord move draft.txt letter.txt", explanation: "Editors of draft.txt edit letter.txt now."),
      Example(line: "filecoord move --replace new.db current.db", explanation: "The old current.db is gone."),
    ],
    run: { session in
      let files = try session.files
      let coordinator = session.coordinator()
      do {
        try await session.waiting(coordinator) { _ in
          try await coordinator.move(files[0], to: files[1], replacing: session.invocation.has(.replace))
        }
      } catch let error as FileCoordinationError where error.code == .destinationExists {
        throw Failure.occupied(files[1])
      }
      return .success
    })
}

extension Failure {
  /// There's something at the new path of what was to be moved or copied.
  static func occupied(_ destination: URL) -> Failure {
    Failure(
      .cannotCreate,
      "there is something at '\(destination.pathText)' already. Pass --replace to take its place, or name a path inside it "
        + "if it's a directory.")
  }
}
