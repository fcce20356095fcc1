import Foundation
import Glibc
import TestSupport

/// A child process whose lines are read while it runs.
final class RunningTool {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Far longer than anything takes: reached only by a test that fails.
  static let patience: TimeInterval = 60

  let output = LineReader()
  let errors = LineReader()
  private let process: ChildProcess
  private let ended = DispatchSemaphore(value: 0)
  private var status: Int32?

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - program: The program.
  ///   - arguments: Its arguments.
  ///   - environment: Variables to set besides those of the test.
  ///   - terminal: The terminal for standard error; a pipe unless stated.
  ///   - screen: The terminal for standard input and output; pipes unless stated.
  /// - Throws: An error when it couldn't be started.
  init(
    _ program: URL, _ arguments: [String], _ environment: [String: String], terminal: PseudoTerminal? = nil,
    screen: PseudoTerminal? = nil
  ) throws {
    let ends = screen.map { ChildProcess.Stream.handle($0.device) } ?? .pipe
    process = try ChildProcess(
      program.path, arguments, environment: environment, input: ends, output: ends,
      errors: terminal.map { .handle($0.device) } ?? .pipe)
    terminal?.closeDevice()
    screen?.closeDevice()
    if let source = screen?.controller ?? process.output { output.start(source) }
    if let source = terminal?.controller ?? process.errors { errors.start(source) }
    Thread.detachNewThread { [process, ended] in
      process.waitUntilExit()
      ended.signal()
    }
  }

  var pid: Int32 { process.pid }

  func signal(_ number: Int32) { process.send(number) }

  /// Stops it; on return none of its threads runs any more.
  func stop() {
    signal(SIGSTOP)
    process.awaitState(WSTOPPED)
  }

  func closeInput() { try? process.input?.close() }

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
    let status = process.waitUntilExit().status
    self.status = status
    return status
  }

  /// Ends it if it still runs.
  func kill() {
    signal(SIGKILL)
    closeInput()
    _ = try? end()
  }
}

/// Reads lines on a thread of its own, for a test that waits for them.
final class LineReader: @unchecked Sendable {  // All state is guarded by `condition`.
  private let condition = NSCondition()
  private var bytes = Data()
  private var isAtEnd = false

  func start(_ source: FileHandle) {
    Thread.detachNewThread { [self] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = Glibc.read(source.fileDescriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        // A terminal that no process has open any more fails with EIO.
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

  /// Waits until the text has a certain part.
  ///
  /// - Parameter find: Searches for it.
  /// - Returns: The part that was found.
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
