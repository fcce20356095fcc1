import FileCoordination
import Foundation
import Glibc

/// A process that serves a domain, holds a file, and forks a child as C code in it might.
enum ForkingWorker {
  private typealias Fork = @convention(c) () -> pid_t
  private struct NoFork: Error {}

  /// Reports how a child ended that called exit(3).
  static func end(_ file: URL, in domain: CoordinationDomain) throws {
    try FileCoordinator(label: "parent", domain: domain).blocking.write(file) { _ in }
    let child = try fork { exit(7) }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    Worker.report("exited with \(status >> 8 & 0xff)")
    while readLine() != nil {}
  }

  /// Holds the file, and reports the number of a child that goes on, once it runs: its first work is done then.
  static func linger(_ file: URL, in domain: CoordinationDomain) throws {
    try FileCoordinator(label: "parent", domain: domain).blocking.write(file) { _ in
      let pipe = Pipe()
      let end = pipe.fileHandleForWriting.fileDescriptor
      let child = try fork {
        _ = write(end, "1", 1)
        while true { pause() }
      }
      _ = try pipe.fileHandleForReading.read(upToCount: 1)
      Worker.report("\(child)")
      while readLine() != nil {}
    }
  }

  /// Swift doesn't offer fork(2).
  private static func fork(_ body: () -> Never) throws -> pid_t {
    guard let symbol = dlsym(nil, "fork") else { throw NoFork() }
    let child = unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 { body() }
    return child
  }
}
