import FileCoordination
import FoundationEssentials

extension Command {
  static let copy = Command(
    name: "copy", operands: "FILE NEW-PATH", operandCount: 2...2, options: [.replace],
    summary: "Copy a file or directory after editors have saved, and notify presenters of the new path.",
    details: """
      Presenters of FILE save first, and no other access writes it during the copy. NEW-PATH is the path of the copy itself: if a
      directory has this name, nothing is copied into it. The copy appears whole or not at all.
      """,
    examples: [
      Example(line: "filecoord copy letter.txt letter.old", explanation: "Copies the text that editors show."),
      Example(line: "filecoord copy --replace new.db current.db", explanation: "Replaces the old current.db."),
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
