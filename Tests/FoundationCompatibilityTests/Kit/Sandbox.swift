import FileCoordination
import FileCoordinationTesting
import FileVersions
import Foundation
import FoundationCompatibility
import Testing

/// A directory of one test, in a domain of this process that all tests of Apple's names share.
struct Sandbox {
  /// Directories that end in `.pkg` are packages.
  static let domain: CoordinationDomain = {
    var configuration = CoordinationDomain.Configuration()
    configuration.packageExtensions = ["pkg"]
    let domain = CoordinationDomain(configuration)
    NSFileCoordinator.coordinationDomain = domain
    // Changes of these tests without coordination are no news; classes that observe them set this themselves.
    NSFileCoordinator.observesUncoordinatedChanges = false
    NSFileCoordinator.setMisuseHandler { misuse.note($0) }
    return domain
  }()

  /// One store for all tests: where versions are kept is a matter of the process.
  static let versionStore: URL = {
    let url = FileManager.default.temporaryDirectory.appending(path: "NSFileVersionTests.\(UUID())")
    NSFileVersion.setStorage(.directory(url))
    atexit { try? FileManager.default.removeItem(at: Sandbox.versionStore) }
    return url
  }()

  /// The mistakes of all tests.
  static let misuse = Journal()

  let root: URL

  /// Where an item is or shall be.
  func url(_ path: String) -> URL { root.appendingPathComponent(path) }

  /// Writes a file, and the directories around it.
  func write(_ path: String, _ text: String = "old") throws -> URL {
    let url = url(path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
    return url
  }

  /// Blocks until an access waits for an item; gives up at last.
  func awaitWait(for url: URL) {
    let path = url.path
    awaitState { snapshot in
      snapshot.accesses.contains { access in
        access.party.kind == .waitingAccess && access.party.items.contains { $0.path == path }
      }
    }
  }

  /// Blocks until the domain is in a state; gives up at last.
  func awaitState(_ isSatisfied: @escaping @Sendable (CoordinationSnapshot) -> Bool) {
    let event = DispatchSemaphore(value: 0)
    let task = Task.detached {
      try? await Self.domain.waitUntil(isSatisfied)
      event.signal()
    }
    let result = event.wait(timeout: .now() + patience)
    task.cancel()
    #expect(result == .success, "no such state")
  }

  func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }
}

/// Runs a test in a directory of its own.
func withSandbox(_ body: (Sandbox) async throws -> Void) async throws {
  _ = Sandbox.domain
  let root = FileManager.default.temporaryDirectory
    .appendingPathComponent("compatibility-\(UUID().uuidString)").resolvingSymlinksInPath()
  try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: root) }
  try await body(Sandbox(root: root))
}

/// The same for tests that block their thread.
func withSandbox(blocking body: (Sandbox) throws -> Void) throws {
  _ = Sandbox.domain
  let root = FileManager.default.temporaryDirectory
    .appendingPathComponent("compatibility-\(UUID().uuidString)").resolvingSymlinksInPath()
  try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: root) }
  try body(Sandbox(root: root))
}
