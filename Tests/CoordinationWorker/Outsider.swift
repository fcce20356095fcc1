import CoordinationService
import FileCoordination
import Foundation
import Glibc
import SystemInterface

/// A process of another user.
enum Outsider {
  /// Says hello, and reports the answer of the service.
  static func greet(socket: String, user: String) throws {
    try become(user)
    let client = try RawClient(connectingTo: socket)
    try client.tell(.hello(RawClient.hello()))
    while let frame = try client.next() {
      if case .refused(let reason, let explanation) = frame { Worker.report("\(reason): \(explanation)") }
    }
    Worker.report("end")
  }

  /// Listens where a service is expected.
  static func listen(socket: String, user: String) throws {
    try become(user)
    let listener = try LocalListener(binding: LocalAddress(SystemPath(socket)))
    Worker.report("listening")
    while readLine() != nil {}
    listener.close(removingName: true)
  }

  /// Saves a file, or copies it to `copy` beside it, and reports the outcome.
  static func save(_ file: URL, by verb: String, in domain: CoordinationDomain, user: String) throws {
    try become(user)
    let coordinator = FileCoordinator(label: "saver", domain: domain)
    do {
      if verb == "copy" {
        try coordinator.blocking.copy(file, to: file.deletingLastPathComponent().appending(path: "copy"))
      } else {
        try coordinator.blocking.replaceContents(of: file, with: Data("new".utf8))
      }
      Worker.report("done")
    } catch { Worker.report("\(error)") }
    while readLine() != nil {}
  }

  private static func become(_ user: String) throws {
    guard let number = uid_t(user), setgroups(0, nil) == 0, setgid(number) == 0, setuid(number) == 0 else {
      throw POSIXError(.EPERM)
    }
  }
}
