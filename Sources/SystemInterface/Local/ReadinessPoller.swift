internal import CSystemShims
internal import Glibc

/// Notifies one thread of those of many descriptors that are ready.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | watched descriptors | the kernel, see epoll(7) | others add and remove while the thread waits |
/// | `signal` | the kernel, see eventfd(2) | a wake-up that comes before the wait isn't lost |
///
/// One thread calls ``wait(into:until:)``; any thread may call the rest at any time. Level-triggered: a ready
/// descriptor is reported again by each wait until it has been read or written, unless it was to be reported once.
package final class ReadinessPoller: Sendable {
  /// The kinds of readiness to report.
  package struct Readiness: OptionSet, Hashable, Sendable {
    /// The events of the kernel.
    package let rawValue: UInt32

    /// Creates a set of kinds.
    ///
    /// - Parameter rawValue: The events of the kernel.
    package init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    /// A read, or an accept, brings something; this includes the end that the peer makes by shutdown(2).
    package static let readable = Readiness(rawValue: 0x2001)  // EPOLLIN | EPOLLRDHUP
    /// A write takes something.
    package static let writable = Readiness(rawValue: 0x4)  // EPOLLOUT
    /// The descriptor is reported once, and then not before ``ReadinessPoller/modify(_:token:awaiting:)``; alone, only its end is.
    package static let once = Readiness(rawValue: 0x4000_0000)  // EPOLLONESHOT
    /// A special event has occurred; for ``MountTable``, that it's another one.
    package static let exceptional = Readiness(rawValue: 0x2)  // EPOLLPRI
  }

  /// The readiness of a descriptor.
  package struct Event: Hashable, Sendable {
    /// The token that ``ReadinessPoller/add(_:token:awaiting:)`` was given.
    package let token: UInt64
    /// A read brings something: bytes, the end or an error.
    package let isReadable: Bool
    /// A write takes something, or fails.
    package let isWritable: Bool
    /// The peer sends no more, but there may be bytes to read yet.
    package let isHangUp: Bool
  }

  /// How many events one wait returns at most; the others come with the next ones.
  package static let eventCountMax = Int(shim_readiness_count_max)

  private let epoll: OwnedDescriptor
  private let signal: OwnedDescriptor

  /// The token of `signal`.
  private static let signalToken = UInt64.max

  /// Creates a poller that watches nothing.
  ///
  /// - Throws: EMFILE and other errors of epoll_create1(2) and eventfd(2).
  package init() throws(SystemError) {
    epoll = OwnedDescriptor(try checkedCall("epoll_create1(2)") { epoll_create1(O_CLOEXEC) })
    signal = OwnedDescriptor(try checkedCall("eventfd(2)") { eventfd(0, O_CLOEXEC | O_NONBLOCK) })
    try control(EPOLL_CTL_ADD, signal, Self.signalToken, .readable)
  }
}

// MARK: - Watched descriptors

extension ReadinessPoller {
  /// Watches a descriptor.
  ///
  /// The poller doesn't keep the owner alive. A descriptor that is closed isn't watched any more, unless another
  /// process has the same open file, see ``remove(_:)``. A connection that both sides have ended is reported whatever
  /// it awaits, and again and again: remove it.
  ///
  /// - Parameters:
  ///   - owner: The owner of the descriptor.
  ///   - token: The token of its events; any number but the largest.
  ///   - readiness: The kinds of readiness to report.
  /// - Throws: EEXIST when it is watched already; EBADF when it is closed; other errors of epoll_ctl(2).
  package func add(_ owner: some DescriptorOwner, token: UInt64, awaiting readiness: Readiness) throws(SystemError) {
    precondition(token != Self.signalToken, "the largest token is the poller's own")
    try control(EPOLL_CTL_ADD, owner.descriptor, token, readiness)
  }

  /// Changes which kinds of readiness of a watched descriptor are reported.
  ///
  /// - Parameters:
  ///   - owner: The owner of the descriptor.
  ///   - token: The token of its events from now on.
  ///   - readiness: The kinds of readiness to report.
  /// - Throws: ENOENT when it isn't watched; EBADF when it is closed; other errors of epoll_ctl(2).
  package func modify(_ owner: some DescriptorOwner, token: UInt64, awaiting readiness: Readiness) throws(SystemError) {
    precondition(token != Self.signalToken, "the largest token is the poller's own")
    try control(EPOLL_CTL_MOD, owner.descriptor, token, readiness)
  }

  /// Watches a descriptor no longer; does nothing when it isn't watched.
  ///
  /// A wait that goes on meanwhile may report it once more, so don't reuse the token. Call this before closing a socket
  /// that was inherited: the kernel watches open files, and the process that passed it on has the same one.
  ///
  /// - Parameter owner: The owner of the descriptor.
  package func remove(_ owner: some DescriptorOwner) {
    // ENOENT when it isn't watched, EBADF when it is closed.
    try? control(EPOLL_CTL_DEL, owner.descriptor, 0, [])
  }

  private func control(
    _ operation: Int32, _ descriptor: OwnedDescriptor, _ token: UInt64, _ readiness: Readiness
  ) throws(SystemError) {
    _ = try descriptor.withNumber("epoll_ctl(2)") { (number) throws(SystemError) in
      try epoll.checked("epoll_ctl(2)") { shim_epoll_control($0, operation, number, readiness.rawValue, token) }
    }
  }
}

// MARK: - Waiting

extension ReadinessPoller {
  /// Blocks the calling thread until something is ready, ``wake()`` is called, or a time has come.
  ///
  /// - Parameters:
  ///   - events: Filled with the ready descriptors, at most ``eventCountMax``; its former contents are removed.
  ///   - deadline: When to give up, on ``HostClock``; `nil` waits without limit.
  /// - Returns: Whether it ended before the deadline. There are no events when it was only woken.
  /// - Throws: Any error of epoll_wait(2) but EINTR.
  /// - Complexity: O(*n*) in the number of events, however many descriptors are watched.
  package func wait(into events: inout [Event], until deadline: MonotonicTime? = nil) throws(SystemError) -> Bool {
    events.removeAll(keepingCapacity: true)
    var failure: SystemError?
    let count = unsafe withUnsafeTemporaryAllocation(of: shim_readiness.self, capacity: Self.eventCountMax) { ready in
      do throws(SystemError) {
        let count = try epoll.checked("epoll_wait(2)") { number in
          retryingWait(until: deadline) { unsafe shim_epoll_wait(number, ready.baseAddress, $0) }
        }
        for index in 0..<Int(count) { unsafe take(ready[index], &events) }
        return count
      } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    return count > 0
  }

  private func take(_ readiness: shim_readiness, _ events: inout [Event]) {
    if readiness.token == Self.signalToken {
      takeSignal()
    } else {
      events.append(Event(readiness))
    }
  }

  /// Ends the wait that goes on, or else the next one.
  ///
  /// Several calls before a wait end only one. Costs one system call.
  package func wake() {
    var one: UInt64 = 1
    // EAGAIN when it has been called 2⁶⁴ - 2 times before a wait: it is awake then.
    _ = try? signal.checked("write(2)") { unsafe write($0, &one, 8) }
  }

  private func takeSignal() {
    var count: UInt64 = 0
    _ = try? signal.checked("read(2)") { unsafe read($0, &count, 8) }
  }
}

extension ReadinessPoller.Event {
  fileprivate init(_ readiness: shim_readiness) {
    // EPOLLERR comes without the others where a call would report the error.
    let isFailed = readiness.events & 0x8 != 0
    token = readiness.token
    isReadable = isFailed || readiness.events & 0x1 != 0  // EPOLLIN
    isWritable = isFailed || readiness.events & 0x4 != 0  // EPOLLOUT
    isHangUp = isFailed || readiness.events & 0x2010 != 0  // EPOLLHUP, EPOLLRDHUP
  }
}
