internal import CSystemShims
internal import Glibc

/// The process at the other end of a stream, according to the kernel.
///
/// - Note: SO_PEERCRED in unix(7).
package struct PeerCredentials: Hashable, Sendable {
  /// The number of the process.
  package let pid: Int32
  /// Its effective user.
  package let uid: UInt32
  /// Its effective group.
  package let gid: UInt32
}

/// A connection to another process of this computer: bytes in both directions, in order.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `descriptor` | itself, see ``OwnedDescriptor`` | ``close()`` may come while other threads read and write |
///
/// Any thread may call anything at any time. Two reads, or two writes, at once each get a part of the bytes, so one thread
/// should do each. Reading and writing don't block, but for ``readWaiting(into:)``; see ``waitReadable(until:)``,
/// ``waitWritable(until:)`` and ``ReadinessPoller``. The descriptor is closed by ``close()`` or with the last reference.
package final class LocalStream: DescriptorOwner {
  /// The result of a read.
  package enum ReadResult: Hashable, Sendable {
    /// So many bytes are at the start of the buffer; 0 only for an empty buffer.
    case bytes(Int)
    /// Nothing is there yet.
    case wouldBlock
    /// Nothing will ever come again.
    case end
  }

  /// The connected socket.
  package let descriptor: OwnedDescriptor

  /// Takes over a connected socket.
  init(_ descriptor: OwnedDescriptor) {
    self.descriptor = descriptor
  }

  /// Connects to a listener, without waiting for it to accept.
  ///
  /// - Parameter address: The address of a listener.
  /// - Throws: ENOENT when the name isn't there; ECONNREFUSED when no process listens at it any more; EAGAIN when too
  ///   many connections wait to be accepted; any other error of socket(2) and connect(2).
  package init(connectingTo address: LocalAddress) throws(SystemError) {
    descriptor = OwnedDescriptor(try checkedCall("socket(2)") { shim_local_socket() })
    do {
      // Never EINPROGRESS: a Unix-domain socket connects at once or not at all.
      try descriptor.checked("connect(2)", address.path) { number in
        unsafe address.path.withCString { unsafe shim_local_connect(number, $0) }
      }
    } catch {
      var error = error
      if error.errno == EAGAIN {
        error.advice =
          "Too many connections wait to be accepted. Try again later, or see whether the process that "
          + "listens is stopped."
      }
      throw error
    }
    // Calls say themselves that they don't block, so that one can.
    try descriptor.checked("fcntl(2)") { fcntl($0, F_SETFL, O_RDWR) }
  }

  /// Connects to a listener that one of some users has made.
  ///
  /// - Parameters:
  ///   - address: The address of a listener.
  ///   - users: The users that may listen there.
  /// - Throws: EPERM when another user listens; otherwise as ``init(connectingTo:)``.
  package convenience init(connectingTo address: LocalAddress, servedBy users: Set<UInt32>) throws(SystemError) {
    try self.init(connectingTo: address)
    let server = try peer().uid
    if users.contains(server) { return }
    throw SystemError(
      call: "connect(2)", paths: [address.path], errno: EPERM,
      advice:
        "User \(server) listens there, not \(HostUser.effectiveUserID). Have the socket removed by its owner or an "
        + "administrator, or meet in a directory that only this user may write to.")
  }

  /// Makes two streams that are connected with each other.
  ///
  /// - Returns: Both ends.
  /// - Throws: Any error of socketpair(2), mostly EMFILE.
  package static func pair() throws(SystemError) -> (LocalStream, LocalStream) {
    var numbers: [Int32] = [-1, -1]
    try checkedCall("socketpair(2)") { unsafe shim_local_pair(&numbers) }
    let streams = (LocalStream(OwnedDescriptor(numbers[0])), LocalStream(OwnedDescriptor(numbers[1])))
    for stream in [streams.0, streams.1] {
      try stream.descriptor.checked("fcntl(2)") { fcntl($0, F_SETFL, O_RDWR) }
    }
    return streams
  }
}

// MARK: - Bytes

extension LocalStream {
  /// Reads the available bytes, at most as many as the buffer holds.
  ///
  /// Bytes that the peer sent before it ended are read before the end.
  ///
  /// - Parameter buffer: Where to put the bytes.
  /// - Returns: How many there were. A connection that the peer has reset is at its end.
  /// - Throws: EBADF after ``close()``; any error of recv(2) but EAGAIN and ECONNRESET.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> ReadResult {
    try unsafe receive(into: buffer, Int32(MSG_DONTWAIT))
  }

  /// Lets ``readWaiting(into:)`` wait for so long at most.
  ///
  /// - Parameter duration: How long; at least a millisecond.
  /// - Throws: EBADF after ``close()``; any other error of setsockopt(2).
  package func limitWaiting(to duration: Duration) throws(SystemError) {
    let (seconds, attoseconds) = max(duration, .milliseconds(1)).components
    var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    try descriptor.checked("setsockopt(2)") {
      unsafe setsockopt($0, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  /// Reads the available bytes, or blocks the calling thread until there are some.
  ///
  /// Costs one system call, where waiting and then reading costs two.
  ///
  /// - Parameter buffer: Where to put the bytes.
  /// - Returns: How many there were, or the end, which ``shutdown()`` brings too; ``ReadResult/wouldBlock`` only when it has
  ///   waited for as long as ``limitWaiting(to:)`` says.
  /// - Throws: EBADF after ``close()``; any error of recv(2) but ECONNRESET.
  package func readWaiting(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> ReadResult {
    try unsafe receive(into: buffer, 0)
  }

  private func receive(
    into buffer: UnsafeMutableRawBufferPointer, _ flags: Int32
  ) throws(SystemError) -> ReadResult {
    if unsafe buffer.isEmpty { return .bytes(0) }
    do {
      let count = try descriptor.checked("recv(2)") { unsafe recv($0, buffer.baseAddress, buffer.count, flags) }
      return count == 0 ? .end : .bytes(count)
    } catch let error where error.isOne(of: EAGAIN, ECONNRESET) {
      return error.errno == EAGAIN ? .wouldBlock : .end
    }
  }

  /// Writes a prefix of some bytes, as much as fits.
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: How many were taken; 0 when nothing fits until the peer reads.
  /// - Throws: EPIPE or ECONNRESET when no process will read them, without the signal SIGPIPE; EBADF after ``close()``;
  ///   any other error of send(2) but EAGAIN.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    if unsafe bytes.isEmpty { return 0 }
    do {
      return try descriptor.checked("send(2)") {
        unsafe send($0, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
      }
    } catch let error where error.errno == EAGAIN {
      return 0
    }
  }

  /// Writes a prefix of some bytes, as much as fits.
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: How many were taken; 0 when nothing fits until the peer reads.
  /// - Throws: EPIPE or ECONNRESET when no process will read them, without the signal SIGPIPE; EBADF after ``close()``;
  ///   any other error of send(2) but EAGAIN.
  package func write(_ bytes: RawSpan) throws(SystemError) -> Int {
    try unsafe bytes.withUnsafeBytes { (buffer) throws(SystemError) in try unsafe write(buffer) }
  }

  /// The process at the other side: the one that connected, or the one that listens.
  ///
  /// - Returns: The credentials when the connection was made: of the process that called connect(2), listen(2) or
  ///   socketpair(2). Where a service manager listens for a service, the service's clients see the manager.
  /// - Throws: EBADF after ``close()``.
  package func peer() throws(SystemError) -> PeerCredentials {
    var raw = shim_credentials()
    try descriptor.checked("getsockopt(2)") { unsafe shim_peer_credentials($0, &raw) }
    return PeerCredentials(pid: raw.pid, uid: raw.uid, gid: raw.gid)
  }
}

// MARK: - Waiting and ending

extension LocalStream {
  /// Blocks the calling thread until a read brings bytes, the end or an error, or until a time has come.
  ///
  /// - Parameter deadline: When to give up, on ``HostClock``; `nil` waits without limit.
  /// - Returns: Whether a read brings something.
  /// - Throws: EBADF after ``close()``; any error of poll(2) but EINTR.
  package func waitReadable(until deadline: MonotonicTime? = nil) throws(SystemError) -> Bool {
    try wait(for: POLLIN, until: deadline)
  }

  /// Blocks the calling thread until a write takes bytes or fails, or until a time has come.
  ///
  /// - Parameter deadline: When to give up, on ``HostClock``; `nil` waits without limit.
  /// - Returns: Whether a write does something.
  /// - Throws: EBADF after ``close()``; any error of poll(2) but EINTR.
  package func waitWritable(until deadline: MonotonicTime? = nil) throws(SystemError) -> Bool {
    try wait(for: POLLOUT, until: deadline)
  }

  private func wait(for events: Int32, until deadline: MonotonicTime?) throws(SystemError) -> Bool {
    try descriptor.checked("poll(2)") { number in
      retryingWait(until: deadline) { shim_poll(number, events, $0) }
    } > 0
  }

  /// Ends the connection in both directions, and wakes all threads that wait for it.
  ///
  /// Both sides read the bytes that have arrived, then the end; later writes fail with EPIPE.
  package func shutdown() {
    // ENOTCONN and EBADF: it has ended already.
    _ = try? descriptor.checked("shutdown(2)") { Glibc.shutdown($0, Int32(SHUT_RDWR)) }
  }

  /// Ends the connection and closes the descriptor when the last running call has returned.
  package func close() {
    shutdown()
    descriptor.close()
  }
}
