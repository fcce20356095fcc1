internal import CSystemShims
internal import Glibc

/// Which file systems inotify(7) hears of every change on.
enum WatchableFileSystem {
  /// The file systems whose every change of a name goes through this kernel and is reported by inotify(7), by statfs(2)
  /// type.
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
    if let descriptor = directory.openDirectory { return try check(descriptor.rawValue, directory) }
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let place = unsafe directory.withCString { unsafe open($0, flags) }
    if place < 0 { throw SystemError(.open, paths: [directory], errno: Glibc.errno) }
    defer { close(place) }
    try check(place, directory)
  }

  private static func check(_ place: Int32, _ directory: SystemPath) throws(SystemError) {
    if !tellingTypes.contains(shim_file_system_type(place)) || shim_folds_case(place) != 0 {
      throw SystemError(call: "inotify_add_watch(2)", paths: [directory], errno: EOPNOTSUPP)
    }
  }
}

extension SystemPath {
  /// The beginning of a path that leads through a descriptor of this process, see proc_pid_fd(5).
  private static let descriptors = Array("/proc/self/fd/".utf8)

  /// Makes a path that leads to an open directory, whatever its present name.
  package init(openDirectory: FileDescriptor) { self.init("/proc/self/fd/\(openDirectory.rawValue)/.") }

  /// The descriptor that a path of an open directory leads through; `nil` for any other path.
  package var openDirectory: FileDescriptor? {
    guard bytes.starts(with: Self.descriptors), bytes.suffix(2).elementsEqual("/.".utf8) else { return nil }
    let digits = bytes[Self.descriptors.count...].dropLast(2)
    guard digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
    return Int32(String(decoding: digits, as: UTF8.self)).map(FileDescriptor.init(rawValue:))
  }
}
