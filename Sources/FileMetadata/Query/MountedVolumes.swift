internal import SystemInterface

/// What is mounted where; see proc_pid_mounts(5).
struct MountedVolumes {
  private struct Volume {
    let path: SystemPath
    let type: String
  }

  private let volumes: [Volume]

  /// - Parameter table: The bytes of `/proc/self/mounts`.
  init(_ table: some Sequence<UInt8>) {
    volumes = Array(table).split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: " "))
      if fields.count < 3 { return nil }
      return Volume(path: SystemPath(mountField: fields[1]), type: String(decoding: fields[2], as: UTF8.self))
    }
  }

  static var current: MountedVolumes {
    MountedVolumes((try? HostFileSystem().contents(of: SystemPath("/proc/self/mounts"))) ?? [])
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
  var networkDirectories: [SystemPath] { volumes.filter { Self.networkTypes.contains($0.type) }.map(\.path) }

  /// What's in the root directory, without what the kernel invents, what is gone with the next start, and other machines' volumes.
  func localDirectories(of members: [SystemPath]) -> [SystemPath] {
    let others = volumes.filter { Self.networkTypes.contains($0.type) || Self.inventedTypes.contains($0.type) }
    let excluded = Set(others.map(\.path)).union(["/dev", "/proc", "/run", "/sys"].map { SystemPath($0) })
    return members.map { SystemPath.root.appending($0) }.filter { !excluded.contains($0) }.sorted()
  }
}
