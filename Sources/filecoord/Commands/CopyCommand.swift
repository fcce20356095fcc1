import FileCoordination
import FoundationEssentials

extension Command {
  static let copy = Command(
    name: "copy", operands: "FILE NEW-PATH", operandCount: 2...2, options: [.replace],
    summary: "Copy a file or directory as editors have it, and tell whoever presents the new path.",
    details: """
      Presenters of FILE save first, and nobody writes it while it's copied. NEW-PATH is the new path itself, also if there is a
      directory of this name: nothing is copied into it. The copy appears whole or not at all.
      """,
    examples: [
      Example(line: "filecoord copy letter.txt letter.old", explanation: "Copies what editors of letter.txt see."),
      Example(line: "filecoord copy --replace new.db current.db", explanation: "The old current.db is gone."),
    ],
    run: { session in
      let files = try session.files
      let coordinator = session.coordinator()
      do {
        try await session.waiting(coordinator) { _ in
          try await coordinator.copy(files[0], to: files[1], replacing: session.invocation.has(.replace))
        }
      } catch let error as FileCoordinationError where error.code == .destinationExists {
        throw Failure.occupied(files[1])
      }
      return .success
    })
}
