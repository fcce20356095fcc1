#if !canImport(ObjectiveC)
  internal import Foundation
  internal import SystemInterface

  /// What is mounted where; see proc_pid_mounts(5).
  struct MountedVolumes {
    private struct Volume {
      let path: String
      let type: String
    }

    private let volumes: [Volume]

    /// - Parameter table: The text of `/proc/self/mounts`.
    init(_ table: String) {
      volumes = table.split(separator: "\n").compactMap { line in
        let fields = line.split(separator: " ")
        return fields.count < 3 ? nil : Volume(path: Self.decoded(fields[1]), type: String(fields[2]))
      }
    }

    static var current: MountedVolumes {
      let table = try? HostFileSystem().contents(of: SystemPath("/proc/self/mounts"))
      return MountedVolumes(String(decoding: table ?? [], as: UTF8.self))
    }

    /// Spaces and the like are written as `\040`.
    private static func decoded(_ field: Substring) -> String {
      var bytes: [UInt8] = []
      var rest = Array(field.utf8)[...]
      while let byte = rest.popFirst() {
        let digits = rest.prefix(3)
        if byte == UInt8(ascii: "\\"), digits.count == 3,
          let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
        {
          bytes.append(value)
          rest = rest.dropFirst(3)
        } else {
          bytes.append(byte)
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    private static let networkTypes: Set = [
      "9p", "afs", "ceph", "cifs", "coda", "fuse.davfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
      "gfs2", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs",
    ]

    private static let inventedTypes: Set = [
      "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
      "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "ramfs", "securityfs", "sysfs", "tracefs",
    ]

    /// Directories of other machines.
    var networkDirectories: [URL] {
      volumes.filter { Self.networkTypes.contains($0.type) }.map { URL(fileURLWithPath: $0.path, isDirectory: true) }
    }

    /// What's in the root directory, without what the kernel invents, what is gone with the next start, and other machines' volumes.
    func localDirectories(of members: [String]) -> [URL] {
      let others = volumes.filter { Self.networkTypes.contains($0.type) || Self.inventedTypes.contains($0.type) }
      let excluded = Set(others.map(\.path)).union(["/dev", "/proc", "/run", "/sys"])
      return members.map { "/" + $0 }.filter { !excluded.contains($0) }.sorted().map { URL(fileURLWithPath: $0) }
    }
  }
#endif
