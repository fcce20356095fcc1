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
      if DescriptorsOfParent.remove(descriptor) { close(descriptor) }
    }
  }

  package var isEmpty: Bool {
    let descriptor = events.load(ordering: .acquiring)
    return descriptor < 0 || shim_queued_bytes(descriptor) == 0
  }

  package func watch(_ directory: SystemPath) throws(SystemError) -> NameWatch {
    let descriptor = try openedQueue()
    try WatchableFileSystem.check(directory)
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
      DescriptorsOfParent.insert(table)
      mounts.store(table, ordering: .relaxed)
    }
    let queue = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    if queue < 0 { throw SystemError(call: "inotify_init1(2)", errno: Glibc.errno) }
    DescriptorsOfParent.insert(queue)
    events.store(queue, ordering: .releasing)
    return queue
  }
}

// MARK: - Reading

extension HostNameChangeQueue {
  /// Reads a batch and returns its size; a queue that can't be read counts as one in which everything is lost.
  private func takeBatch(of expected: Int, from descriptor: Int32, into changes: inout [NameChange]) -> Int {
    InotifyRecord.takeBatch(of: expected, from: descriptor) { changes.append(Self.change(of: $0)) }
  }

  private static func change(of record: InotifyRecord) -> NameChange {
    let watch = NameWatch(rawValue: record.watch)
    if record.has(IN_Q_OVERFLOW) { return .everything }
    if record.has(IN_IGNORED) { return .ended(watch) }
    if record.has(IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF) || record.name.isEmpty { return .directory(watch) }
    return .name(watch, record.name)
  }
}
