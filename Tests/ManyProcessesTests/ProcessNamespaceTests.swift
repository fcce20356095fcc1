import FileCoordination
import Foundation
import TestSupport
import Testing

/// A namespace of process identifiers, with the right to make one.
private enum ProcessNamespace {
  static let launcher = ["/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]

  static let isAllowed: Bool =
    (try? ChildProcess(launcher[0], Array(launcher[1...]) + ["/bin/true"], errors: .nothing))?.waitUntilExit()
    == .exit(0)
}

/// Processes that have other numbers for each other, as in containers that share a directory.
@Suite(
  "Processes of another namespace of process identifiers", .blocking, .timeLimit(.minutes(4)),
  .enabled(if: ProcessNamespace.isAllowed, "only root may make namespaces"))
struct ProcessNamespaceTests {
  private func withPlace(_ body: (_ socket: String, _ file: URL) throws -> Void) throws {
    let root = URL(filePath: "/tmp/namespaces-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
    defer { removeSurely(root.path) }
    try body(root.appending(path: "s").path, root.appending(path: "file"))
  }

  /// The process that `unshare` has started, by its number here.
  private func child(of helper: HelperProcess) throws -> pid_t {
    let path = "/proc/\(helper.identifier)/task/\(helper.identifier)/children"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return try #require(pid_t(text.trimmingCharacters(in: .whitespaces)))
  }

  /// Whether none of its threads runs any more; a process that isn't its parent gets no event of that.
  private func isStopped(_ process: pid_t) throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").allSatisfy { thread in
      let line = try String(contentsOfFile: "/proc/\(process)/task/\(thread)/stat", encoding: .utf8)
      return line.drop { $0 != ")" }.hasPrefix(") T")
    }
  }

  @Test("A holder there keeps others waiting, is named by its number here, and its end frees what it held")
  func holder() throws {
    try withPlace { socket, file in
      let domain = CoordinationDomain.socket(socket)
      // This process serves.
      #expect(try domain.processes().count == 1)
      let helper = try HelperProcess(["hold", socket, file.path], launcher: ProcessNamespace.launcher)
      #expect(try helper.line() == "holding")
      let holder = try child(of: helper)
      let coordinator = FileCoordinator(label: "test", domain: domain)
      let error = #expect(throws: FileCoordinationError.self) {
        try coordinator.blocking.write(file, deadlines: .within(.milliseconds(50))) { _ in Issue.record("granted") }
      }
      #expect(error?.blockers.first?.process.hasPrefix("pid \(holder) ") == true, "\(error?.message ?? "")")
      kill(holder, SIGKILL)
      try coordinator.blocking.write(file) { _ in }
      helper.finish()
    }
  }

  @Test("A server there that is stopped is named by its number here within the deadline, and its end ends nothing")
  func server() throws {
    try withPlace { socket, file in
      let helper = try HelperProcess(["serve", socket], launcher: ProcessNamespace.launcher)
      #expect(try helper.line() == "serving")
      let server = try child(of: helper)
      let coordinator = FileCoordinator(label: "test", domain: CoordinationDomain.socket(socket))
      try coordinator.blocking.write(file) { _ in }
      kill(server, SIGSTOP)
      // The kernel tells only its parent, which is in the other namespace, that a process is stopped.
      while try !isStopped(server) { usleep(1000) }
      let error = #expect(throws: FileCoordinationError.self) {
        try coordinator.blocking.write(
          file.deletingLastPathComponent().appending(path: "d/other"), deadlines: .within(.seconds(1))
        ) { _ in Issue.record("granted") }
      }
      #expect(error?.message.contains("pid \(server)") == true, "\(error?.message ?? "")")
      kill(server, SIGKILL)
      try coordinator.blocking.write(file) { _ in }
      helper.finish()
    }
  }

  @Test("A process that's served from outside of its namespace waits and is granted like others")
  func client() async throws {
    let root = URL(filePath: "/tmp/namespaces-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
    defer { removeSurely(root.path) }
    let (socket, file) = (root.appending(path: "s").path, root.appending(path: "file"))
    let domain = CoordinationDomain.socket(socket)
    let helper = try await FileCoordinator(label: "test", domain: domain).write(file) { _ in
      let helper = try HelperProcess(["hold", socket, file.path], launcher: ProcessNamespace.launcher)
      try await domain.waitUntil { state in
        state.accesses.contains { $0.party.label == "holder" && !$0.isGranted }
      }
      return helper
    }
    #expect(try helper.line() == "holding")
    helper.finish()
    #expect(helper.status == 0)
  }
}
