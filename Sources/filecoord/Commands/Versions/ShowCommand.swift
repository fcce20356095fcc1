import FileCoordination
import FileVersions
import FoundationEssentials
import Glibc

extension Command {
  static let show = Command(
    name: "show", operands: "FILE VERSION", operandCount: 2...2, takesOptionsAnywhere: true,
    options: [.copies, .store],
    summary: "Print the contents of a version of a file.",
    details: """
      Writes its bytes to standard output, after they were compared with the checksum that was made when they were kept: nothing
      is printed if a byte has changed. \(VersionText.operand)
      """,
    examples: [
      Example(line: "filecoord show notes.txt 1 | less", explanation: "Shows the version that was kept last."),
      Example(line: "filecoord show photo.png 3 > old.png", explanation: "Makes a copy of the third version."),
    ],
    run: { session in
      let versions = try session.versions
      let version = try await session.named(session.invocation.operands.dropFirst(), of: versions).versions[0]
      if version.isPackage {
        throw Failure(
          .usage,
          "version \(session.invocation.operands[1].text) is a package; its files are in '\(version.url.pathText)'")
      }
      Terminal.output.write(Array(try await versions.contents(of: version)))
      return .success
    })

  static let diff = Command(
    name: "diff", operands: "FILE VERSION [VERSION]", operandCount: 2...3, takesOptionsAnywhere: true,
    options: [.copies, .store],
    summary: "Compare a version of a file with the file, or with another version.",
    details: """
      Runs diff(1) with -u, or the command in FILECOORD_DIFF, on both, and ends with its exit status: 0 if they are equal, 1 if
      they differ. Presenters of the file save first. Packages are compared with -r. \(VersionText.operand)
      """,
    examples: [
      Example(line: "filecoord diff notes.txt 1", explanation: "Shows the changes since the last version."),
      Example(line: "filecoord diff notes.txt 3 2", explanation: "Shows the changes between two versions."),
      Example(
        line: "FILECOORD_DIFF='git diff --no-index' filecoord diff notes.txt 1",
        explanation: "Compares with another program."),
    ],
    run: { session in
      let versions = try session.versions
      let (file, named) = try await session.named(session.invocation.operands.dropFirst(), of: versions)
      for version in named where !version.isCurrent { try await versions.verify(version) }
      let first = named[0]
      if let second = named.dropFirst().first { return try await diff(session, first, second, second.url) }
      return try await session.withAccess([.reading(file)]) { access in
        try await diff(session, first, nil, access[0].url)
      }
    })

  private static func diff(
    _ session: Session, _ first: FileVersion, _ second: FileVersion?, _ path: URL
  ) async throws -> ExitCode {
    var words: [String] = []
    if let chosen = ProcessInfo.processInfo.environment["FILECOORD_DIFF"], chosen.contains(where: { $0 != " " }) {
      words = chosen.split(separator: " ").map(String.init)
    } else {
      words = ["diff", "-u"]
      if first.isPackage { words.append("-r") } else { words += ["--label", label(first), "--label", label(second)] }
    }
    let files = [first.url, path].map { Argument(bytes: $0.pathBytes) }
    return try await ChildProgram.run(words.map { Argument($0) } + files, environment: [:], signals: session.signals)
  }

  private static func label(_ version: FileVersion?) -> String {
    guard let version else { return "the current contents" }
    return "\(version.name), kept \(VersionText.date(version.additionDate ?? version.modificationDate))"
  }
}
