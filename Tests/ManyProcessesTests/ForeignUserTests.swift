import CoordinationWorker
import FileCoordination
import Foundation
import TestSupport
import Testing

/// Actions of other users in the place where processes meet.
@Suite("Other users neither take part nor lead astray", .blocking, .timeLimit(.minutes(5)))
struct ForeignUserTests {
  private static let isRoot = geteuid() == 0
  /// Nobody, usually; any user but root will do.
  private static let stranger = "65534"

  /// A directory that everybody may write to, as `/tmp`.
  private func withSharedDirectory(_ body: (URL) throws -> Void) throws {
    let root = URL(filePath: "/tmp/strangers-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
    defer { removeSurely(root.path) }
    guard chmod(root.path, 0o1777) == 0 else { throw POSIXError(.EPERM) }
    try body(root)
  }

  /// The error of an access in the domain of a socket.
  private func refusal(at socket: URL) -> String {
    let coordinator = FileCoordinator(label: "honest", domain: CoordinationDomain.socket(socket.path))
    let error = #expect(throws: FileCoordinationError.self) {
      try coordinator.blocking.write(socket.appendingPathExtension("file")) { _ in
        Issue.record("granted by a stranger")
      }
    }
    #expect(error?.code == .domainUnreachable)
    return error?.message ?? ""
  }

  private func names(in directory: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
  }

  @Test("A service refuses another user, even if the socket is open to all", .enabled(if: isRoot, "needs another user"))
  func foreignClient() throws {
    let problems = try withSiege { siege in
      guard chmod(siege.socket, 0o666) == 0, chmod(siege.field.root.path, 0o755) == 0 else { throw POSIXError(.EPERM) }
      let stranger = try HelperProcess(["greet", siege.socket, Self.stranger])
      let lines = try stranger.lines()
      #expect(lines.first?.contains("otherUser") == true && lines.first?.contains("another user") == true, "\(lines)")
      #expect(lines.last == "end")
      stranger.finish()
    }
    #expect(problems == [])
  }

  @Test("Another user's socket isn't talked to", .enabled(if: isRoot, "needs another user"))
  func foreignServer() throws {
    try withSharedDirectory { root in
      let socket = root.appending(path: "s")
      let stranger = try HelperProcess(["listen", socket.path, Self.stranger])
      #expect(try stranger.line() == "listening")
      let message = refusal(at: socket)
      #expect(message.contains("(EPERM)") && message.contains("User \(Self.stranger) listens there"), "\(message)")
      stranger.finish()
    }
  }

  @Test(
    "Another user's lock and sessions aren't used", .enabled(if: isRoot, "needs another user"),
    arguments: ["s.lock", "s.sessions"])
  func foreignFiles(name: String) throws {
    try withSharedDirectory { root in
      let planted = root.appending(path: name)
      if name == "s.sessions" {
        try FileManager.default.createDirectory(at: planted, withIntermediateDirectories: false)
      } else {
        _ = FileManager.default.createFile(atPath: planted.path, contents: Data("planted".utf8))
      }
      guard let owner = uid_t(Self.stranger), chown(planted.path, owner, owner) == 0 else { throw POSIXError(.EPERM) }
      let message = refusal(at: root.appending(path: "s"))
      #expect(message.contains("belongs to user \(Self.stranger)"), "\(message)")
      if name == "s.lock" { #expect(try String(contentsOf: planted, encoding: .utf8) == "planted") }
    }
  }

  /// A file of the stranger for a group that it isn't a member of.
  private func withForeignGroup(
    mode: mode_t, verb: String, _ body: (_ report: String?, _ saved: stat) throws -> Void
  ) throws {
    try withSharedDirectory { root in
      let directory = root.appending(path: "private")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
      let file = directory.appending(path: "file")
      try Data("old".utf8).write(to: file)
      guard let owner = uid_t(Self.stranger), chown(directory.path, owner, owner) == 0,
        chown(file.path, owner, 12345) == 0, chmod(file.path, mode) == 0
      else { throw POSIXError(.EPERM) }
      let socket = directory.appending(path: "s").path
      let saver = try HelperProcess(["save-as", socket, file.path, verb, Self.stranger])
      let report = try saver.line()
      saver.finish()
      var status = stat()
      let result = verb == "copy" ? directory.appending(path: "copy") : file
      guard lstat(result.path, &status) == 0 else { throw POSIXError(.ENOENT) }
      try body(report, status)
    }
  }

  @Test(
    "A writer that can't keep a file's group gives its bits to nobody else, by the kernel's own refusal",
    .enabled(if: isRoot, "needs another user"), arguments: [0o640, 0o660, 0o664, 0o604], ["save", "copy"])
  func lostGroups(mode: mode_t, verb: String) throws {
    try withForeignGroup(mode: mode, verb: verb) { report, status in
      #expect(report == "done")
      #expect("\(status.st_gid)" == Self.stranger)
      // Members of the former group are among the others now, and members of the saver's group were among them before.
      let everybody = mode & 0o007 & mode >> 3
      #expect(status.st_mode & 0o7777 == mode & 0o700 | everybody << 3 | everybody)
    }
  }

  @Test(
    "A file without write permission isn't replaced, and the error says what allows it",
    .enabled(if: isRoot, "needs another user"))
  func readOnlyFiles() throws {
    try withForeignGroup(mode: 0o440, verb: "save") { report, status in
      #expect(report?.contains("(EACCES)") == true && report?.contains(".replacesReadOnly") == true, "\(report ?? "")")
      #expect(status.st_size == 3 && status.st_gid == 12345 && status.st_mode & 0o7777 == 0o440)
    }
  }

  @Test("Planted symbolic links aren't followed", arguments: ["s.lock", "s.sessions", "s"])
  func symbolicLinks(name: String) throws {
    try withSharedDirectory { root in
      let target = root.appending(path: "target")
      if name == "s.sessions" {
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
      } else if name == "s.lock" {
        _ = FileManager.default.createFile(atPath: target.path, contents: Data("precious".utf8))
      }
      try FileManager.default.createSymbolicLink(
        atPath: root.appending(path: name).path, withDestinationPath: target.path)
      let message = refusal(at: root.appending(path: "s"))
      let symbols = ["s.lock": "ELOOP", "s.sessions": "ENOTDIR", "s": "ENOTSOCK"]
      #expect(message.contains("(\(symbols[name] ?? ""))"), "\(message)")
      switch name {
      case "s.sessions": #expect(try names(in: target) == [])
      case "s.lock": #expect(try String(contentsOf: target, encoding: .utf8) == "precious")
      default: #expect(!FileManager.default.fileExists(atPath: target.path))
      }
    }
  }
}
