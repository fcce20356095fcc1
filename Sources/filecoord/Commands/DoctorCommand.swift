import FileCoordination
import FoundationEssentials
import Glibc

extension Command {
  static let doctor = Command(
    name: "doctor",
    summary: "Check whether processes can coordinate here, and print the remedy if not.",
    details: """
      Prints the domain and the reason for it, the place where its processes meet, the time of one access, the permissions of
      the meeting place, the processes of the user that see another /tmp and so can't meet this one, the limits of the
      system, and whether a directory can be watched. Ends with 0 if all is well, and with 1 if something is wrong.
      """,
    examples: [
      Example(line: "filecoord doctor", explanation: "Checks the default domain."),
      Example(line: "filecoord doctor --domain socket:/run/build/files", explanation: "Checks another meeting place."),
    ],
    run: { session in
      let report = HealthReport()
      await Checkup(session, report).run()
      return report.isHealthy ? .success : .failure
    })
}

/// The checks, in the order in which they're printed.
private struct Checkup {
  private let session: Session
  private let report: HealthReport
  /// The name of the domain.
  private let name: String
  /// The path of its socket, if it has one.
  private let socket: String?

  init(_ session: Session, _ report: HealthReport) {
    self.session = session
    self.report = report
    name = session.invocation.text(.domain) ?? Self.variable(Session.domainVariable) ?? "user"
    // The reason for its absence is reported where one is needed.
    socket = (try? session.domain.meetingPath()) ?? nil
  }

  /// The value of an environment variable; an empty one counts as none.
  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  func run() async {
    versions()
    domain()
    await reachability()
    directory()
    separateProcesses()
    limits()
  }

  private func versions() {
    var system = utsname()
    uname(&system)
    let release = withUnsafeBytes(of: &system.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    report.good("filecoord \(Help.version), Linux \(release)")
  }

  private func domain() {
    let reason: String
    if session.invocation.has(.domain) {
      reason = "named by --domain"
    } else if Self.variable(Session.domainVariable) != nil {
      reason = "named by \(Session.domainVariable)"
    } else {
      reason = "the default; neither --domain nor \(Session.domainVariable) names another"
    }
    report.good("domain: \(name.onOneLine), \(reason)")
    if let socket {
      report.good("socket: \(socket.onOneLine)" + whyThere(socket))
    } else if name == "process" {
      report.note(
        "this domain is one process only, so no process waits for another",
        advice: "unset \(Session.domainVariable), or pass --domain user")
    }
  }

  /// Where the user's domain meets isn't plain.
  private func whyThere(_ socket: String) -> String {
    let usual = "/tmp/file-coordination-\(geteuid())"
    if name != "user" || Session.contains(usual, socket) { return "" }
    var status = stat()
    // It became free when it wasn't needed any more.
    guard lstat(usual, &status) == 0 else { return ", because '\(usual)' was taken when it was needed" }
    return ", because user \(status.st_uid) has taken '\(usual)'"
  }

  /// Processes that see another `/tmp` are in another domain, and can't notice that.
  private func separateProcesses() {
    if name != "user" { return }
    let advice =
      "set PrivateTmp=no for the service, share /tmp with the container, or give all of them one "
      + "\(Session.domainVariable)=socket:PATH that all of them see"
    if ForeignRoom.isOwnDirectoryPrivate {
      report.note("/tmp is a private one: processes that see another /tmp don't meet this one", advice: advice)
    }
    for room in ForeignRoom.find() {
      report.note(
        "pid \(room.pid) '\(room.name.onOneLine)' sees another /tmp: files that both use aren't coordinated",
        advice: advice)
    }
  }

  /// One access to a file that no other process uses, and that doesn't have to exist.
  private func reachability() async {
    do {
      let file = URL.temporaryDirectory.appending(path: "filecoord-doctor-\(getpid())")
      let coordinator = session.coordinator()
      let start = ContinuousClock.now
      try await session.waiting(coordinator) { _ in
        try await coordinator.write(file) { _ in }
      }
      let microseconds = Int(start.duration(to: .now) / .microseconds(1))
      report.good("reachable: one access took \(microseconds) µs, including the first connection")
      let domain = session.domain
      let processes = try await BlockingThread.run { Result { try domain.processes() } }.get()
      let server = processes.first(where: \.isService)
      let isOwn = server?.processIdentifier == getpid()
      let name = server.map { isOwn ? "this process, for the moment" : "pid \($0.processIdentifier) '\($0.name)'" }
      report.good(
        "served by \(name ?? "a process that does nothing else"); processes that take part: \(processes.count)")
    } catch {
      report.bad("no access", advice: Failure(error).message)
    }
  }

  /// A user that can write the directory of the socket can take its place.
  private func directory() {
    guard let directory = socket.map({ URL(filePath: $0).deletingLastPathComponent().path }) else { return }
    var status = stat()
    if stat(directory, &status) != 0 {
      return report.bad(
        "directory \(directory.onOneLine): \(String(cString: strerror(errno)))", advice: "make it, with mode 700")
    }
    let mode = String(status.st_mode & 0o7777, radix: 8)
    if status.st_uid != geteuid() {
      report.bad(
        "directory \(directory.onOneLine) belongs to user \(status.st_uid), not to \(geteuid())",
        advice: "ask its owner or root to remove it, or name another place")
    } else if status.st_mode & 0o022 != 0 {
      report.bad(
        "directory \(directory.onOneLine) can be written by others (mode \(mode))",
        advice: "chmod 700 '\(directory.onOneLine)', or name another place")
    } else {
      report.good("directory \(directory.onOneLine): yours, mode \(mode)")
    }
    parentDirectory(of: directory)
  }

  /// A user that can rename the directory can take its place too.
  private func parentDirectory(of directory: String) {
    let parent = URL(filePath: directory).deletingLastPathComponent().path
    var status = stat()
    guard stat(parent, &status) == 0, status.st_mode & 0o022 != 0, status.st_mode & S_ISVTX == 0 else { return }
    report.bad(
      "directory \(parent.onOneLine) lets others replace its entries: it has no sticky bit",
      advice: "chmod +t '\(parent.onOneLine)'")
  }

  private func limits() {
    var files = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    SystemLimit.openFiles.check(Int(clamping: files.rlim_cur), report)
    for limit in SystemLimit.inotify { limit.check(limit.value, report) }
    checkWatching()
  }

  /// Watches a directory: other programs of the user may have taken all queues or watches.
  private func checkWatching() {
    let queue = inotify_init1(CInt(O_CLOEXEC))
    if queue < 0 {
      return report.note(
        "no queue of inotify(7) is left: \(String(cString: strerror(errno)))",
        advice: "raise fs.inotify.max_user_instances with sysctl(8), or end programs that watch files")
    }
    defer { close(queue) }
    if inotify_add_watch(queue, "/", UInt32(IN_CREATE)) < 0 {
      return report.note(
        "no watch of inotify(7) is left: \(String(cString: strerror(errno)))",
        advice: "raise fs.inotify.max_user_watches with sysctl(8), or end programs that watch files")
    }
    report.good("a directory can be watched")
  }
}
