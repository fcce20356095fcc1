import FileVersions
import FoundationEssentials
import SystemInterface

// The leftovers of killed saves beside files.

extension Session {
  /// Says what killed saves have left in a directory, and how to keep it.
  func tellLeftovers(below directory: URL) async throws {
    for leftover in try await versions.leftovers(below: directory) {
      let (path, file) = (leftover.url.pathText.onOneLine, leftover.fileURL.pathText.onOneLine)
      Terminal.error.write(
        "filecoord: a killed save has left '\(path)'; 'filecoord versions \(file)' makes it a version\n")
    }
  }

  /// Makes versions of what killed saves have left beside the file that the first operand names, or with `--deleted` beside files below it
  /// that are gone; says how many these are, or why that can't be.
  func keepLeftovers(_ versions: FileVersions) async {
    do {
      let named = try URL(file: invocation.operands[0])
      if !invocation.has(.deleted) { return try await keepLeftovers(of: named, versions) }
      // A directory that's gone has none.
      let leftovers = (try? await versions.leftovers(below: named)) ?? []
      for file in Set(leftovers.map(\.fileURL)) {
        let isGone = try HostFileSystem().statusIfPresent(of: SystemPath(bytes: file.pathBytes)) == nil
        if isGone { try await keepLeftovers(of: file, versions) }
      }
    } catch {
      Terminal.error.write("filecoord: what a killed save has left couldn't be kept: \(Failure(error).message)\n")
    }
  }

  private func keepLeftovers(of file: URL, _ versions: FileVersions) async throws {
    let kept = try await versions.keepLeftovers(of: file)
    if kept.isEmpty { return }
    let text = kept.count == 1 ? "a version" : "\(kept.count) versions"
    Terminal.error.write("filecoord: what killed saves have left of '\(file.pathText.onOneLine)' is \(text) now\n")
  }
}
