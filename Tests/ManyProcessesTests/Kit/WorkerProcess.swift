import Foundation

/// A running `CoordinationWorker`, ended with its last reference.
final class WorkerProcess {
  private let process = Process()
  private let input = Pipe()
  let errors: URL

  var identifier: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }
  var status: Int32 { process.terminationStatus }

  init(socket: URL, directory: URL, log: URL, seed: Int) throws {
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    errors = log.appendingPathExtension("errors-\(seed)")
    _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
    process.executableURL = URL(filePath: bundle).deletingLastPathComponent().appending(path: "CoordinationWorker")
    process.arguments = [socket.path, directory.path, log.path, "\(seed)"]
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    // Only the worker's end counts: it sees the end of its input when this one is closed.
    try input.fileHandleForReading.close()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Lets the worker end in its own time, and waits for it.
  func finish() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  func waitUntilExit() { process.waitUntilExit() }
}
