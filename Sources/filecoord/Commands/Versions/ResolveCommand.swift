import FileMetadata
import FileVersions
import FoundationEssentials
import SystemInterface

extension Option {
  static let kept = Option(
    name: "--keep", kind: .text("newest|current|all|N"),
    help:
      "The result: the text that was changed last, the current one, each as a file of its own, or a version by its number."
  )
  static let merge = Option(
    name: "--merge", kind: .text("COMMAND"),
    help: "Merge by this command for the shell, in which {current}, {base} and {other} stand for files.")
}

extension Command {
  static let conflicts = Command(
    name: "conflicts", operands: "DIR", operandCount: 1...1, takesOptionsAnywhere: true,
    options: [.live, .events, .json, .copies, .store],
    summary: "List the files in a directory that several have written at once.",
    details: """
      Prints a line for each file below DIR that has versions which are conflicts and aren't resolved: the number of them, and
      the path. With --live it continues, prints a line again when the number changes, with 0 when all are resolved, and prints
      "watching DIR" on standard error after the first ones. Ends with 1 if there are conflicts and --live isn't there. If directories
      can't be read, it prints a line on standard error for each of them, and ends with 77 or 74.

      Also names on standard error what killed saves have left below DIR; 'filecoord versions FILE' makes versions of it.

      With --json each line is an object with the members path, conflicts (their number) and copies, the paths of conflict
      copies beside the file. Bytes of names that aren't UTF-8 are shown as U+FFFD.
      """,
    examples: [
      Example(line: "filecoord conflicts --copies ~/Sync", explanation: "Lists conflict copies of Syncthing."),
      Example(
        line: "filecoord conflicts --copies --live --json ~/Sync | jq -r .path",
        explanation: "Prints them as they come."),
    ],
    run: { session in try await ConflictPrinter(session).run() })

  static let resolve = Command(
    name: "resolve", operands: "FILE", operandCount: 1...1, takesOptionsAnywhere: true,
    options: [.kept, .merge, .copies, .store],
    summary: "Resolve the conflicts of a file that several have written at once, without losing a byte.",
    details: """
      Presenters save first, and nobody else accesses the file meanwhile. What the result overwrites becomes a version, unless
      it's one already, and the others stay as versions that are resolved: 'filecoord versions' lists them. Ends with 1 if there
      was no conflict.

      --merge runs COMMAND once for each of the others, the oldest first. {current} is a copy of the file, and what COMMAND leaves in
      it is the result. If COMMAND fails, nothing changes, and the exit status is that of COMMAND. The files are in a directory in
      TMPDIR; one that was left by a process that was killed is removed by the next merge.

      {base} is what all of them began with: the last base of 'filecoord keep --base', or a version that the others name. Without that
      it's the version from before the conflict that they have most likely been made from, and standard error says which; if there's
      none, {base} is an empty file, and standard error says so.
      """,
    examples: [
      Example(line: "filecoord resolve notes.txt --keep newest", explanation: "Takes the text that was changed last."),
      Example(
        line: "filecoord resolve notes.txt --copies --merge 'git merge-file {current} {base} {other}'",
        explanation: "Merges a conflict of Syncthing three ways."),
      Example(line: "filecoord resolve notes.txt --keep all", explanation: "Makes each of them a file."),
    ],
    run: { session in try await Resolver(session).run() })
}

/// Prints conflicts.
private struct ConflictPrinter {
  private let session: Session

  init(_ session: Session) { self.session = session }

  func run() async throws -> ExitCode {
    let directory = try URL(file: session.invocation.operands[0])
    let conflicts = try session.versions.conflicts(in: directory)
    if session.invocation.has(.live) { return try await watch(conflicts, directory) }
    // It shares the trees of the search, which reads nothing twice.
    let watcher = try TreeWatcher([directory], options: ScopeOptions(unenteredNames: Self.unenteredNames))
    defer { watcher.stop() }
    let found = try await conflicts.snapshot()
    for file in found where !print(file.path, file) { break }
    try await session.tellLeftovers(below: directory)
    try await watcher.waitUntilCurrent()
    let health = watcher.health
    for line in health.unfoundLines { Terminal.error.write(line) }
    return health.code(of: found.isEmpty ? .success : .failure)
  }

  /// The directories that hold no files of the user, and that a search for conflicts doesn't enter.
  private static let unenteredNames = [".stversions", ".file-versions-*"]

  private func watch(_ conflicts: FileConflicts, _ directory: URL) async throws -> ExitCode {
    let work = Task {
      var isFirst = true
      var remaining = session.invocation.count(.events)
      for try await update in conflicts {
        for change in update.changes {
          if remaining == 0 { return }
          remaining = remaining.map { $0 - 1 }
          if !print(change) { return }
        }
        if isFirst {
          Terminal.error.write("watching \(directory.pathText.onOneLine)\n")
          try await session.tellLeftovers(below: directory)
        }
        isFirst = false
        if remaining == 0 { return }
      }
    }
    try await session.signals.handling({ _ in work.cancel() }) { try await work.value }
    return .success
  }

  private func print(_ change: FileConflictUpdate.Change) -> Bool {
    switch change {
    case .appeared(let file), .changed(let file): print(file.path, file)
    case .ended(let path): print(path, nil)
    }
  }

  private func print(_ path: SystemPath, _ file: ConflictedFile?) -> Bool {
    let count = file.map { $0.storedConflictCount + $0.copies.count } ?? 0
    let copies = file?.copyURLs.map { JSON.string($0.pathText) } ?? []
    let text = String(decoding: path.bytes, as: UTF8.self)
    let line =
      session.invocation.has(.json)
      ? JSON.object([("path", .string(text)), ("conflicts", .integer(count)), ("copies", .array(copies))]).text
      : "\(count)  \(text.onOneLine)"
    return Terminal.output.write(line + "\n")
  }
}

/// Resolves the conflicts of a file.
private struct Resolver {
  private let session: Session
  private let file: URL

  init(_ session: Session) throws {
    self.session = session
    file = try URL(file: session.invocation.operands[0])
    if session.invocation.has(.kept) == session.invocation.has(.merge) {
      throw Failure.usage("'resolve' takes either '--keep' or '--merge'").about(.resolve)
    }
    // An empty variable in a script: the shell would run it with success, and the present contents would be the result.
    if let command = session.invocation.text(.merge), command.allSatisfy(\.isWhitespace) {
      throw Failure.usage("'--merge' needs a command, and got an empty one").about(.resolve)
    }
  }

  func run() async throws -> ExitCode {
    let versions = try session.versions
    if try await versions.currentVersion(of: file) == nil { throw Failure.missing(file) }
    let wasConflict = try await versions.resolve(at: file, keepsOthers: true) { conflict in
      try await result(conflict, versions)
    }
    if !wasConflict { Terminal.error.write("filecoord: '\(file.pathText.onOneLine)' has no conflict\n") }
    return wasConflict ? .success : .failure
  }

  private func result(_ conflict: FileConflict, _ versions: FileVersions) async throws -> FileResolution {
    guard let kept = session.invocation.text(.kept) else { return try await merged(conflict) }
    switch kept {
    case "newest": return .newest(of: conflict)
    case "current": return .current
    case "all": return .all
    default:
      let listed = try await versions.versions(of: file) ?? []
      return .version(try session.version(Argument(kept), among: listed, of: file))
    }
  }

  private func merged(_ conflict: FileConflict) async throws -> FileResolution {
    if ([conflict.current] + conflict.others).contains(where: \.isPackage) {
      throw Failure(
        .failure,
        "'\(file.pathText.onOneLine)' or a version of it is a directory, which '--merge' can't merge: it's as it was. Use '--keep', with 'all' "
          + "to merge by hand.")
    }
    MergeDirectory.removeLeftovers()
    let directory = try MergeDirectory()
    defer { directory.remove() }
    let current = directory.url.appending(path: "current"), base = directory.url.appending(path: "base")
    let common = try await beginning(of: conflict)
    try await conflict.contents(of: conflict.current).write(to: current)
    for (number, other) in conflict.others.reversed().enumerated() {
      let path = directory.url.appending(path: "other\(number + 1)")
      try await conflict.contents(of: other).write(to: path)
      // The command may have written to it.
      try common.write(to: base)
      try await merge(current, base, path, conflict.environment)
    }
    guard let result = try? Data(contentsOf: current) else {
      throw Failure(
        .failure,
        "the command has removed {current}, or made something else of it than a file: '\(file.pathText.onOneLine)' is as it was"
      )
    }
    return .merged(result)
  }

  /// The contents that a merge begins with; says so if they aren't those that somebody has kept for it.
  private func beginning(of conflict: FileConflict) async throws -> Data {
    guard let base = try await conflict.mergeBase() else {
      Terminal.error.write(
        "filecoord: no version of '\(file.pathText.onOneLine)' from before the conflict is kept, so {base} is an empty file: every line that "
          + "differs is a conflict for most programs. 'filecoord keep --base' keeps a base for the next one.\n")
      return Data()
    }
    if base != conflict.base {
      Terminal.error.write(
        "filecoord: no base of '\(file.pathText.onOneLine)' was kept, so {base} is the version \(base.id), kept "
          + "\(VersionText.date(base.additionDate ?? base.modificationDate)), from which all texts have most likely been made. Check the "
          + "result; 'filecoord keep --base' keeps a base for the next one.\n")
    }
    return try await conflict.contents(of: base)
  }

  private func merge(
    _ current: URL, _ base: URL, _ other: URL, _ environment: [String: String]
  ) async throws {
    var command = session.invocation.text(.merge) ?? ""
    for (name, url) in [("{current}", current), ("{base}", base), ("{other}", other)] {
      command = command.replacing(name, with: url.path.quotedForShell)
    }
    let words = ["sh", "-c", command].map { Argument($0) }
    let code = try await ChildProgram.run(words, environment: environment, signals: session.signals)
    if code != .success {
      throw Failure(
        code, "'\(command.onOneLine)' ended with \(code.rawValue): '\(file.pathText.onOneLine)' is as it was")
    }
  }
}
