import FileCoordination
import FileVersions
import FoundationEssentials

extension Command {
  static let delete = Command(
    name: "delete", operands: "FILE…", operandCount: 1...FileCoordinator.itemCountMax,
    summary: "Delete files and directories after asking their presenters.",
    details: """
      Deletes one after the other, and directories with all their contents. A presenter can refuse. Continues after a failure,
      and ends with the code of the first one.
      """,
    examples: [
      Example(line: "filecoord delete draft.txt", explanation: "Deletes a file, unless an editor refuses."),
      Example(line: "filecoord delete --timeout 5 -- build -odd", explanation: "Deletes build and -odd."),
    ],
    run: { session in
      var code = ExitCode.success
      for file in try session.files {
        let coordinator = session.coordinator()
        do {
          try await session.waiting(coordinator) { _ in try await coordinator.delete(file) }
          await session.note { versions in try await versions.itemWasDeleted(at: file) }
        } catch {
          let failure = Failure(error)
          if session.signals.first != nil { throw failure }
          Terminal.error.write(failure.text)
          if code == .success { code = failure.code }
        }
      }
      return code
    })
}
