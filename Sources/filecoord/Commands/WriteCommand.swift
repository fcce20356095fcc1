import FileCoordination
import FoundationEssentials

extension Option {
  static let purpose = Option(
    name: "--for", kind: .choice(["deleting", "moving", "merging", "replacing"]),
    help: "The purpose of the write, if it isn't a plain change. Presenters are asked to make way or to save first.")
}

extension Command {
  static let write = Command(
    name: "write", operands: "FILE… -- COMMAND [ARG…]", operandCount: 1...FileCoordinator.itemCountMax,
    takesProgram: true, options: [.purpose],
    summary: "Run a command while no other program reads or writes the files.",
    details: """
      Waits until no other access reads or writes any of the files and their presenters have let go. Then runs COMMAND, and
      ends with its exit status. Presenters are notified afterwards that the files may have changed.

      \(Program.help)
      """,
    examples: [
      Example(line: "filecoord write notes.txt -- sed -i s/milk/bread/ {}", explanation: "Changes a file."),
      Example(
        line: "filecoord write --for merging todo.txt -- sort -o {} {}",
        explanation: "The new contents depend on the old ones, so editors save first."),
      Example(
        line: "filecoord --timeout 0 write lock -- backup.sh",
        explanation: "Runs if it needn't wait; otherwise ends with 75 at once."),
    ],
    run: { session in
      let purpose = session.invocation.text(.purpose)
      let intents = try session.files.map { FileAccessIntent.writing($0, options: options(for: purpose)) }
      return try await session.withAccess(intents, label: Program.label(session)) { access in
        let present = (0..<access.count).filter { access[$0].exists }
        let code = try await Program.run(session, access)
        if purpose == "moving", code == .success { warn(about: present.filter { !access[$0].exists }, access) }
        return code
      }
    })

  private static func options(for purpose: String?) -> FileCoordinator.WritingOptions {
    switch purpose {
    case "deleting": .forDeleting
    case "moving": .forMoving
    case "merging": .forMerging
    case "replacing": .forReplacing
    default: .forUpdating
    }
  }

  /// The tool can't determine where a command has moved a file to, and presenters would expect it at its old place.
  private static func warn(about moved: [Int], _ access: borrowing FileAccessSet) {
    for index in moved {
      Terminal.error.write(
        "filecoord: '\(access[index].url.pathText)' has gone from its place, and the move wasn't announced: presenters "
          + "still expect it there. Use 'filecoord move'.\n")
    }
  }
}
