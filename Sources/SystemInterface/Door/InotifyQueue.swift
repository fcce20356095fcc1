internal import CSystemShims
internal import Glibc

/// A queue of the kernel for what happens to watched items, see inotify(7).
///
/// Any thread may call anything at any time. The kernel keeps a bounded number of events (`max_queued_events`).
///
/// A child of fork(2) shares the queue with its parent, and each takes events away from the other.
package final class InotifyQueue: DescriptorOwner {
  /// What to hear of.
  package struct Interest: OptionSet, Hashable, Sendable {
    /// The bits of inotify(7).
    package let rawValue: UInt32

    /// Creates a set of interests.
    ///
    /// - Parameter rawValue: The bits of inotify(7).
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Names in the watched directory come and go.
    package static let names = Self(rawValue: UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO))
    /// Contents or attributes of the watched item, or of what is in the watched directory, change.
    package static let contents = Self(rawValue: UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB))
    /// Attributes of the watched item change, among them how many names it has.
    package static let attributes = Self(rawValue: UInt32(IN_ATTRIB))
    /// The watched item itself is moved, or is gone.
    package static let itself = Self(rawValue: UInt32(IN_MOVE_SELF | IN_DELETE_SELF))
  }

  /// For a ``ReadinessPoller``.
  package let descriptor: OwnedDescriptor

  /// Opens a queue.
  ///
  /// - Throws: EMFILE when the user has too many, `max_user_instances`; other errors of inotify_init1(2).
  package init() throws(SystemError) {
    descriptor = OwnedDescriptor(
      try checkedCall("inotify_init1(2)") { inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) })
  }

  /// Watches an item; a further call for the same one adds interests and gives the same number.
  ///
  /// - Parameters:
  ///   - path: The item. A symbolic link is watched itself.
  ///   - interest: What to hear of.
  ///   - isDirectory: Whether to refuse anything but a directory.
  /// - Returns: The number that its events are told with.
  /// - Throws: ENOSPC when the user has too many watches, `max_user_watches`; EOPNOTSUPP for a directory where others than this
  ///   kernel make changes; EACCES for an item that can't be read; ENOENT; other errors of inotify_add_watch(2).
  package func watch(
    _ path: SystemPath, _ interest: Interest, isDirectory: Bool
  ) throws(SystemError) -> Int32 {
    if isDirectory, interest.contains(.names) { try WatchableFileSystem.check(path) }
    let mask =
      interest.rawValue | UInt32(IN_MASK_ADD | IN_DONT_FOLLOW) | UInt32(IN_EXCL_UNLINK)
      | (isDirectory ? UInt32(IN_ONLYDIR) : 0)
    return try descriptor.checked("inotify_add_watch(2)", path) { number in
      unsafe path.withCString { unsafe inotify_add_watch(number, $0, mask) }
    }
  }

  /// Ends a watch.
  ///
  /// What happened before is told nevertheless.
  ///
  /// - Parameter watch: The number of the watch.
  package func unwatch(_ watch: Int32) {
    // EINVAL when the item is gone, and its watch with it.
    _ = try? descriptor.checked("inotify_rm_watch(2)") { inotify_rm_watch($0, watch) }
  }

  /// Takes out what was in the queue when the call began, and perhaps some more.
  ///
  /// A change is in the queue before the system call that makes it returns.
  ///
  /// - Returns: The records, in the order in which things happened.
  package func takeRecords() -> [InotifyRecord] {
    var records: [InotifyRecord] = []
    _ = try? descriptor.withNumber("read(2)") { number in
      var expected = Int(shim_queued_bytes(number))
      while expected > 0 {
        let count = InotifyRecord.takeBatch(of: expected, from: number) { records.append($0) }
        if count == 0 { break }
        expected -= count
      }
    }
    return records
  }
}

extension InotifyRecord {
  /// Events were lost.
  package var isOverflow: Bool { has(IN_Q_OVERFLOW) }
  /// The last that is heard of the watch.
  package var isEnd: Bool { has(IN_IGNORED) }
  /// The item that the name stands for is a directory.
  package var isDirectory: Bool { has(IN_ISDIR) }
  /// The name is new.
  package var isCreation: Bool { has(IN_CREATE) }
  /// The name is gone.
  package var isRemoval: Bool { has(IN_DELETE) }
  /// The name is gone, and stands elsewhere.
  package var isDeparture: Bool { has(IN_MOVED_FROM) }
  /// The name stands for an item from elsewhere.
  package var isArrival: Bool { has(IN_MOVED_TO) }
  /// Contents or attributes may be others.
  package var isChange: Bool { has(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB) }
  /// The watched item itself was moved.
  package var isOwnMove: Bool { has(IN_MOVE_SELF) }
}
