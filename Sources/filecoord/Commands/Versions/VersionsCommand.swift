import FileVersions
import FoundationEssentials

extension Option {
  static let deleted = Option(
    name: "--deleted", kind: .flag, help: "List files below the directory that are gone, and whose versions are kept.")
  static let removed = Option(
    name: "--removed", kind: .flag, help: "List versions that were removed and can be brought back.")
}

extension Command {
  static let versions = Command(
    name: "versions", operands: "FILE", operandCount: 1...1, takesOptionsAnywhere: true,
    options: [.json, .deleted, .removed, .copies, .store],
    summary: "List the versions that are kept of a file.",
    details: """
      Prints a line for each version, the newest first: its number, the time when it was kept, its size in bytes, the machine
      that saved it, the name that the file had, and in parentheses what else is known of it: conflict, resolved, base, package,
      discardable. What the file has now is no line. Numbers change when versions are added or removed; identifiers don't.

      Leftovers of killed saves beside FILE become versions first; standard error says so.

      With --deleted FILE is a directory. Prints the path, the time when the file was missed first, and the number of versions of
      each file below it that is gone. 'filecoord restore' brings it back under its path.

      With --removed lists the versions that were removed during the last seven days, in the same form, the one that was removed
      last first. 'filecoord recover' brings them back.

      With --json each line is an object with the members number, id, name, size, modified, kept, device, author, sha256, path,
      package, conflict, resolved, base, discardable and parents; with --deleted with path, missed and versions, which are such
      objects. Bytes of names that aren't UTF-8 are shown as U+FFFD: 'filecoord show' prints such a version by its id.
      """,
    examples: [
      Example(line: "filecoord versions notes.txt", explanation: "Lists the versions of notes.txt."),
      Example(
        line: "filecoord versions --json notes.txt | jq -r 'select(.conflict).device'",
        explanation: "Prints the machines that wrote conflicting versions."),
      Example(line: "filecoord versions --deleted .", explanation: "Lists files that are gone from here."),
    ],
    run: { session in
      let versions = try session.versions
      await session.keepLeftovers(versions)
      if session.invocation.has(.deleted) { return try await listDeleted(session, versions) }
      if session.invocation.has(.removed) {
        for (index, version) in try await session.removed(versions).versions.enumerated() {
          if !VersionText.write(version, number: index + 1, session) { break }
        }
        return try await reportDamage(session, versions)
      }
      let listed = try await session.listed(versions).versions
      for (index, version) in listed.enumerated() {
        if !VersionText.write(version, number: index + 1, session) { break }
      }
      return try await reportDamage(session, versions)
    })

  /// Names the versions that aren't among those of the first operand because their records have changed.
  static func reportDamage(_ session: Session, _ versions: FileVersions) async throws -> ExitCode {
    let damaged = try await versions.damagedRecords(of: URL(file: session.invocation.operands[0]))
    for record in damaged {
      Terminal.error.write(
        "filecoord: a version isn't listed, because '\(record.pathText)' is missing, or a byte of it has changed\n")
    }
    return damaged.isEmpty ? .success : .inputOutput
  }

  private static func listDeleted(_ session: Session, _ versions: FileVersions) async throws -> ExitCode {
    for file in try await versions.deletedFiles(below: URL(file: session.invocation.operands[0])) {
      let numbered = file.versions.enumerated().map { VersionText.json($0.element, number: $0.offset + 1) }
      let missed = VersionText.date(file.absenceDate)
      let line =
        session.invocation.has(.json)
        ? JSON.object([
          ("path", .string(file.url.pathText)), ("missed", .string(missed)), ("versions", .array(numbered)),
        ]).text
        : "\(file.url.pathText.onOneLine)  \(missed)  \(file.versions.count)"
      if !Terminal.output.write(line + "\n") { break }
    }
    return .success
  }
}
