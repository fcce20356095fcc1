import Foundation

/// The built `filecoord`, run as a child process whose output goes to pipes.
struct Tool {
  struct Result {
    let status: Int32
    let output: String
    let errors: String
  }

  /// Runs the tool beside this test bundle.
  ///
  /// - Parameters:
  ///   - arguments: The command line, without the name of the tool.
  ///   - environment: Variables to set besides those of the test.
  /// - Returns: How it ended, and everything that it wrote.
  /// - Throws: An error when it couldn't be started.
  static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Result {
    let process = Process()
    process.executableURL = location
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try process.runWithoutBlockedSignals()
    // What goes to standard error fits into its pipe, so the two can be read one after the other.
    let outputData = output.fileHandleForReading.readDataToEndOfFile()
    let errorData = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: String(decoding: outputData, as: UTF8.self),
      errors: String(decoding: errorData, as: UTF8.self))
  }

  /// The built tool, beside this test bundle.
  static let location = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    .map { URL(filePath: $0).deletingLastPathComponent().appending(path: "filecoord") }
}

/// A directory that is removed when the last reference to it goes.
final class Scratch {
  let url: URL

  init() throws {
    url = URL.temporaryDirectory.appending(path: "command-line-tests-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var contents: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path) }
  }
}
