import FileVersions
import FoundationEssentials

extension Option {
  static let deleted = Option(
    name: "--deleted", kind: .flag, help: "List files below the directory that are gone, and whose versions are kept.")
  static let removed = Option(
    name: "--removed", kind: .flag, help: "List versions that were removed and can be brought back.")
  static let sizes = Option(
    name: "--sizes", kind: .flag,
    help: "List how much space the versions of each file below the directory take, the largest first.")
}

extension Command {
  static let versions = Command(
    name: "versions", operands: "FILE", operandCount: 1...1, takesOptionsAnywhere: true,
    options: [.json, .deleted, .removed, .sizes, .copies, .store],
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

      With --sizes FILE is a directory, or a file. Prints a line for each file at or below it that has versions, the one whose
      versions take the most space first: their bytes in the store, where each contents count once, the number of versions, the
      time when the oldest one was kept, the path, and in parentheses what else takes space or needs a look: removed versions,
      conflicts, damaged versions, which don't count, and whether the file is deleted. Changes nothing, not even leftovers.
      'filecoord purge' makes room.

      With --json each line is an object with the members number, id, name, size, modified, kept, device, author, sha256, path,
      package, conflict, resolved, base, discardable and parents; with --deleted with path, missed and versions, which are such
      objects; with --sizes with path, missed, stored and size in bytes, which differ by contents that are in several versions and by
      those of removed ones, and versions, removed, conflicts, damaged and oldest. Bytes of names that aren't UTF-8 are shown as U+FFFD: 'filecoord show' prints such a version by its id.
      """,
    examples: [
      Example(line: "filecoord versions notes.txt", explanation: "Lists the versions of notes.txt."),
      Example(
        line: "filecoord versions --json notes.txt | jq -r 'select(.conflict).device'",
        explanation: "Prints the machines that wrote conflicting versions."),
      Example(line: "filecoord versions --deleted .", explanation: "Lists files that are gone from here."),
      Example(
        line: "filecoord versions --sizes ~ | head",
        explanation: "Lists the ten files whose versions take the most space."),
    ],
    run: { session in
      let versions = try session.versions
      let others = [Option.deleted, .removed, .copies].filter(session.invocation.has)
      if session.invocation.has(.sizes) {
        if let other = others.first { throw Failure.usage("'--sizes' can't be combined with '\(other.name)'") }
        return try await listSizes(session, versions)
      }
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

  private static func listSizes(_ session: Session, _ versions: FileVersions) async throws -> ExitCode {
    for size in try await versions.historySizes(below: URL(file: session.invocation.operands[0])) {
      let line = session.invocation.has(.json) ? json(size).text : line(size)
      if !Terminal.output.write(line + "\n") { break }
    }
    return .success
  }

  private static func line(_ size: FileHistorySize) -> String {
    let marks = [
      size.absenceDate == nil ? nil : "deleted", size.removedCount == 0 ? nil : "\(size.removedCount) removed",
      size.conflictCount == 0 ? nil : size.conflictCount == 1 ? "1 conflict" : "\(size.conflictCount) conflicts",
      size.damagedCount == 0 ? nil : "\(size.damagedCount) damaged",
    ].compactMap { $0 }
    let words = [
      "\(size.storedByteCount)", "\(size.versionCount)", size.oldestDate.map(VersionText.date) ?? "-",
      size.url.pathText.onOneLine,
    ]
    return (words + (marks.isEmpty ? [] : ["(\(marks.joined(separator: ", ")))"])).joined(separator: "  ")
  }

  private static func json(_ size: FileHistorySize) -> JSON {
    .object([
      ("path", .string(size.url.pathText)), ("missed", JSON(size.absenceDate.map(VersionText.date))),
      ("stored", .integer(Int(size.storedByteCount))), ("size", .integer(Int(size.byteCount))),
      ("versions", .integer(size.versionCount)), ("removed", .integer(size.removedCount)),
      ("conflicts", .integer(size.conflictCount)), ("damaged", .integer(size.damagedCount)),
      ("oldest", JSON(size.oldestDate.map(VersionText.date))),
    ])
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
