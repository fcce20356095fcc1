internal import CSystemShims
internal import Glibc
internal import Synchronization

/// The descriptor of a queue of the kernel, see inotify(7).
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `signals` | itself: an atomic in raw memory | a check whether everything has been received counts no references |
///
/// A child of fork(2) has no queue: it was closed there, so nothing can be watched, and everything that was watched
/// counts as lost.
///
/// `@unchecked Sendable` for the pointer to the atomic.
@safe
final class KernelWatches: WatchKernel, DescriptorOwner, @unchecked Sendable {
  @safe
  struct Signals: ~Copyable {
    /// Whether records have been taken out of the kernel's queue that haven't reached all subscribers concerned: 0 or
    /// 1.
    let handingOut = Atomic<Int>(0)
  }

  package let descriptor: OwnedDescriptor
  /// The number of the descriptor, which is open as long as this object lives.
  let number: Int32
  let signals: UnsafeMutablePointer<Signals>

  /// Opens a queue.
  ///
  /// - Throws: EMFILE when the user has too many queues or the process too many descriptors, with the limit that it is; other errors of
  ///   inotify_init1(2).
  init() throws(SystemError) {
    let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    if number < 0 { throw .noInotifyQueue(errno: Glibc.errno, hasFreeDescriptor: Self.hasFreeDescriptor) }
    self.number = number
    descriptor = OwnedDescriptor(number)
    unsafe signals = .allocate(capacity: 1)
    unsafe signals.initialize(to: Signals())
  }

  deinit {
    unsafe signals.deinitialize(count: 1)
    unsafe signals.deallocate()
  }

  /// Whether this process has the queue; in a forked child it was closed.
  var isOwn: Bool { DescriptorsOfParent.contains(number) }

  /// Makes a watch, or adds to its events.
  ///
  /// - Throws: Errors of inotify_add_watch(2).
  func add(_ path: SystemPath, _ mask: UInt32) throws(SystemError) -> Int32 {
    try checkedCall("inotify_add_watch(2)", path) {
      if !isOwn { return failure(EBADF) }
      return unsafe path.withCString { unsafe inotify_add_watch(number, $0, mask) }
    }
  }

  func remove(_ watch: Int32) {
    // EINVAL when the item is gone, and its watch with it.
    if isOwn { _ = inotify_rm_watch(number, watch) }
  }

  /// Records that are taken out count as being handed out until ``endHandingOut()``.
  func read(_ body: (InotifyRecord) -> Void) {
    if !isOwn { return }
    // As much as there is now: a program that makes changes faster than they're read must not keep the reader here for
    // ever.
    var expected = Int(shim_queued_bytes(number))
    if expected == 0 { return }
    unsafe signals.pointee.handingOut.store(1, ordering: .sequentiallyConsistent)
    if expected < 0 { return body(.overflow) }
    while expected > 0 {
      let count = InotifyRecord.takeBatch(of: expected, from: number, body)
      if count == 0 { break }
      expected -= count
    }
  }

  /// The records that were taken out have reached all subscribers.
  func endHandingOut() { unsafe signals.pointee.handingOut.store(0, ordering: .releasing) }

  private func failure(_ code: Int32) -> Int32 {
    Glibc.errno = code
    return -1
  }

  private static var hasFreeDescriptor: Bool {
    let descriptor = eventfd(0, O_CLOEXEC)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
  }
}

extension SystemError {
  /// The system has no queue of inotify(7) left.
  ///
  /// - Parameters:
  ///   - errno: The error of inotify_init1(2).
  ///   - hasFreeDescriptor: Whether the process may open other descriptors: then it's the limit of the user.
  /// - Returns: The error, which says which limit is reached.
  static func noInotifyQueue(errno: Int32, hasFreeDescriptor: Bool) -> SystemError {
    let advice: String? =
      switch errno {
      case EMFILE where hasFreeDescriptor:
        "The user has as many inotify instances as fs.inotify.max_user_instances allows: raise it with sysctl(8), or end programs that watch files."
      case EMFILE:
        "The process has as many open files as RLIMIT_NOFILE allows: raise it with 'ulimit -n', or close some."
      default: nil
      }
    return SystemError(call: "inotify_init1(2)", errno: errno, advice: advice)
  }
}
