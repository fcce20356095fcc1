import Foundation
import Glibc

/// A child process whose lines are read while it runs.
final class RunningTool {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Far longer than anything takes: reached only by a test that fails.
  static let patience: TimeInterval = 60

  let output = LineReader()
  let errors = LineReader()
  private let process = Process()
  private let input = Pipe()
  private let ended = DispatchSemaphore(value: 0)
  private var status: Int32?

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - program: The program.
  ///   - arguments: Its arguments.
  ///   - environment: Variables to set besides those of the test.
  ///   - terminal: What standard error is; a pipe unless stated.
  /// - Throws: An error when it couldn't be started.
  init(
    _ program: URL, _ arguments: [String], _ environment: [String: String], terminal: PseudoTerminal? = nil
  ) throws {
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    process.standardInput = input
    process.standardOutput = output.pipe
    if let terminal { process.standardError = terminal.device } else { process.standardError = errors.pipe }
    process.terminationHandler = { [ended] _ in ended.signal() }
    try process.runWithoutBlockedSignals()
    output.start()
    if let terminal {
      terminal.closeDevice()
      errors.start(terminal.controller)
    } else {
      errors.start()
    }
  }

  var pid: Int32 { process.processIdentifier }

  func signal(_ number: Int32) { Glibc.kill(pid, number) }

  func closeInput() { try? input.fileHandleForWriting.close() }

  /// Waits until it has ended, and its output has been read.
  ///
  /// - Returns: Its exit status, or 128 and the signal that ended it.
  /// - Throws: ``Failure`` when it goes on for ever.
  func end() throws -> Int32 {
    if let status { return status }
    guard ended.wait(timeout: .now() + Self.patience) == .success else {
      throw Failure(description: "it doesn't end; so far: \(output.text)\(errors.text)")
    }
    try output.untilEnd()
    try errors.untilEnd()
    let status = (process.terminationReason == .exit ? 0 : 128) + process.terminationStatus
    self.status = status
    return status
  }

  /// Ends it if it still runs.
  func kill() {
    if process.isRunning { signal(SIGKILL) }
    closeInput()
    _ = try? end()
  }
}

extension Process {
  /// Starts it as a shell would: threads of a test may block signals, and what they start inherits that.
  func runWithoutBlockedSignals() throws {
    var (none, before) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try run()
  }
}

/// Reads lines on a thread of its own, for a test that waits for them.
final class LineReader: @unchecked Sendable {  // All state is guarded by `condition`.
  let pipe = Pipe()
  private let condition = NSCondition()
  private var bytes = Data()
  private var isAtEnd = false

  func start() {
    // The child has its own copy.
    try? pipe.fileHandleForWriting.close()
    start(pipe.fileHandleForReading)
  }

  func start(_ source: FileHandle) {
    Thread.detachNewThread { [self] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = Glibc.read(source.fileDescriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        // A terminal that nobody has open any more fails with EIO.
        if count <= 0 { return append(nil) }
        append(Data(buffer[..<count]))
      }
    }
  }

  private func append(_ data: Data?) {
    condition.lock()
    defer { condition.unlock() }
    if let data { bytes += data } else { isAtEnd = true }
    condition.broadcast()
  }

  /// All that has been read so far.
  var text: String {
    condition.lock()
    defer { condition.unlock() }
    return String(decoding: bytes, as: UTF8.self)
  }

  var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// Waits for a whole line that satisfies a condition, among all that have been and will be read.
  ///
  /// - Parameter isWanted: The condition.
  /// - Returns: The line.
  /// - Throws: `RunningTool.Failure` when the text ends without one, or none comes.
  func line(_ isWanted: (String) -> Bool) throws -> String {
    try wait { text in
      text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init).first(where: isWanted)
    }
  }

  /// Waits until something is found in the text.
  ///
  /// - Parameter find: Looks for it.
  /// - Returns: What was found.
  /// - Throws: `RunningTool.Failure` when the text ends without it, or it doesn't come.
  @discardableResult
  func wait<Result>(_ find: (String) -> Result?) throws -> Result {
    let deadline = Date.now + RunningTool.patience
    condition.lock()
    defer { condition.unlock() }
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let result = find(text) { return result }
      if isAtEnd || !condition.wait(until: deadline) {
        throw RunningTool.Failure(description: "what was awaited didn't come; there was: \(text)")
      }
    }
  }

  func line(containing part: String) throws -> String { try line { $0.contains(part) } }

  func untilEnd() throws {
    let deadline = Date.now + RunningTool.patience
    condition.lock()
    defer { condition.unlock() }
    while !isAtEnd {
      if !condition.wait(until: deadline) { throw RunningTool.Failure(description: "somebody keeps the output open") }
    }
  }
}
