// snippet: conflicts-merger
import FileVersions
import Foundation

@main
struct ConflictMerger {
  static func main() async throws {
    let versions = FileVersions(conflictCopies: .all)
    let (verb, place) = (CommandLine.arguments[1], URL(filePath: CommandLine.arguments[2]))
    if verb == "in-step" { try await versions.addBase(of: place) }
    if verb != "merge" { return }
    for conflicted in try await versions.conflicts(in: place).snapshot() {
      try await versions.resolve(at: conflicted.url) { conflict in
        guard let base = try await conflict.mergeBase() else { return .all }
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let files = ["result", "base", "other"].map { folder.appending(path: $0) }
        try await conflict.contents(of: conflict.current).write(to: files[0])
        try await conflict.contents(of: base).write(to: files[1])
        for other in conflict.others {
          try await conflict.contents(of: other).write(to: files[2])
          let arguments = ["git", "merge-file"] + files.map(\.path)
          let git = try Process.run(URL(filePath: "/usr/bin/env"), arguments: arguments)
          git.waitUntilExit()
          // Lines that two have changed are left to a person.
          if git.terminationStatus != 0 { throw CocoaError(.fileWriteUnknown) }
        }
        return .merged(try Data(contentsOf: files[0]))
      }
    }
  }
}
// end
