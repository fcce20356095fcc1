import FileCoordination
import Foundation
import SystemInterface

@testable import FileVersions

/// A directory with files, a store of its own, and a domain of its own.
struct Fixture: Sendable {
  let root: URL
  let domain = CoordinationDomain(CoordinationDomain.Configuration())
  let storage: VersionStorage
  let versions: FileVersions

  init(_ root: URL) {
    self.root = root
    storage = .directory(root.appending(path: "store"))
    versions = FileVersions(domain: domain, storage: storage, deviceName: "desk", author: "me")
  }

  var directories: Received { Received() }

  /// The operations that are under way in the store; directories for the next one are none.
  func steps() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.path + "/store/steps").filter { !$0.hasPrefix("spare.") }
  }

  func inode(_ url: URL) throws -> UInt64 {
    try HostFileSystem().status(of: SystemPath(url.path), at: .workingDirectory, links: .noFollow).identity.inode
  }

  /// The contents of the versions of a file, newest first.
  func texts(_ file: URL) async throws -> [String] {
    var texts: [String] = []
    for version in try await versions.versions(of: file) ?? [] {
      texts.append(String(decoding: try await versions.contents(of: version), as: UTF8.self))
    }
    return texts
  }

  @discardableResult
  func write(_ name: String, _ text: String, atomically: Bool = false) throws -> URL {
    let url = root.appending(path: name)
    try Data(text.utf8).write(to: url, options: atomically ? .atomic : [])
    return url
  }

  func text(_ url: URL) throws -> String { String(decoding: try Data(contentsOf: url), as: UTF8.self) }
}

func withFixture(_ body: (Fixture) async throws -> Void) async throws {
  // Each version waits for the disk several times; here there's none.
  let memory = "/dev/shm"
  let place = FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
  let root = URL(filePath: place).resolvingSymlinksInPath()
    .appending(path: "FileVersionsTests.\(UUID())")
  try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: root) }
  try await body(Fixture(root))
}

/// A URL that a closure passes on.
actor Received {
  private(set) var url: URL?

  func set(_ url: URL) { self.url = url }
}
