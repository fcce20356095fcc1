import Foundation
import TestSupport

/// A running `CoordinationWorker`, ended with its last reference.
final class HelperProcess {
  private let process: ChildProcess

  var identifier: Int32 { process.pid }
  /// Its exit status, or 128 and the signal that ended it, once it has ended.
  var status: Int32 { process.waitUntilExit().status }

  /// Starts a worker.
  ///
  /// - Parameters:
  ///   - arguments: The command of the worker.
  ///   - launcher: The program that starts it, with its arguments, if it isn't started directly.
  ///   - errors: The file for its standard error, if not that of the test.
  /// - Throws: An error when it can't be started.
  init(_ arguments: [String], launcher: [String] = [], errors: URL? = nil) throws {
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let worker = URL(filePath: bundle).deletingLastPathComponent().appending(path: "CoordinationWorker")
    let words = launcher + [worker.path] + arguments
    process = try ChildProcess(
      words[0], Array(words[1...]), input: .pipe, output: .pipe, errors: try errors.map(Self.created) ?? .inherited)
  }

  private static func created(_ file: URL) throws -> ChildProcess.Stream {
    _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    return .handle(try FileHandle(forWritingTo: file))
  }

  func send(_ signal: Int32) { process.send(signal) }

  /// Stops it; on return none of its threads runs any more.
  func stop() {
    process.send(SIGSTOP)
    process.awaitState(WSTOPPED)
  }

  func tell(_ line: String) throws { try process.input?.write(contentsOf: Data("\(line)\n".utf8)) }

  /// The next line that it reports; `nil` when it has ended.
  func line() throws -> String? {
    var bytes: [UInt8] = []
    while let byte = try process.output?.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// All lines that it reports before it ends.
  func lines() throws -> [String] {
    var lines: [String] = []
    while let line = try line() { lines.append(line) }
    return lines
  }

  /// Lets the worker end in its own time, and waits for it.
  func finish() {
    try? process.input?.close()
    process.waitUntilExit()
  }

  func waitUntilExit() { process.waitUntilExit() }

  /// How many descriptors it has.
  func descriptorCount() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count
  }
}
