import FileCoordination
import FileVersions
import FileWatching
import Foundation
import SystemInterface

/// A directory with files and conflict copies, a store beside it, and a domain of its own.
struct ConflictCopySandbox: Sendable {
  let root: SystemPath
  let domain = CoordinationDomain(CoordinationDomain.Configuration())
  let versions: FileVersions
  private let files = HostFileSystem()

  init(_ root: SystemPath, _ engines: Set<ConflictCopyEngine>) throws {
    self.root = root
    let store = URL(filePath: root.appending("store").description, directoryHint: .isDirectory)
    versions = FileVersions(
      domain: domain, storage: .directory(store), deviceName: "desk", author: "me", conflictCopies: engines)
  }

  var directory: URL { url("") }

  func path(_ name: SystemPath) -> SystemPath { root.appending("files").appending(name) }
  func path(_ name: String) -> SystemPath { path(SystemPath(name)) }

  func url(_ name: SystemPath) -> URL {
    guard let url = path(name).url else { preconditionFailure("not absolute: \(root)") }
    return url
  }
  func url(_ name: String) -> URL { url(SystemPath(name)) }

  @discardableResult
  func write(_ name: SystemPath, _ text: String) throws -> URL {
    try FileManager.default.createDirectory(atPath: path(name).parent.description, withIntermediateDirectories: true)
    try files.withDescriptor(path(name), flags: [.create, .truncate, .writeOnly], mode: 0o644) {
      (file) throws(SystemError) in try files.writeAll(Array(text.utf8), to: file)
    }
    return url(name)
  }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> URL { try write(SystemPath(name), text) }

  func text(_ name: SystemPath) throws -> String {
    String(decoding: try files.contents(of: path(name)), as: UTF8.self)
  }
  func text(_ name: String) throws -> String { try text(SystemPath(name)) }

  func remove(_ name: String) throws { try files.removeItem(at: path(name)) }

  /// The names of the files.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending("files").description).sorted()
  }

  /// The texts of what several have written, newest first.
  func conflictTexts(_ name: String = "a.txt") async throws -> [String] {
    var texts: [String] = []
    for version in try await versions.unresolvedConflicts(of: url(name)) ?? [] {
      texts.append(String(decoding: try await versions.contents(of: version), as: UTF8.self))
    }
    return texts
  }
}

func withConflictCopies<Result>(
  _ engines: Set<ConflictCopyEngine> = .all, _ body: (ConflictCopySandbox) async throws -> Result
) async throws -> Result {
  // In memory where that's possible: a wait for the disk takes longer than everything else.
  let memory = "/dev/shm"
  let place = FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
  let root = "\(place)/ConflictCopies.\(UUID())"
  try FileManager.default.createDirectory(atPath: root + "/files", withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: root) }
  return try await body(ConflictCopySandbox(SystemPath(root), engines))
}
