import FoundationEssentials
import Glibc

/// Where the processes of a domain meet, found by the documented rules.
struct MeetingPoint {
  /// `user`, `process`, `socket:PATH`, or something that names none.
  let domain: String
  /// The path of the socket, if the domain has one.
  let socket: String?
  /// Why it's there, where that isn't plain.
  let reason: String?

  init(domain: String) {
    self.domain = domain
    if domain.hasPrefix("socket:/") {
      socket = String(domain.dropFirst("socket:".count))
      reason = nil
    } else if domain == "user" {
      let flaw = Self.flawOfSessionDirectory
      let directory =
        flaw == nil
        ? "\(Self.variable("XDG_RUNTIME_DIR") ?? "")/file-coordination" : "/tmp/file-coordination-\(geteuid())"
      socket = "\(directory)/service.socket"
      reason = flaw
    } else {
      socket = nil
      reason = nil
    }
  }

  /// The directory that the socket is in.
  var directory: String? {
    guard let socket, let slash = socket.lastIndex(of: "/") else { return nil }
    return slash == socket.startIndex ? "/" : String(socket[..<slash])
  }

  /// The value of an environment variable; an empty one counts as none.
  static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Why `XDG_RUNTIME_DIR` doesn't count; `nil` if it does.
  private static var flawOfSessionDirectory: String? {
    guard let path = variable("XDG_RUNTIME_DIR") else { return "XDG_RUNTIME_DIR isn't set" }
    if !path.hasPrefix("/") { return "XDG_RUNTIME_DIR isn't an absolute path" }
    var status = stat()
    if stat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR { return "XDG_RUNTIME_DIR is no directory" }
    if status.st_uid != geteuid() { return "XDG_RUNTIME_DIR belongs to user \(status.st_uid)" }
    return status.st_mode & 0o077 == 0 ? nil : "XDG_RUNTIME_DIR is open to others"
  }
}
