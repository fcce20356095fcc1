import Glibc
import Synchronization

/// A program that runs while the tool holds an access.
///
/// It shares the terminal, the process group and the open files of the tool. Signals from a terminal reach both;
/// signals from a program to the tool are passed on.
final class ChildProgram: Sendable {
  private let name: String
  /// `nil` when it has ended: its number may belong to another process then.
  private let running: Mutex<pid_t?>

  private init(_ name: String, _ process: pid_t) {
    self.name = name
    running = Mutex(process)
  }

  /// Runs a program to its end.
  ///
  /// - Parameters:
  ///   - words: Its name, looked up in `PATH`, and its arguments.
  ///   - environment: Variables to set besides those of the tool.
  ///   - signals: The signals to pass on to it.
  /// - Returns: The exit code that it ended with.
  /// - Throws: ``Failure`` when it can't be started.
  static func run(
    _ words: [Argument], environment: [String: String], signals: Signals
  ) async throws -> ExitCode {
    let program = ChildProgram(words[0].text, try start(words, environment, signals))
    return await signals.handling({ program.passOn($0) }) {
      await BlockingThread.run { program.wait() }
    }
  }

  /// Lets the programs that are started from now on inherit a descriptor.
  static func hand(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, 0) }

  private static func start(
    _ words: [Argument], _ environment: [String: String], _ signals: Signals
  ) throws(Failure) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (mask, defaults) = (signals.originalMask.set, signals.newlyIgnored.set)
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let strings = words.map { word in word.bytes.map { CChar(bitPattern: $0) } + [0] }
    let name = strings[0]
    var arguments = strings.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    arguments.append(nil)
    var variables = definitions(of: environment)
    defer { for variable in variables { free(variable) } }
    variables.append(nil)
    var process = pid_t()
    let error = posix_spawnp(&process, name, nil, &attributes, arguments, variables)
    if error == 0 { return process }
    throw Failure(
      error == ENOENT ? .notFound : .notExecutable,
      "couldn't run '\(words[0].text)': \(String(cString: strerror(error)))")
  }

  /// The variables of the tool as they are, in whatever encoding, and others in place of those of the same names.
  private static func definitions(of environment: [String: String]) -> [UnsafeMutablePointer<CChar>?] {
    var definitions = environment.map { strdup("\($0)=\($1)") }
    var own = environ
    while let definition = own.pointee {
      let isReplaced = environment.keys.contains { strncmp(definition, "\($0)=", $0.utf8.count + 1) == 0 }
      if !isReplaced { definitions.append(strdup(definition)) }
      own += 1
    }
    return definitions
  }

  private func passOn(_ arrival: Signals.Arrival) {
    if !arrival.isFromProgram { return }
    running.withLock { process in
      if let process { kill(process, arrival.number) }
    }
  }

  /// Blocks until it has ended.
  private func wait() -> ExitCode {
    guard let process = running.withLock({ $0 }) else { preconditionFailure("'\(name)' was waited for twice") }
    var information = siginfo_t()
    // Keeps its number taken until no other thread signals it any more.
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    running.withLock { $0 = nil }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? ExitCode(rawValue: (status >> 8) & 0xFF) : .signal(signal)
  }
}
