import FoundationEssentials
import Glibc

/// Processes of the same user that see another `/tmp`: those of services with a private one and of containers don't meet others.
struct ForeignRoom {
  let pid: Int32
  let name: String

  /// How many are looked for at most.
  private static let countMax = 3

  /// Looks through all processes of the user that may be looked at.
  ///
  /// - Complexity: O(number of processes).
  static func find() -> [ForeignRoom] {
    guard let own = identity(of: "/tmp") else { return [] }
    var found: [ForeignRoom] = []
    for entry in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] where found.count < countMax {
      guard let pid = Int32(entry), isOwn(pid), let theirs = identity(of: "/proc/\(pid)/root/tmp"), theirs != own
      else { continue }
      let name = (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) ?? ""
      found.append(ForeignRoom(pid: pid, name: String(name.prefix { $0 != "\n" })))
    }
    return found
  }

  /// Whether `/tmp` is a part of another file system that was put there for this process and its like, as systemd.exec(5) does for
  /// `PrivateTmp=`.
  static var isOwnDirectoryPrivate: Bool {
    let mounts = (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? ""
    // proc_pid_mountinfo(5): the fourth field is what is mounted, the fifth where; what comes last hides the others.
    let last = mounts.split(separator: "\n").map { $0.split(separator: " ") }.last { $0.count > 4 && $0[4] == "/tmp" }
    return last.map { $0[3] != "/" } ?? false
  }

  private struct Identity: Equatable {
    let device: dev_t
    let file: ino_t
  }

  private static func identity(of path: String) -> Identity? {
    var status = stat()
    return stat(path, &status) == 0 ? Identity(device: status.st_dev, file: status.st_ino) : nil
  }

  private static func isOwn(_ pid: Int32) -> Bool {
    var status = stat()
    return stat("/proc/\(pid)", &status) == 0 && status.st_uid == geteuid()
  }
}
