internal import CSystemShims
internal import Glibc

/// A subscription for code that waits with a ``ReadinessPoller`` of its own.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `descriptor` | the kernel, see eventfd(2) | the thread that hands records out makes it readable, the thread that takes them ends that |
///
/// Any thread may call anything at any time.
package final class InotifyQueue: DescriptorOwner {
  /// For a ``ReadinessPoller``: readable when there are records.
  package let descriptor: OwnedDescriptor
  private let subscription: InotifySubscription

  /// Subscribes to events of items.
  ///
  /// - Throws: EMFILE when the user has too many queues or the process too many descriptors; EAGAIN when it has too many threads; other errors of
  ///   inotify_init1(2), eventfd(2) and pthread_create(3).
  package init() throws(SystemError) {
    let signal = OwnedDescriptor(try checkedCall("eventfd(2)") { eventfd(0, O_CLOEXEC | O_NONBLOCK) })
    descriptor = signal
    subscription = try InotifySubscription(.items) { Self.raise(signal) }
    let queue = subscription.queue
    try queue.step { (state) throws(SystemError) in try queue.startPump(&state) }
  }

  /// Watches an item; a further call for the same one adds interests and gives the same number.
  ///
  /// - Parameters:
  ///   - path: The item. A symbolic link is watched itself.
  ///   - interest: The events to receive.
  ///   - isDirectory: Whether to refuse anything but a directory.
  /// - Returns: The number in its events.
  /// - Throws: See ``InotifySubscription/watch(_:_:isDirectory:)``.
  package func watch(
    _ path: SystemPath, _ interest: InotifyInterest, isDirectory: Bool
  ) throws(SystemError) -> Int32 {
    try subscription.watch(path, interest, isDirectory: isDirectory)
  }

  /// Takes all records of changes before the call.
  ///
  /// - Returns: The records, in the order of events.
  package func takeRecords() -> [InotifyRecord] {
    // First: records that are handed out from now on make it readable again.
    var count: UInt64 = 0
    _ = try? descriptor.checked("read(2)") { unsafe read($0, &count, 8) }
    return subscription.takeRecords()
  }

  private static func raise(_ signal: OwnedDescriptor) {
    var one: UInt64 = 1
    _ = try? signal.checked("write(2)") { unsafe write($0, &one, 8) }
  }
}
