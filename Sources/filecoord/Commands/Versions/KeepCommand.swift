import FileCoordination
import FileVersions
import FoundationEssentials

extension Option {
  static let base = Option(
    name: "--base", kind: .flag,
    help: "Keep them as what later merges begin with: do that while all devices have the same contents.")
}

extension Command {
  static let keep = Command(
    name: "keep", operands: "FILE…", operandCount: 1...1000, takesOptionsAnywhere: true,
    options: [.base, .live, .package, .except, .json, .store],
    summary: "Keep the present contents of files as versions.",
    details: """
      Presenters save first. Contents are stored once, however often they are kept; on file systems that can share blocks a
      version costs nothing until the file changes. Prints a line for each version like 'filecoord versions'. Continues after a
      failure, and ends with the code of the first one.

      A directory is a package if its name has an extension, or if it has versions already; --package says that others are. All of
      it is one version.

      With --base 'filecoord resolve --merge' passes them to its command as {base} in the next conflict. Contents that the last base
      has aren't kept again. If FILE has a conflict, also by a conflict copy beside it, no other device has its contents: they're kept as a
      version like any other, and it ends with 1.

      With --live each FILE is a directory: keeps what every file below it has, and from then on what it has after each change, by
      any program, also by one that doesn't coordinate. So there's always a version from before the last change. Equal contents
      aren't kept twice in succession. Prints "keeping versions below PATH" on standard error when all files have a version. What
      changed while no such command ran is kept when the next one begins. Reports files that can't be kept on standard error, and
      tries them again until they are. Reports there, too, that FILE was moved or removed, and keeps a directory that comes to its
      path. Ends with 0 by SIGINT, SIGTERM or SIGHUP.
      """,
    examples: [
      Example(line: "filecoord keep notes.txt", explanation: "Keeps notes.txt before something risky."),
      Example(line: "filecoord keep --base notes.txt", explanation: "Keeps what the next merge begins with."),
      Example(
        line: "filecoord keep --live --except .git ~/Documents",
        explanation: "Keeps versions of everything, but for .git."),
    ],
    run: { session in
      let isBase = session.invocation.has(.base)
      if session.invocation.has(.live) { return try await keepLive(session, session.versions) }
      // A copy beside the file is a conflict here even if nobody asks for copies: a wrong base would undo changes.
      let versions = try isBase ? session.versions(conflictCopies: .all) : session.versions
      var code = ExitCode.success
      for file in try session.files {
        do {
          let isPackage = session.invocation.has(.package)
          let version =
            isBase
            ? try await versions.addBase(of: file, isPackage: isPackage)
            : try await versions.addVersion(of: file, isPackage: isPackage)
          VersionText.write(version, number: 1, session)
          if isBase && !version.isBase { throw Failure.noBase(file) }
        } catch {
          let failure = Failure(error)
          Terminal.error.write(failure.text)
          if code == .success { code = failure.code }
        }
      }
      return code
    })

  private static func keepLive(_ session: Session, _ versions: FileVersions) async throws -> ExitCode {
    if session.invocation.has(.base) { throw Failure.usage("'keep' takes either '--base' or '--live'").about(.keep) }
    let directories = try session.files
    let options = FileVersionKeeping(excludedNames: session.invocation.texts(.except))
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    return try await session.signals.handling({ _ in end.finish() }) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for directory in directories {
          group.addTask {
            for try await event in try versions.keepVersions(below: directory, options) {
              report(event, of: directory, session)
            }
          }
        }
        group.addTask { for await _ in ends {} }
        _ = try await group.next()
        group.cancelAll()
      }
      return .success
    }
  }

  private static func report(_ event: FileVersionKeeping.Event, of directory: URL, _ session: Session) {
    switch event {
    case .ready: Terminal.error.write("keeping versions below \(directory.pathText.onOneLine)\n")
    case .kept(let url, let version):
      let line =
        session.invocation.has(.json)
        ? VersionText.json(version, number: 1).text : "\(url.pathText.onOneLine)  \(version.size)"
      Terminal.output.write(line + "\n")
    case .failed(let url, let error):
      Terminal.error.write("\(url.pathText.onOneLine): \(Failure.namingCommands(in: error.description).onOneLine)\n")
    }
  }
}

extension Failure {
  fileprivate static func noBase(_ file: URL) -> Failure {
    Failure(
      .failure,
      "'\(file.pathText.onOneLine)' has a conflict, so its contents were kept as a version that's no base. 'filecoord resolve --copies' resolves it; "
        + "then keep a base.")
  }
}
