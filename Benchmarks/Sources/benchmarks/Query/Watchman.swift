import Foundation
import Glibc

/// A watchman server of our own, asked over its socket.
///
/// `@unchecked Sendable` because one cell is measured at a time, and only that uses it.
final class Watchman: @unchecked Sendable {
  private let server: LineProgram
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var number = 0

  var identifier: Int32 { server.identifier }

  /// Starts a server.
  ///
  /// - Parameter directory: Where its files go; it needs a short path.
  /// - Throws: ``BenchmarkFailure`` when it doesn't answer within ten seconds.
  init(in directory: String) throws {
    let path = "\(directory)/w\(UInt16.random(in: 0 ... .max))"
    server = try LineProgram(
      "/usr/bin/env",
      [
        "watchman", "--foreground", "--no-save-state", "--sockname=\(path)", "--logfile=\(path).log",
        "--statefile=\(path).state", "--pidfile=\(path).pid",
      ])
    var connection: Int32 = -1
    for _ in 0..<1_000 where connection < 0 {
      connection = Self.connect(to: path)
      if connection < 0 { usleep(10_000) }
    }
    if connection < 0 { throw BenchmarkFailure("watchman doesn't listen at \(path)") }
    descriptor = connection
    // For any question: without an answer for so long, there's none.
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func end() { server.kill() }

  private static func connect(to path: String) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if result == 0 { return descriptor }
    close(descriptor)
    return -1
  }

  /// Sends a command in JSON, and waits for a line: its answer, unless there are subscriptions.
  @discardableResult
  func ask(_ command: String) throws -> [UInt8] {
    let bytes = Array("\(command)\n".utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw BenchmarkFailure("watchman is gone") }
    let answer = try line()
    // Only a short answer can be an error.
    if answer.count < 1_000 {
      let text = String(decoding: answer, as: UTF8.self)
      if text.contains("\"error\"") { throw BenchmarkFailure("watchman: \(text)") }
    }
    return answer
  }

  func line() throws -> [UInt8] {
    var searched = 0
    var chunk = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer.removeSubrange(...end) }
        return Array(buffer[..<end])
      }
      searched = buffer.count
      let count = read(descriptor, &chunk, chunk.count)
      if count <= 0 { throw BenchmarkFailure("watchman doesn't answer") }
      buffer += chunk[..<count]
    }
  }

  /// Asks for names below a directory.
  @discardableResult
  func query(_ root: String, _ what: String) throws -> [UInt8] {
    try ask("[\"query\",\"\(root)\",{\(what),\"fields\":[\"name\"]}]")
  }
}
