internal import CSystemShims
internal import Glibc
internal import Synchronization

extension HostFileSystem: NameChangeSource {
  /// inotify(7).
  package func makeNameChangeQueue() -> any NameChangeQueue { HostNameChangeQueue() }
}

/// The queue of the kernel, see inotify(7).
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `events`, `mounts` | atomic; set by the first ``watch(_:)``, closed by `deinit` | others ask ``isEmpty`` meanwhile |
/// | opening | the caller, who serialises all but ``isEmpty`` | |
///
/// A child of fork(2) shares the queue with its parent, and each takes changes away from the other: only one may go on using
/// it, so a child has to exec before it uses paths.
package final class HostNameChangeQueue: NameChangeQueue {
  private let events = Atomic<Int32>(-1)
  private let mounts = Atomic<Int32>(-1)

  package init() {}

  deinit {
    for descriptor in [events.load(ordering: .relaxed), mounts.load(ordering: .relaxed)] where descriptor >= 0 {
      close(descriptor)
    }
  }

  package var isEmpty: Bool {
    let descriptor = events.load(ordering: .acquiring)
    return descriptor < 0 || shim_queued_bytes(descriptor) == 0
  }

  package func watch(_ directory: SystemPath) throws(SystemError) -> NameWatch {
    let descriptor = try openedQueue()
    try checkTellsEverything(directory)
    let mask =
      UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
      | UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW)
    let number = unsafe directory.withCString { unsafe inotify_add_watch(descriptor, $0, mask) }
    if number < 0 { throw SystemError(call: "inotify_add_watch(2)", paths: [directory], errno: Glibc.errno) }
    return NameWatch(rawValue: number)
  }

  package func unwatch(_ watch: NameWatch) {
    // EINVAL when the directory is gone, and its watch with it.
    _ = inotify_rm_watch(events.load(ordering: .relaxed), watch.rawValue)
  }

  package func takeChanges() -> [NameChange] {
    let descriptor = events.load(ordering: .relaxed)
    if descriptor < 0 { return [] }
    var changes: [NameChange] = []
    // As much as there is now: whoever makes changes faster than they're read must not keep the reader here for ever.
    var expected = Int(shim_queued_bytes(descriptor))
    if expected < 0 { return [.everything] }
    while expected > 0 {
      let count = takeBatch(of: expected, from: descriptor, into: &changes)
      if count == 0 { break }
      expected -= count
    }
    return changes
  }

  package func takeMountChange() -> Bool {
    let descriptor = mounts.load(ordering: .relaxed)
    return descriptor >= 0 && shim_mounts_changed(descriptor) != 0
  }
}

// MARK: - Opening and watching

extension HostNameChangeQueue {
  private func openedQueue() throws(SystemError) -> Int32 {
    let present = events.load(ordering: .relaxed)
    if present >= 0 { return present }
    // Mounts first: without them nothing may be watched.
    if mounts.load(ordering: .relaxed) < 0 {
      let table = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
      if table < 0 { throw SystemError(.open, paths: [SystemPath("/proc/self/mountinfo")], errno: Glibc.errno) }
      mounts.store(table, ordering: .relaxed)
    }
    let queue = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    if queue < 0 { throw SystemError(call: "inotify_init1(2)", errno: Glibc.errno) }
    events.store(queue, ordering: .releasing)
    return queue
  }

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

  private func checkTellsEverything(_ directory: SystemPath) throws(SystemError) {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let place = unsafe directory.withCString { unsafe open($0, flags) }
    if place < 0 { throw SystemError(.open, paths: [directory], errno: Glibc.errno) }
    defer { close(place) }
    if !Self.tellingTypes.contains(shim_file_system_type(place)) || shim_folds_case(place) != 0 {
      throw SystemError(call: "inotify_add_watch(2)", paths: [directory], errno: EOPNOTSUPP)
    }
  }
}

// MARK: - Reading

extension HostNameChangeQueue {
  /// Reads a batch and returns its size; a queue that can't be read counts as one in which everything is lost.
  private func takeBatch(of expected: Int, from descriptor: Int32, into changes: inout [NameChange]) -> Int {
    // A buffer too small for one event would be refused; a large one costs more to clear than to read.
    var buffer = [UInt8](repeating: 0, count: min(max(expected, 4096), 65536))
    var count = 0
    repeat {
      count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    } while count < 0 && Glibc.errno == EINTR
    if count < 0 {
      if Glibc.errno != EAGAIN { changes.append(.everything) }
      return 0
    }
    unsafe buffer.withUnsafeBytes { unsafe Self.parse(UnsafeRawBufferPointer(rebasing: $0[..<count]), into: &changes) }
    return count
  }

  /// Parses `struct inotify_event`: watch, mask, cookie, length (4 bytes each), name padded with NULs.
  private static func parse(_ bytes: UnsafeRawBufferPointer, into changes: inout [NameChange]) {
    var offset = 0
    while offset + 16 <= bytes.count {
      let watch = NameWatch(rawValue: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
      let mask = unsafe bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
      let length = Int(unsafe bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
      let name = unsafe bytes[(offset + 16)..<(offset + 16 + length)]
      changes.append(change(of: watch, mask, name: unsafe Array(name.prefix { $0 != 0 })))
      offset += 16 + length
    }
  }

  private static func change(of watch: NameWatch, _ mask: UInt32, name: [UInt8]) -> NameChange {
    if mask & UInt32(IN_Q_OVERFLOW) != 0 { return .everything }
    if mask & UInt32(IN_IGNORED) != 0 { return .ended(watch) }
    if mask & UInt32(IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF) != 0 || name.isEmpty { return .directory(watch) }
    return .name(watch, name)
  }
}
