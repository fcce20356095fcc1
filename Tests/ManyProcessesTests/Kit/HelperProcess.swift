import Foundation

/// A running `CoordinationWorker`, ended with its last reference.
final class HelperProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  var identifier: Int32 { process.processIdentifier }
  var status: Int32 { process.terminationStatus }

  /// Starts a worker.
  ///
  /// - Parameters:
  ///   - arguments: What it's to do.
  ///   - launcher: The program that starts it, with its arguments, if it isn't started directly.
  ///   - errors: The file for what it writes to its standard error, if not that of the test.
  /// - Throws: An error when it can't be started.
  init(_ arguments: [String], launcher: [String] = [], errors: URL? = nil) throws {
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let worker = URL(filePath: bundle).deletingLastPathComponent().appending(path: "CoordinationWorker")
    let words = launcher + [worker.path] + arguments
    process.executableURL = URL(filePath: words[0])
    process.arguments = Array(words[1...])
    process.standardInput = input
    process.standardOutput = output
    if let errors {
      _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
      process.standardError = try FileHandle(forWritingTo: errors)
    }
    try process.run()
    // Only the worker's ends count: it sees the end of its input when this one is closed, and the test that of its output.
    try input.fileHandleForReading.close()
    try output.fileHandleForWriting.close()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  func tell(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

  /// The next line that it reports; `nil` when it has ended.
  func line() throws -> String? {
    var bytes: [UInt8] = []
    while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
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
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  func waitUntilExit() { process.waitUntilExit() }

  /// How many descriptors it has.
  func descriptorCount() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count
  }
}
