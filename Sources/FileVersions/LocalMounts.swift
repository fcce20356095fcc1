internal import SystemInterface

/// The mounts on which stores may be looked for although no file at hand is there: they answer without another machine or a program.
///
/// A system call on a volume whose server is gone, or whose program (FUSE) was stopped, may never return. So the table of mounts alone says
/// which volumes are asked. Types that nobody knows aren't, unless they are on a block device.
struct LocalMounts {
  /// Where they are, in the order of the table.
  let paths: [SystemPath]
  /// Volumes that may not answer.
  private let silent: [SystemPath]

  /// Chooses among the mounts of a process.
  ///
  /// - Complexity: O(mounts), and O(mounts) for each one that may not answer.
  init(_ mounts: [MountTable.Mount]) {
    // Of several at one path the last one is on top.
    var onTop: [SystemPath: MountTable.Mount] = [:]
    for mount in mounts { onTop[mount.path] = mount }
    // The way to what is mounted inside of such a volume leads through it. That to the root has no names.
    let silent = onTop.values.filter { $0.path != .root && Self.mayNotAnswer($0) }.map(\.path)
    self.silent = silent
    var seen: Set<SystemPath> = []
    paths = mounts.compactMap { mount in
      guard onTop[mount.path] == mount, Self.mayHaveStore(mount), seen.insert(mount.path).inserted else { return nil }
      return silent.contains { mount.path.isInside($0) } ? nil : mount.path
    }
  }

  /// Whether what's at a path is on a volume that answers, and the way there leads through no other.
  func answer(at path: SystemPath) -> Bool { !silent.contains { path == $0 || path.isInside($0) } }

  /// File systems without a block device that are this machine's own.
  private static let localTypes: Set = ["bcachefs", "btrfs", "overlay", "ramfs", "tmpfs", "ubifs", "zfs"]

  /// File systems that the kernel invents: none has a store, and ways through them may be taken.
  private static let inventedTypes: Set = [
    "autofs", "bdev", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs",
    "efivarfs",
    "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "rootfs", "securityfs", "selinuxfs", "sysfs", "tracefs",
  ]

  /// Those of a program (FUSE), or shared with other machines, although they are on a block device.
  private static let sharedTypes: Set = ["fuseblk", "gfs2", "ocfs2"]

  private static func mayHaveStore(_ mount: MountTable.Mount) -> Bool {
    !sharedTypes.contains(mount.type) && !mount.type.hasPrefix("fuse.")
      && (mount.hasBlockDevice || localTypes.contains(mount.type)) && !inventedTypes.contains(mount.type)
  }

  private static func mayNotAnswer(_ mount: MountTable.Mount) -> Bool {
    !mayHaveStore(mount) && !inventedTypes.contains(mount.type)
  }
}
