package import FileWatching
import Foundation
import Glibc
package import SystemInterface

/// A directory for one test, with short spellings for the operations of tests in it.
package final class TemporaryTree: Sendable {
  /// Beside `root`, for items outside of the scope.
  package let base: SystemPath
  package let root: SystemPath
  private let files = HostFileSystem()

  package init() throws {
    let directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appending(path: "FileMetadataTests.\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    base = SystemPath(directory.path)
    root = base.appending("root")
    try makeDirectory(root)
  }

  deinit {
    chmod(base.description, 0o755)
    // Foundation stops at paths that are too long for the kernel.
    try? HostFileSystem().removeItem(at: base)
  }

  package func path(_ name: String) -> SystemPath { root.appending(name) }

  package func makeDirectory(_ path: SystemPath) throws {
    try files.makeDirectory(path, at: .workingDirectory, mode: 0o755)
  }

  package func makeDirectory(_ name: String) throws { try makeDirectory(path(name)) }

  package func write(_ path: SystemPath, _ text: String, adding: Bool = false) throws {
    let file = try files.open(
      path, at: .workingDirectory, flags: adding ? [.create, .writeOnly] : [.create, .truncate, .writeOnly], mode: 0o644
    )
    defer { try? files.close(file) }
    if adding { _ = try files.seek(file, to: try files.status(of: file).size, .start) }
    _ = try files.write(file, Array(text.utf8)[...])
  }

  package func write(_ name: String, _ text: String = "text") throws { try write(path(name), text) }

  package func rename(_ old: SystemPath, to new: SystemPath, _ mode: RenameMode = .replacing) throws {
    try files.rename(old, at: .workingDirectory, to: new, at: .workingDirectory, mode)
  }

  package func rename(_ old: String, to new: String, _ mode: RenameMode = .replacing) throws {
    try rename(path(old), to: path(new), mode)
  }

  /// Waits until files that are changed get a later time than those that have been.
  package func waitForFileTime() {
    // A file may have been given a finer time, and a processor that was taken away may have missed several ticks.
    let start = Int64(Date.now.timeIntervalSince1970 * 1e9) + 1000
    while CoarseClock.fileTime <= start { HostThread.yield() }
  }

  package func link(_ old: SystemPath, to new: SystemPath) throws {
    try files.link(old, at: .workingDirectory, to: new, at: .workingDirectory, links: .noFollow)
  }

  package func symbolicLink(_ path: SystemPath, to target: String) throws {
    try files.makeSymbolicLink(path, at: .workingDirectory, target: SystemPath(target))
  }

  package func unlink(_ path: SystemPath) throws { try files.unlink(path, at: .workingDirectory, .file) }
  package func unlink(_ name: String) throws { try unlink(path(name)) }

  /// Removes a directory with everything in it.
  package func removeTree(_ path: SystemPath) throws {
    for (path, facts) in Self.contents(of: path).sorted(by: { $0.key > $1.key }) {
      try files.unlink(path, at: .workingDirectory, facts.kind == .directory ? .emptyDirectory : .file)
    }
  }

  /// All files in a directory, and itself: the simplest walk there is.
  package static func contents(of top: SystemPath) -> [SystemPath: FileFacts] {
    let files = HostFileSystem()
    guard let status = try? files.status(of: top, at: .workingDirectory, links: .noFollow) else { return [:] }
    var found = [top: FileFacts(status)]
    guard status.kind == .directory,
      let directory = try? files.open(top, at: .workingDirectory, flags: .directory, mode: 0)
    else { return found }
    defer { try? files.close(directory) }
    while let entries = try? files.readDirectory(directory) {
      for entry in entries { found.merge(contents(of: top.appending(entry.name))) { first, _ in first } }
    }
    return found
  }

  package var contents: [SystemPath: FileFacts] { Self.contents(of: root) }
}
