import FileVersions
import FoundationEssentials

extension Option {
  static let keepCount = Option(name: "--keep", kind: .count, help: "Keep this number of versions at most.")
  static let age = Option(
    name: "--older-than", kind: .text("AGE"), help: "Remove versions of this age, such as 90d, 12h, 6w or 30m.")
  static let size = Option(
    name: "--larger-than", kind: .text("SIZE"),
    help: "Remove the oldest versions while they have more bytes together, such as 500M, 2G or 100k.")
  static let thin = Option(
    name: "--thin", kind: .flag,
    help:
      "Keep one version for each hour from the second day on, one for each day from the second week on, and one for each "
      + "week from the second month on.")
  static let dryRun = Option(name: "--dry-run", kind: .flag, help: "Print the versions to remove, and remove nothing.")
}

extension Command {
  static let purge = Command(
    name: "purge", operands: "FILE…", operandCount: 1...1000, takesOptionsAnywhere: true,
    options: [.keepCount, .age, .size, .thin, .dryRun, .deleted, .json, .store],
    summary: "Remove old versions of files by rules; the files themselves stay.",
    details: """
      A version goes if any of the rules says so; without a rule nothing does. Conflicts that aren't resolved stay, and so does
      what two writers had in common as long as there are such conflicts. Prints a line for each version that goes.

      With --deleted each FILE is a directory: removes all versions of files below it that were missed first as long ago as
      --older-than says. A file that another program has moved is missed as well, until 'filecoord versions' is asked for it
      where it is.
      """,
    examples: [
      Example(
        line: "filecoord purge --keep 10 --older-than 90d --dry-run notes.txt", explanation: "Lists old versions."),
      Example(line: "filecoord purge --thin *.txt", explanation: "Thins out versions as backups do."),
      Example(
        line: "filecoord purge --deleted --older-than 30d ~",
        explanation: "Forgets files that were deleted a month ago."),
    ],
    run: { session in
      let (invocation, versions) = (session.invocation, try session.versions)
      let policy = FileVersionRetention(
        countMax: invocation.count(.keepCount), ageMax: try invocation.text(.age).map(seconds),
        byteCountMax: try invocation.text(.size).map(byteCount), thinning: invocation.has(.thin) ? .likeBackups : [])
      let isDryRun = invocation.has(.dryRun)
      for file in try session.files {
        if invocation.has(.deleted) {
          guard let age = policy.ageMax else { throw Failure.usage("'--deleted' needs '--older-than'") }
          for deleted in try await versions.deletedFiles(below: file)
          where -deleted.absenceDate.timeIntervalSinceNow >= age {
            if !isDryRun { try await versions.removeVersions(of: deleted) }
            print(deleted.versions, deleted.url, session)
          }
        } else {
          if try await versions.currentVersion(of: file) == nil { throw Failure.missing(file) }
          print(try await versions.prune(file, by: policy, isDryRun: isDryRun), file, session)
        }
      }
      return .success
    })

  private static func print(_ removed: [FileVersion], _ file: URL, _ session: Session) {
    for version in removed {
      let line =
        session.invocation.has(.json)
        ? VersionText.json(version, number: 0).text
        : "\(file.pathText.onOneLine)  \(VersionText.date(version.additionDate ?? version.modificationDate))  \(version.size)"
      if !Terminal.output.write(line + "\n") { return }
    }
  }

  /// The seconds of a text such as `90d`.
  static func seconds(_ text: String) throws(Failure) -> TimeInterval {
    let units: [Character: TimeInterval] = ["m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
    guard let unit = text.last.flatMap({ units[$0] }), let number = Double(text.dropLast()), (0...1e6).contains(number)
    else { throw .usage("'--older-than' takes a number and a unit such as 90d, 12h, 6w or 30m, not '\(text)'") }
    return number * unit
  }

  /// The bytes of a text such as `500M`.
  static func byteCount(_ text: String) throws(Failure) -> Int64 {
    let units: [Character: Int64] = ["k": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
    let unit = text.last.flatMap { units[$0] }
    guard let number = Int64(unit == nil ? text[...] : text.dropLast()), number >= 0, number < 1 << 22 || unit == nil
    else { throw .usage("'--larger-than' takes a number of bytes such as 500M, 2G or 100k, not '\(text)'") }
    return number * (unit ?? 1)
  }
}
