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
        guard let base = conflict.base else { return .all }
        let result = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        defer { try? FileManager.default.removeItem(at: result) }
        try await conflict.contents(of: conflict.current).write(to: result)
        for other in conflict.others {
          let arguments = ["git", "merge-file", result.path, base.url.path, other.url.path]
          let git = try Process.run(URL(filePath: "/usr/bin/env"), arguments: arguments)
          git.waitUntilExit()
          // Lines that two have changed are left to a person.
          if git.terminationStatus != 0 { throw CocoaError(.fileWriteUnknown) }
        }
        return .merged(try Data(contentsOf: result))
      }
    }
  }
}
// end
