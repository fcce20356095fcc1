import CoordinationService
import Foundation
import Glibc
import SystemInterface

/// A process of another user.
enum Outsider {
  /// Says hello, and reports what the service answers.
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

  private static func become(_ user: String) throws {
    guard let number = uid_t(user), setgroups(0, nil) == 0, setgid(number) == 0, setuid(number) == 0 else {
      throw POSIXError(.EPERM)
    }
  }
}
