import Foundation
import TestSupport

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
    try run(location?.path ?? "", arguments, environment: environment)
  }

  /// Runs a program, such as a shell that runs the tool.
  static func run(_ program: String, _ arguments: [String], environment: [String: String]) throws -> Result {
    let process = try ChildProcess(
      program, arguments, environment: environment, input: .nothing, output: .pipe, errors: .pipe)
    // The output to standard error fits into its pipe, so the two can be read one after the other.
    let output = process.output?.readDataToEndOfFile() ?? Data()
    let errors = process.errors?.readDataToEndOfFile() ?? Data()
    return Result(
      status: process.waitUntilExit().status, output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
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

  deinit { removeSurely(url.path) }

  var contents: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path) }
  }
}
