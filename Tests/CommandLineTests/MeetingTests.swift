import Foundation
import TestSupport
import Testing

/// A user with an unused number, who has been root before.
private final class LonelyUser {
  let number = UInt32.random(in: 200_000..<2_000_000)
  private let scratch: Scratch
  /// A directory as a session has one.
  let runtimeDirectory: String
  let file: String
  private var started: [RunningTool] = []

  init() throws {
    scratch = try Scratch()
    runtimeDirectory = scratch.url.appending(path: "run").path
    file = scratch.url.appending(path: "file").path
    try FileManager.default.createDirectory(
      atPath: runtimeDirectory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    guard chmod(scratch.url.path, 0o755) == 0, chown(runtimeDirectory, number, number) == 0 else {
      throw POSIXError(.EPERM)
    }
  }

  deinit {
    for tool in started { tool.kill() }
    for name in names { removeSurely("/tmp/" + name) }
  }

  var usualName: String { "file-coordination-\(number)" }

  /// The names in `/tmp` that begin like the user's place.
  var names: [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/tmp")) ?? []
    return all.filter { $0 == usualName || $0.hasPrefix(usualName + ".") }.sorted()
  }

  /// A process of a session, or one of cron(8), su(1) or the system.
  func start(_ arguments: [String], session: Bool, launcher: [String] = []) throws -> RunningTool {
    let user = ["setpriv", "--reuid", "\(number)", "--regid", "\(number)", "--clear-groups", "env"]
    let directory = session ? ["XDG_RUNTIME_DIR=\(runtimeDirectory)"] : ["-u", "XDG_RUNTIME_DIR"]
    let words = launcher + user + directory + [Tool.location?.path ?? ""] + arguments
    let tool = try RunningTool(URL(filePath: "/usr/bin/env"), words, ["FILE_COORDINATION_DOMAIN": ""])
    started.append(tool)
    return tool
  }

  func hold(session: Bool) throws -> RunningTool {
    let holder = try start(["hold", file], session: session)
    _ = try holder.output.line { $0 == "holding" }
    return holder
  }

  /// Whether another process is kept waiting.
  func isHeld(session: Bool, by holder: RunningTool) throws -> Bool {
    let writer = try start(["write", "--timeout", "2", file, "--", "true"], session: session)
    let status = try writer.end()
    if status == 75 { return writer.errors.text.contains("pid \(holder.pid)") }
    if status != 0 { Issue.record("\(writer.errors.text)") }
    return false
  }

  /// Another user takes a name.
  func squat(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: "/tmp/" + name, withIntermediateDirectories: false)
    guard chown("/tmp/" + name, 65534, 65534) == 0 else { throw POSIXError(.EPERM) }
  }
}

@Suite(
  "All processes of a user meet", .blocking, .enabled(if: geteuid() == 0, "needs users that nobody is"),
  .timeLimit(.minutes(5)))
struct MeetingTests {
  private let user: LonelyUser

  init() throws { user = try LonelyUser() }

  @Test(
    "Processes meet whatever their environment is, also when the directory of the session is removed",
    arguments: [true, false])
  func sessions(isHolderInSession: Bool) throws {
    let holder = try user.hold(session: isHolderInSession)
    #expect(try user.isHeld(session: !isHolderInSession, by: holder))
    #expect(try user.isHeld(session: isHolderInSession, by: holder))
    try FileManager.default.removeItem(atPath: user.runtimeDirectory)
    #expect(try user.isHeld(session: true, by: holder))
    #expect(try user.isHeld(session: false, by: holder))
    #expect(user.names == [user.usualName])
  }

  @Test("Another user who takes the name of the place first doesn't keep them apart, nor by giving it up")
  func squatter() throws {
    try user.squat(user.usualName)
    let holder = try user.hold(session: true)
    #expect(try user.isHeld(session: false, by: holder))
    #expect(user.names == [user.usualName, user.usualName + ".1"])
    let doctor = try user.start(["doctor"], session: false)
    #expect(try doctor.end() == 0, "\(doctor.output.text)")
    #expect(
      doctor.output.text.contains(
        "socket: /tmp/\(user.usualName).1/service.socket, because user 65534 has taken '/tmp/\(user.usualName)'"),
      "\(doctor.output.text)")
    try FileManager.default.removeItem(atPath: "/tmp/" + user.usualName)
    #expect(try user.isHeld(session: false, by: holder))
    // No second one was made.
    #expect(user.names == [user.usualName + ".1"])
  }

  @Test("A service at another name than the usual is found when both exist, and lost by neither")
  func twoPlaces() throws {
    try user.squat(user.usualName)
    let holder = try user.hold(session: false)
    // As if another process had searched while the name was free.
    guard chown("/tmp/" + user.usualName, user.number, user.number) == 0,
      chmod("/tmp/" + user.usualName, 0o700) == 0
    else { throw POSIXError(.EPERM) }
    #expect(try user.isHeld(session: true, by: holder))
    // The next service listens at the first place, and receives the accesses that were held at the second.
    let second = try user.start(["hold", "--read", user.file + "2"], session: true)
    _ = try second.output.line { $0 == "holding" }
    holder.closeInput()
    #expect(try holder.end() == 0, "\(holder.errors.text)")
    #expect(try !user.isHeld(session: false, by: holder))
    let writer = try user.start(["write", "--timeout", "2", user.file + "2", "--", "true"], session: false)
    #expect(try writer.end() == 75)
    #expect(writer.errors.text.contains("pid \(second.pid)"), "\(writer.errors.text)")
  }

  @Test("The doctor names processes of the user that see another /tmp")
  func privateDirectory() throws {
    let directory = try #require(Tool.location).deletingLastPathComponent().path
    // The tool itself may lie in the hidden part: the shell stands in its directory, and puts that back.
    let script = """
      cd "$0" && mount -t tmpfs none /tmp && mkdir -p "$0" && mount --no-canonicalize --bind . "$0" && exec "$@"
      """
    let launcher = ["unshare", "--mount", "sh", "-c", script, directory]
    let probe = try ChildProcess(
      "/usr/bin/env", launcher + ["true"], input: .nothing, output: .nothing, errors: .nothing)
    if probe.waitUntilExit().status != 0 { return }
    let hermit = try user.start(["hold", "/var/empty/file"], session: false, launcher: launcher)
    _ = try hermit.output.line { $0 == "holding" }
    let doctor = try user.start(["doctor"], session: false)
    _ = try doctor.end()
    #expect(doctor.output.text.contains("pid \(hermit.pid) 'filecoord' sees another /tmp"), "\(doctor.output.text)")
  }
}
