import FileVersions
import FoundationEssentials

extension Option {
  static let destination = Option(
    name: "--to", kind: .text("PATH"), help: "Restore to this path instead of that of the file.")
}

extension Command {
  static let restore = Command(
    name: "restore", operands: "FILE [VERSION]", operandCount: 1...2, takesOptionsAnywhere: true,
    options: [.destination, .copies, .store],
    summary: "Put a version in the place of a file; the contents that it overwrites are kept first.",
    details: """
      Without VERSION it's the newest one. Presenters save first and reload. Prints the path, which has the extension of the
      version if that's another one. A file that was deleted is restored with its history, if no other file is at its path.
      \(VersionText.operand)
      """,
    examples: [
      Example(line: "filecoord restore notes.txt", explanation: "Goes back to the version that was kept last."),
      Example(line: "filecoord restore notes.txt 4 --to old.txt", explanation: "Puts an old version beside the file."),
    ],
    run: { session in
      let versions = try session.versions
      let file = try URL(file: session.invocation.operands[0])
      let target = try session.invocation.text(.destination).map { text throws(Failure) in try URL(file: Argument(text))
      }
      let isGone = try await versions.newestVersions(of: file, countMax: 0) == nil
      let deleted = isGone ? try await deleted(session, versions, file) : nil
      if let deleted, target == nil || target == file {
        let version = try chosen(session, deleted.versions, file)
        try await versions.recover(deleted, version)
        Terminal.output.write("\(file.pathText)\n")
        return .success
      }
      let version =
        if let deleted { try chosen(session, deleted.versions, file) } else {
          try await session.named([chosenName(session)], of: versions).versions[0]
        }
      // A newer one may be damaged: then this isn't the one that's meant.
      if session.invocation.operands.count == 1, deleted == nil { _ = try await reportDamage(session, versions) }
      let restored = try await versions.restore(version, to: target ?? file)
      Terminal.output.write("\(restored.pathText)\n")
      return .success
    })

  /// The history of a file that's gone: the one that has the version if it's named by its identifier, else the last one.
  private static func deleted(_ session: Session, _ versions: FileVersions, _ file: URL) async throws -> DeletedFile? {
    let all = try await versions.deletedFiles(at: file)
    let name = session.invocation.operands.dropFirst().first?.text
    return all.first { $0.versions.contains { $0.id.description == name } } ?? all.first
  }

  private static func chosen(
    _ session: Session, _ listed: [FileVersion], _ file: URL
  ) throws(Failure) -> FileVersion {
    try session.version(chosenName(session), among: listed, of: file)
  }

  private static func chosenName(_ session: Session) -> Argument {
    session.invocation.operands.dropFirst().first ?? Argument("1")
  }

  static let remove = Command(
    name: "remove", operands: "FILE VERSION…", operandCount: 2...1000, takesOptionsAnywhere: true,
    options: [.copies, .store],
    summary: "Remove versions of a file; the file itself stays.",
    details: """
      If one of the versions doesn't exist, none is removed. For seven days 'filecoord versions --removed' lists what was removed,
      and 'filecoord recover' brings it back. \(VersionText.operand)
      """,
    examples: [
      Example(line: "filecoord remove notes.txt 3 4", explanation: "Removes two versions.")
    ],
    run: { session in
      let versions = try session.versions
      let (file, removed) = try await session.named(session.invocation.operands.dropFirst(), of: versions)
      for version in Set(removed) { try await versions.remove(version, of: file) }
      return .success
    })

  static let recover = Command(
    name: "recover", operands: "FILE VERSION…", operandCount: 2...1000, takesOptionsAnywhere: true, options: [.store],
    summary: "Bring versions of a file back that were removed.",
    details: """
      VERSION is the number in the list of 'filecoord versions --removed', 1 for the one that was removed last, or an identifier from
      its JSON. If one of the versions doesn't exist, none is brought back. The file itself stays as it is.
      """,
    examples: [
      Example(line: "filecoord recover notes.txt 1", explanation: "Undoes the last 'filecoord remove'.")
    ],
    run: { session in
      let versions = try session.versions
      let (file, listed) = try await session.removed(versions)
      let chosen = try session.invocation.operands.dropFirst().map {
        try session.version($0, among: listed, of: file, list: "versions --removed")
      }
      for version in Set(chosen) { try await versions.recover(version, of: file) }
      return .success
    })
}
