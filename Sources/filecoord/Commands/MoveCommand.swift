import FileCoordination
import FileVersions
import FoundationEssentials

extension Option {
  static let replace = Option(
    name: "--replace", kind: .flag, help: "Replace the item at NEW-PATH; its presenters are asked first.")
}

extension Command {
  static let move = Command(
    name: "move", operands: "FILE NEW-PATH", operandCount: 2...2, options: [.replace],
    summary: "Move or rename a file or directory; its presenters and waiting accesses follow it.",
    details: """
      NEW-PATH is the new path itself: if a directory has this name, nothing is moved into it. Between file systems the item
      is copied, synced and put in place; only then is the old item deleted.
      """,
    examples: [
      Example(line: "filecoord move draft.txt letter.txt", explanation: "Editors of draft.txt now edit letter.txt."),
      Example(line: "filecoord move --replace new.db current.db", explanation: "Replaces the old current.db."),
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
      } catch let error as FileCoordinationError where error.isChangeInPlace {
        await note(files, session)
        throw error
      }
      await note(files, session)
      return .success
    })

  private static func note(_ files: [URL], _ session: Session) async {
    await session.note { versions in try await versions.itemDidMove(from: files[0], to: files[1]) }
  }
}

extension Failure {
  /// There's already an item at the new path of the one that was to be moved or copied.
  static func occupied(_ destination: URL) -> Failure {
    Failure(
      .cannotCreate,
      "an item exists at '\(destination.pathText)'. Pass --replace to replace it, or name a path inside it if it's a "
        + "directory.")
  }
}
