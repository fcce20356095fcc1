import FoundationEssentials
import Glibc

/// Processes of the same user that see another `/tmp`: those of services with a private one and of containers don't meet others.
struct ForeignRoom {
  let pid: Int32
  let name: String

  /// How many are searched for at most.
  private static let countMax = 3

  /// Searches all processes of the user that may be inspected.
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

  /// Whether `/tmp` was put there for this process and its like alone, as systemd.exec(5) does for `PrivateTmp=`.
  static var isOwnDirectoryPrivate: Bool {
    isPrivate(mounts: (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? "")
  }

  /// Searches for `/tmp` in a table of mounts.
  ///
  /// A directory of another file system doesn't have to be private: `/tmp` may be a subvolume, or mounted from somewhere else for all.
  ///
  /// - Parameter mounts: In the format of proc_pid_mountinfo(5): the fourth field is the mounted directory, the fifth
  ///   the place; the last mount hides the others.
  /// - Returns: Whether others have another `/tmp`.
  static func isPrivate(mounts: String) -> Bool {
    let last = mounts.split(separator: "\n").map { $0.split(separator: " ") }.last { $0.count > 4 && $0[4] == "/tmp" }
    return last?[3].split(separator: "/").contains { $0.hasPrefix("systemd-private-") } ?? false
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
