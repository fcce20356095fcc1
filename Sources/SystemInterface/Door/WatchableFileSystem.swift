internal import CSystemShims
internal import Glibc

/// Which file systems inotify(7) hears of every change on.
enum WatchableFileSystem {
  /// The file systems whose every change of a name goes through this kernel and is told by inotify(7), by statfs(2) type.
  ///
  /// Not on the list: network file systems and FUSE, which others change too; proc(5) and its like, whose names come and go
  /// by themselves; file systems that take different names for the same.
  private static let tellingTypes: Set<UInt32> = [
    0xEF53,  // ext2, ext3, ext4
    0x5846_5342,  // XFS
    0x9123_683E,  // Btrfs
    0xF2F5_2010,  // F2FS
    0x0102_1994,  // tmpfs
    0x8584_58F6,  // ramfs
    0x794C_7630,  // overlayfs
    0x7371_7368,  // SquashFS
    0xE0F5_E1E2,  // EROFS
  ]

  /// - Throws: EOPNOTSUPP for a directory in which names may change without a word; errors of open(2).
  static func check(_ directory: SystemPath) throws(SystemError) {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let place = unsafe directory.withCString { unsafe open($0, flags) }
    if place < 0 { throw SystemError(.open, paths: [directory], errno: Glibc.errno) }
    defer { close(place) }
    if !tellingTypes.contains(shim_file_system_type(place)) || shim_folds_case(place) != 0 {
      throw SystemError(call: "inotify_add_watch(2)", paths: [directory], errno: EOPNOTSUPP)
    }
  }
}
