import FileAccessArbiter
import FoundationEssentials
import SystemInterface
import Testing

@testable import FileCoordination

/// A temporary directory with short spellings for the changes of strangers to directories and links.
struct LinkTree: Sendable {
  let files = HostFileSystem()
  /// Canonical.
  let root: String

  func path(_ name: String) -> SystemPath { SystemPath(root + "/" + name) }

  /// The URL of a path in the tree, as spelled.
  func url(_ name: String) throws -> URL { try #require(URL(string: "file://\(root)/\(name)")) }

  func makeDirectory(_ name: String) throws {
    try files.makeDirectory(path(name), at: .workingDirectory, mode: 0o755)
  }

  func makeDirectories(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: root + "/" + name, withIntermediateDirectories: true)
  }

  func makeFile(_ name: String) throws {
    let file = try files.open(path(name), at: .workingDirectory, flags: [.create, .writeOnly], mode: 0o644)
    try files.close(file)
  }

  func link(_ name: String, to target: String) throws {
    try files.makeSymbolicLink(path(name), at: .workingDirectory, target: SystemPath(target))
  }

  /// Replaces a link in one step, as a careful program does.
  func retarget(_ name: String, to target: String) throws {
    try link(name + ".new", to: target)
    try rename(name + ".new", to: name)
  }

  func rename(_ old: String, to new: String, _ mode: RenameMode = .replacing) throws {
    try files.rename(path(old), at: .workingDirectory, to: path(new), at: .workingDirectory, mode)
  }

  func unlink(_ name: String) throws { try files.unlink(path(name), at: .workingDirectory, .file) }

  func removeDirectory(_ name: String) throws {
    try files.unlink(path(name), at: .workingDirectory, .emptyDirectory)
  }
}

/// Makes a tree for the duration of `body` and removes it in every case.
func withLinkTree<Result>(_ body: (LinkTree) async throws -> Result) async throws -> Result {
  try await withTemporaryDirectory { url in
    try await body(
      LinkTree(root: try FileLocation(url, followingLastLink: true, in: HostFileSystem()).path.description))
  }
}

/// The result of resolving a URL: a canonical path, or an error.
enum Answer: Hashable, CustomStringConvertible {
  case path(ItemPath)
  case error(FileCoordinationError.Code, String)

  init(_ resolve: () throws -> ItemPath) {
    do { self = .path(try resolve()) } catch let error as FileCoordinationError {
      self = .error(error.code, error.message)
    } catch { preconditionFailure("an error that isn't ours: \(error)") }
  }

  /// The system's answer now, with nothing remembered.
  init(inFull url: URL, followingLastLink: Bool) {
    self.init { try FileLocation(url, followingLastLink: followingLastLink, in: HostFileSystem()).path }
  }

  init(from cache: ResolutionCache, _ url: URL, followingLastLink: Bool) {
    self.init { try cache.item(for: url, followingLastLink: followingLastLink).path }
  }

  var description: String {
    switch self {
    case .path(let path): path.description
    case .error(let code, let message): "\(code): \(message)"
    }
  }
}
