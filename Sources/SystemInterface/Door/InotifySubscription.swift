internal import CSystemShims
internal import Glibc
internal import Synchronization

/// The means by which a subscriber of a shared queue is notified.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `bell` | itself | rung when there's something to do |
/// | `probe` | itself: atomics in raw memory | read without a lock or a reference count |
///
/// `@unchecked Sendable` for the pointer to the atomics.
@safe
final class InotifySeat: @unchecked Sendable {
  /// The words that show whether a subscriber has received everything.
  @safe
  struct Probe: ~Copyable {
    /// The kernel's queue.
    let descriptor: Int32
    /// Whether there are records to take: 0 or 1.
    let filled = Atomic<Int>(0)
    private let signals: UnsafeMutablePointer<KernelWatches.Signals>

    init(_ kernel: KernelWatches) {
      descriptor = kernel.number
      unsafe signals = kernel.signals
    }

    /// Whether the subscriber has received all records of changes before the call, which costs one system call.
    ///
    /// A record is in the kernel's queue, then with the thread that hands it out, then with the subscriber. Each begins
    /// before the one before it ends, and they are checked in this order.
    var isEmpty: Bool {
      if shim_queued_bytes(descriptor) != 0 { return false }
      if unsafe signals.pointee.handingOut.load(ordering: .acquiring) != 0 { return false }
      return filled.load(ordering: .acquiring) == 0
    }
  }

  let id: SharedWatches.SubscriberID
  let bell = Doorbell()
  let wantsMounts = Atomic(false)
  /// Called when there are records, by the thread that handed them out.
  let onRecords: (@Sendable () -> Void)?
  let probe: UnsafeMutablePointer<Probe>

  init(_ id: SharedWatches.SubscriberID, _ kernel: KernelWatches, onRecords: (@Sendable () -> Void)?) {
    self.id = id
    self.onRecords = onRecords
    unsafe probe = .allocate(capacity: 1)
    unsafe probe.initialize(to: Probe(kernel))
  }

  deinit {
    unsafe probe.deinitialize(count: 1)
    unsafe probe.deallocate()
  }

  func ring() {
    bell.ring()
    onRecords?()
  }
}

/// Watches items through the queue that this process has for a purpose, as if the queue were the subscriber's own.
///
/// Any thread may call anything at any time; one waits. At most ``SharedWatches/recordCountMax`` records are kept for a
/// subscriber, which is notified when it has lost some by that.
///
/// A child of fork(2) has no queue: all of its watches count as lost, and the inherited subscription can watch nothing.
package final class InotifySubscription: Sendable {
  let queue: SharedInotifyQueue
  let seat: InotifySeat

  /// Subscribes to a queue, which is opened for the first.
  ///
  /// - Parameters:
  ///   - purpose: The purpose.
  ///   - tellsMounts: Whether to report mounts and unmounts too, where proc(5) is there to show them.
  /// - Throws: EMFILE when the user has too many queues or the process too many descriptors; other errors of inotify_init1(2).
  package convenience init(_ purpose: SharedInotifyQueue.Purpose, tellsMounts: Bool = false) throws(SystemError) {
    try self.init(purpose, onRecords: nil)
    if tellsMounts { queue.tellMounts(to: seat) }
  }

  init(_ purpose: SharedInotifyQueue.Purpose, onRecords: (@Sendable () -> Void)?) throws(SystemError) {
    (queue, seat) = try SharedInotifyQueue.open(purpose) { InotifySeat($0, $1, onRecords: onRecords) }
  }

  deinit { queue.close(seat) }

  /// Watches an item; a further call for the same one adds interests and gives the same number.
  ///
  /// - Parameters:
  ///   - path: The item. A symbolic link is watched itself.
  ///   - interest: The events to receive.
  ///   - isDirectory: Whether to refuse anything but a directory.
  /// - Returns: The number in its events.
  /// - Throws: ENOSPC when the user has too many watches, `max_user_watches`; EOPNOTSUPP for a directory where others than this
  ///   kernel make changes; EACCES for an item that can't be read; ENOENT; other errors of inotify_add_watch(2).
  package func watch(
    _ path: SystemPath, _ interest: InotifyInterest, isDirectory: Bool
  ) throws(SystemError) -> Int32 {
    if isDirectory, interest.contains(.names) { try WatchableFileSystem.check(path) }
    let mask =
      interest.rawValue | UInt32(IN_MASK_ADD | IN_DONT_FOLLOW) | UInt32(IN_EXCL_UNLINK)
      | (isDirectory ? UInt32(IN_ONLYDIR) : 0)
    return try queue.watch(path, mask, of: seat)
  }

  /// Ends a watch.
  ///
  /// Earlier events are reported nevertheless, then the end.
  ///
  /// - Parameter number: The number of the watch.
  package func unwatch(_ number: Int32) { queue.unwatch(number, of: seat) }

  /// Takes all records of changes before the call.
  ///
  /// A change is in the queue before the system call that makes it returns.
  ///
  /// - Returns: The records, in the order of events.
  package func takeRecords() -> [InotifyRecord] { queue.takeRecords(of: seat) }

  /// Whether there are records of changes before the call.
  func hasRecords() -> Bool { queue.hasRecords(for: seat) }

  /// Whether something was mounted or unmounted since the last call, if that's reported.
  package func takeMountChange() -> Bool { queue.takeMountChange(of: seat) }

  /// Blocks until there may be something to take, or ``wake()`` is called.
  ///
  /// - Throws: Errors of epoll_create1(2), epoll_wait(2) and pthread_create(3).
  package func wait() throws(SystemError) { try queue.wait(for: seat) }

  /// Ends the wait that goes on, or else the next one.
  package func wake() { queue.wake(seat) }
}
