import FileCoordination
import Foundation
import Glibc
import TestSupport
import Testing

/// A directory with `one`, and `other`, where the same is mounted.
private enum MountedTwice {
  private struct MountingFailed: Error {}

  static func withDirectory(_ body: (URL) throws -> Void) throws {
    let root = URL(filePath: "/tmp/mounted-twice-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    defer { removeSurely(root.path) }
    let (one, other) = (root.appending(path: "one"), root.appending(path: "other"))
    for directory in [one, other] {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }
    guard mount(one.path, other.path, "none", UInt(MS_BIND), nil) == 0 else { throw MountingFailed() }
    defer { umount2(other.path, Int32(MNT_DETACH)) }
    try body(root)
  }

  /// Only root may mount, and not in every container.
  static let isAllowed: Bool = (try? withDirectory { _ in }) != nil
}

/// Two processes and one directory that's mounted at two places, which takes the right to mount.
@Suite(
  "A directory that is mounted twice", .blocking, .timeLimit(.minutes(4)),
  .enabled(if: MountedTwice.isAllowed, "only root may mount"))
struct MountedTwiceTests {
  @Test("Another process waits at the other mount where files are known by identity", arguments: ["there", "new"])
  func otherMount(name: String) throws {
    try MountedTwice.withDirectory { root in
      try Data("text".utf8).write(to: root.appending(path: "one/there"))
      let socket = root.appending(path: "s").path
      var configuration = CoordinationDomain.Configuration()
      configuration.coordinatesFilesByIdentity = true
      let domain = CoordinationDomain.socket(socket, configuration)
      let helper = try HelperProcess(["hold-by-identity", socket, root.appending(path: "one/\(name)").path])
      #expect(try helper.line() == "holding")
      let coordinator = FileCoordinator(
        label: "test", domain: domain, deadlines: AccessDeadlines(waitingForAccesses: .milliseconds(20)))
      let error = #expect(throws: FileCoordinationError.self) {
        try coordinator.blocking.write(root.appending(path: "other/\(name)")) { _ in Issue.record("granted") }
      }
      #expect(error?.code == .timedOut)
      #expect(error?.blockers.map(\.label) == ["holder"])
      #expect(try coordinator.blocking.read(root.appending(path: "other/another")) { _ in true })
      helper.finish()
      try coordinator.blocking.write(root.appending(path: "other/\(name)")) { _ in }
    }
  }
}
