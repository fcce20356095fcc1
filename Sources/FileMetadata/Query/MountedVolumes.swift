internal import SystemInterface

/// The mounts of the system, and the parts of them that a search goes through.
struct MountedVolumes {
  private let mounts: [MountTable.Mount]

  init(_ mounts: [MountTable.Mount]) { self.mounts = mounts }

  static var current: MountedVolumes { MountedVolumes(MountTable.mounts) }

  private static let networkTypes: Set = [
    "9p", "afs", "ceph", "cifs", "coda", "fuse.davfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
    "gfs2", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs",
  ]

  private static let inventedTypes: Set = [
    "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
    "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "ramfs", "securityfs", "sysfs", "tracefs",
  ]

  /// Directories of other machines.
  var networkDirectories: [SystemPath] { mounts.filter { Self.networkTypes.contains($0.type) }.map(\.path) }

  /// The members of the root directory, without file systems that the kernel invents, files that are gone with the next
  /// start, and other machines' volumes.
  func localDirectories(of members: [SystemPath]) -> [SystemPath] {
    let others = mounts.filter { Self.networkTypes.contains($0.type) || Self.inventedTypes.contains($0.type) }
    let excluded = Set(others.map(\.path)).union(["/dev", "/proc", "/run", "/sys"].map { SystemPath($0) })
    return members.map { SystemPath.root.appending($0) }.filter { !excluded.contains($0) }.sorted()
  }
}
