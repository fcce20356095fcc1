import CTestShims
package import Foundation
import Glibc

/// A program that a test has started; it ends with the last reference.
///
/// It gets three descriptors, and no other of those that the test has open at that instant. Foundation's `Process`
/// lists them before it starts a program, and gets the end of the program through a socket that the program inherits: a
/// descriptor that another thread opens in between is inherited too, so that one child keeps the pipes of another open,
/// and both wait for each other. Here the child closes them itself, see posix_spawn_file_actions_addclosefrom_np(3),
/// and its end is determined by waitid(2).
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `ending` | `lock` | the number of a process that has been collected may be that of another |
package final class ChildProcess: @unchecked Sendable {
  /// The source or target of one of its standard streams.
  package enum Stream {
    /// That of the test.
    case inherited
    /// `/dev/null`.
    case nothing
    /// A pipe, whose other end the test has.
    case pipe
    /// A file that's open in the test, which keeps it open.
    case handle(FileHandle)
  }

  /// How it ended.
  package enum Ending: Equatable, Sendable {
    case exit(Int32)
    case signal(Int32)

    /// As the shell reports it: the status, or 128 and the signal.
    package var status: Int32 {
      switch self {
      case .exit(let status): status
      case .signal(let number): 128 + number
      }
    }
  }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package let pid: Int32
  /// The other end of its standard input, if that's a pipe.
  package let input: FileHandle?
  /// The other end of its standard output, if that's a pipe.
  package let output: FileHandle?
  /// The other end of its standard error, if that's a pipe.
  package let errors: FileHandle?
  private let lock = NSLock()
  private var ending: Ending?

  /// Starts a program as a daemon is started: no signal is blocked, and it's in a session of its own.
  ///
  /// So it hasn't the terminal from which the tests may have been started. The first one that it opens is its session's.
  ///
  /// - Parameters:
  ///   - program: Its path, or its name if it's on the `PATH`.
  ///   - arguments: Its arguments.
  ///   - environment: Variables to set besides those of the test.
  ///   - input: Its standard input.
  ///   - output: Its standard output.
  ///   - errors: Its standard error.
  ///   - descriptor: An open file that it gets as descriptor 3, if any.
  /// - Throws: ``Failure`` when it can't be started.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], input: Stream = .inherited,
    output: Stream = .inherited, errors: Stream = .inherited, descriptor: Int32? = nil
  ) throws {
    let streams = try [input, output, errors].enumerated().map { try Ends($1, isInput: $0 == 0) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, ends) in streams.enumerated() {
      if let theirs = ends.theirs { posix_spawn_file_actions_adddup2(&actions, theirs.fileDescriptor, Int32(number)) }
    }
    if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, 3) }
    posix_spawn_file_actions_addclosefrom_np(&actions, descriptor == nil ? 3 : 4)
    pid = try Self.spawn([program] + arguments, environment, &actions)
    (self.input, self.output, self.errors) = (streams[0].ours, streams[1].ours, streams[2].ours)
  }

  private static func spawn(
    _ words: [String], _ environment: [String: String], _ actions: inout posix_spawn_file_actions_t
  ) throws -> Int32 {
    let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    var arguments = words.map { strdup($0) } + [nil]
    var assignments = variables.map { strdup("\($0)=\($1)") } + [nil]
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer {
      (arguments + assignments).forEach { free($0) }
      posix_spawnattr_destroy(&attributes)
    }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    // POSIX_SPAWN_SETSID of <spawn.h> isn't visible in Swift.
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | 0x80))
    var pid: pid_t = 0
    let error = posix_spawnp(&pid, words[0], &actions, &attributes, &arguments, &assignments)
    if error != 0 { throw Failure(description: "couldn't start '\(words[0])': \(String(cString: strerror(error)))") }
    return pid
  }

  deinit { kill() }

  package func send(_ signal: Int32) {
    lock.withLock { if ending == nil { _ = Glibc.kill(pid, signal) } }
  }

  /// Waits until it has ended, on the calling thread.
  @discardableResult
  package func waitUntilExit() -> Ending {
    awaitState(WEXITED)
    return lock.withLock {
      if let ending { return ending }
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      let (code, signal) = (status >> 8 & 0xFF, status & 0x7F)
      let ending = signal == 0 ? Ending.exit(code) : .signal(signal)
      self.ending = ending
      return ending
    }
  }

  /// Waits until it's in one of the states of waitid(2), or has been collected.
  package func awaitState(_ options: Int32) {
    if lock.withLock({ ending != nil }) { return }
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, options | WNOWAIT) < 0, errno == EINTR {}
  }

  /// Ends it and waits until it's gone.
  package func kill() {
    send(SIGKILL)
    waitUntilExit()
  }
}

/// The two ends of a stream.
private struct Ends {
  var ours: FileHandle?
  var theirs: FileHandle?

  init(_ stream: ChildProcess.Stream, isInput: Bool) throws {
    switch stream {
    case .inherited: break
    case .nothing: theirs = .nullDevice
    case .handle(let handle): theirs = handle
    case .pipe:
      var numbers: [Int32] = [-1, -1]
      guard pipe2(&numbers, O_CLOEXEC) == 0 else {
        throw ChildProcess.Failure(description: "no pipe: \(String(cString: strerror(errno)))")
      }
      let ends = numbers.map { FileHandle(fileDescriptor: $0, closeOnDealloc: true) }
      (ours, theirs) = isInput ? (ends[1], ends[0]) : (ends[0], ends[1])
    }
  }
}
