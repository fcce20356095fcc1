internal import Glibc

/// A process, distinguished from a later one that got the same number.
///
/// - Note: proc_pid_stat(5), field 22.
package struct ProcessIdentity: Hashable, Sendable {
  /// The number of the process, which is reused after its end.
  package let pid: Int32

  /// When it started, in clock ticks since the computer was started.
  package let startTime: UInt64

  /// Names a process, for example one that another process reported.
  ///
  /// - Parameters:
  ///   - pid: The number of the process.
  ///   - startTime: When it started, in clock ticks since the computer was started.
  package init(pid: Int32, startTime: UInt64) {
    self.pid = pid
    self.startTime = startTime
  }

  /// Finds the process that has a number now.
  ///
  /// The result is `nil` when there is none, or proc(5) isn't mounted or hides it.
  ///
  /// - Parameter pid: The number of the process.
  package init?(of pid: Int32) {
    guard let status = ProcessStatus(of: pid) else { return nil }
    self.init(pid: pid, startTime: status.startTime)
  }

  /// The running process.
  ///
  /// Asked each time: it changes in a child of fork(2). Where proc(5) isn't mounted the start time is 0.
  package static var current: ProcessIdentity {
    let pid = HostProcess.processIdentifier
    return ProcessIdentity(of: pid) ?? ProcessIdentity(pid: pid, startTime: 0)
  }

  /// Whether the process runs, or is stopped; not when it has ended and only waits for its parent to notice.
  package var isAlive: Bool {
    guard let status = ProcessStatus(of: pid) else { return false }
    return status.startTime == startTime && !status.hasEnded
  }
}

extension ProcessIdentity {
  /// The state of a process, as the letter that `ps` shows: `R` runs, `S` and `D` wait, `T` and `t` are stopped by a
  /// signal or a debugger, `Z` has ended.
  ///
  /// - Parameter pid: The number of the process.
  /// - Returns: The letter of the process's first thread; `nil` when there is no such process.
  package static func runState(of pid: Int32) -> Character? {
    ProcessStatus(of: pid)?.state
  }

  /// Whether a process lives and doesn't run, because of a signal, a terminal or a debugger.
  ///
  /// - Parameter pid: The number of the process.
  /// - Returns: Whether its first thread is stopped; `false` when there's no such process.
  package static func isStopped(_ pid: Int32) -> Bool {
    runState(of: pid).map { $0 == "T" || $0 == "t" } ?? false
  }

  /// Whether a process has a controlling terminal, from which Control-Z stops it, and reading or writing in the background.
  ///
  /// That's not whether its input or output is a terminal: its session counts, which children inherit. `/dev/tty` would
  /// show the same only about the process that opens it, and with a descriptor.
  ///
  /// - Parameter pid: The number of the process.
  /// - Returns: Whether it has one; `nil` when there is no such process, or proc(5) isn't mounted or hides it.
  package static func hasTerminal(_ pid: Int32) -> Bool? { ProcessStatus(of: pid)?.hasTerminal }

  /// The name of a process, for messages.
  ///
  /// A process that is just being started may still have the name of its parent's thread.
  ///
  /// - Parameter pid: The number of the process.
  /// - Returns: The name in `ps`, complete where proc(5) shows only the first 15 bytes; `nil` when there is no such
  ///   process.
  package static func name(of pid: Int32) -> String? {
    guard let short = ProcessStatus.contents("comm", of: pid)?.prefix(while: { $0 != UInt8(ascii: "\n") }) else {
      return nil
    }
    // The command line is the one that the process was given, or has written there; it counts if it only goes on where
    // the short name ends.
    let program = (ProcessStatus.contents("cmdline", of: pid) ?? []).prefix { $0 != 0 }
    let long = SystemPath(bytes: program).lastComponent.bytes
    return String(decoding: long.starts(with: short) ? long[...] : short, as: UTF8.self)
  }
}

/// The fields of proc_pid_stat(5) that we use.
struct ProcessStatus: Hashable {
  /// Field 3, of the first thread.
  let state: Character
  /// Whether field 7 isn't zero.
  let hasTerminal: Bool
  /// Field 20.
  let threadCount: Int
  /// Field 22.
  let startTime: UInt64

  /// Whether no thread runs any more.
  ///
  /// The first thread of a process can end before the others, and is a zombie until they have ended.
  var hasEnded: Bool { "ZXx".contains(state) && threadCount <= 1 }

  /// Parses the contents of the file; `nil` when they are something else.
  ///
  /// The second field is the name in parentheses, and may itself contain parentheses, spaces and line feeds.
  init?(parsing contents: [UInt8]) {
    guard let end = contents.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = contents[(end + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
      .map { String(decoding: $0, as: UTF8.self) }
    guard fields.count > 19, fields[0].count == 1, let state = fields[0].first,
      let terminal = Int(fields[4]), let threadCount = Int(fields[17]), let startTime = UInt64(fields[19])
    else { return nil }
    self.state = state
    hasTerminal = terminal != 0
    self.threadCount = threadCount
    self.startTime = startTime
  }

  init?(of pid: Int32) {
    guard let contents = Self.contents("stat", of: pid) else { return nil }
    self.init(parsing: contents)
  }

  static func contents(_ name: String, of pid: Int32) -> [UInt8]? {
    guard pid > 0 else { return nil }
    return try? HostFileSystem().contents(of: SystemPath("/proc/\(pid)/\(name)"))
  }
}
