import CoordinationWorker
import FileCoordination
import Foundation
import SystemInterface
import TestSupport
import Testing

@Suite("A forked child of the serving process takes nothing with it", .blocking, .timeLimit(.minutes(5)))
struct ForkedChildTests {
  private func withPlace(_ body: (URL) throws -> Void) throws {
    let root = URL(filePath: "/tmp/forks-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
    defer { removeSurely(root.path) }
    try body(root)
  }

  /// The open files of a process, as the kernel names them.
  private func descriptors(of process: Int32) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
    }
  }

  @Test("Its exit() returns, and the service goes on")
  func exit() throws {
    try withPlace { root in
      let socket = root.appending(path: "s").path
      let parent = try HelperProcess(["fork-end", socket, root.appending(path: "file").path])
      #expect(try parent.line() == "exited with 7")
      let domain = CoordinationDomain.socket(socket)
      #expect(try domain.processes().first(where: \.isService)?.processIdentifier == parent.identifier)
      parent.finish()
      #expect(parent.status == 0)
      let coordinator = FileCoordinator(label: "other", domain: domain)
      try coordinator.blocking.write(root.appending(path: "file")) { _ in }
    }
  }

  @Test("When the process is killed, what it held is free, and others serve")
  func death() throws {
    try withPlace { root in
      let socket = root.appending(path: "s").path
      let file = root.appending(path: "file")
      let parent = try HelperProcess(["fork-linger", socket, file.path])
      let child = try #require(Int32(try parent.line() ?? ""))
      defer { kill(child, SIGKILL) }
      let sessions = root.appending(path: "s.sessions")
      let session = try #require(FileManager.default.contentsOfDirectory(atPath: sessions.path).first)
      let lock = LockFile(SystemPath(sessions.appending(path: session).path))
      #expect(try lock.tryLock() == nil)
      parent.send(SIGKILL)
      #expect(parent.status == 128 + SIGKILL)
      // A child that had the parent's page would hold the file open, and so its lock: each new service would wait for the session.
      #expect(try lock.tryLock() != nil)
      let kinds = ["inotify", "mountinfo", "socket"]
      #expect(!(try descriptors(of: child)).contains { name in kinds.contains { name.contains($0) } })
      let coordinator = FileCoordinator(label: "other", domain: CoordinationDomain.socket(socket))
      try coordinator.blocking.write(file) { _ in }
      #expect(kill(child, 0) == 0)
    }
  }
}
