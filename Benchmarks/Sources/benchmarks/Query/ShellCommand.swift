import Foundation
import Glibc

/// A command as people type it.
struct ShellCommand: Sendable {
  /// The program that has to be there.
  let program: String
  let line: String

  /// Whether a program is found by the shell.
  static func isInstalled(_ program: String) -> Bool { system("command -v \(program) >/dev/null 2>&1") == 0 }

  /// How long the command takes, in nanoseconds, with the start of the shell.
  func time() throws -> Double {
    let start = monotonicNanoseconds()
    let status = system("{ \(line); } >/dev/null 2>&1")
    let duration = Double(monotonicNanoseconds() - start)
    if status != 0 { throw BenchmarkFailure("'\(line)' ended with status \(status)") }
    return duration
  }
}

/// A program that goes on and writes lines.
///
/// `@unchecked Sendable` because one thread uses it at a time.
final class LineProgram: @unchecked Sendable {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer = Data()
  /// How long to wait for a line, in milliseconds.
  private static let patience: Int32 = 60_000

  var identifier: Int32 { process.processIdentifier }

  /// Starts a program, whose lines to standard error can come as well.
  init(_ path: String, _ arguments: [String], mergesErrors: Bool = false) throws {
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = mergesErrors ? output : FileHandle.nullDevice
    try process.run()
    try input.fileHandleForReading.close()
  }

  deinit { kill() }

  /// Waits for a line.
  func line() throws -> String {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer = Data(buffer[(end + 1)...]) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      var event = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
      let isReadable = poll(&event, 1, Self.patience) > 0
      let more = isReadable ? output.fileHandleForReading.availableData : Data()
      if more.isEmpty { throw BenchmarkFailure("'\(process.arguments?.first ?? "")' says nothing any more") }
      buffer.append(more)
    }
  }

  /// Says something, and waits for the answer.
  func ask(_ question: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data("\(question)\n".utf8))
    return try line()
  }

  func kill() {
    if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}
