internal import CSystemShims
internal import Glibc

/// A socket that other processes of this computer connect to.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `descriptor` | itself, see ``OwnedDescriptor`` | ``close(removingName:)`` may come while another thread accepts |
/// | the rest | immutable | |
///
/// The descriptor is closed by ``close(removingName:)`` or with the last reference, which leaves the name in place: no
/// process can connect to it any more, and the next listener replaces it.
package final class LocalListener: DescriptorOwner {
  /// How many connections wait at most to be accepted; see listen(2).
  package static let backlog: Int32 = 128

  /// Where it listens; `nil` for a socket that another process has bound.
  package let address: LocalAddress?

  /// The listening socket.
  package let descriptor: OwnedDescriptor

  /// The file behind the name when it was bound.
  ///
  /// The number isn't reused as long as the socket is open.
  private let identity: FileIdentity?

  /// Listens at a path that only this user can connect to.
  ///
  /// The socket listens before it gets its name, so a process that finds the name can connect. A socket that has the
  /// name already is replaced in one step, even if a process listens there: decide before which process may listen, see
  /// ``LockFile``.
  ///
  /// - Parameter address: Where to listen.
  /// - Throws: ENOTSOCK when the name belongs to something that isn't a socket; any error of socket(2), bind(2), chmod(2),
  ///   listen(2) and rename(2). Nothing is left behind then.
  package init(binding address: LocalAddress) throws(SystemError) {
    let descriptor = OwnedDescriptor(try checkedCall("socket(2)") { shim_local_socket() })
    let temporary = try Self.bind(descriptor, beside: address)
    do {
      try checkedCall("chmod(2)", temporary) { unsafe temporary.withCString { unsafe chmod($0, 0o600) } }
      identity = try HostFileSystem().status(of: temporary, at: .workingDirectory, links: .noFollow).identity
      try descriptor.checked("listen(2)") { listen($0, Self.backlog) }
      try Self.checkReplaceable(address)
      try HostFileSystem().rename(
        temporary, at: .workingDirectory, to: address.path, at: .workingDirectory, .replacing)
    } catch {
      try? HostFileSystem().unlink(temporary, at: .workingDirectory, .file)
      throw error
    }
    self.address = address
    self.descriptor = descriptor
  }

  /// Takes over a socket that listens already, such as one of ``ActivationSockets``.
  ///
  /// - Parameter number: A descriptor of a listening Unix-domain stream socket; it isn't taken over when this throws.
  /// - Throws: ENOTSOCK, EAFNOSUPPORT, EPROTOTYPE or EINVAL when it is something else; EBADF when it isn't open.
  package init(inherited number: Int32) throws(SystemError) {
    let requirements: [(option: Int32, value: Int32, errno: Int32)] = [
      (SO_DOMAIN, AF_UNIX, EAFNOSUPPORT), (SO_TYPE, Int32(SOCK_STREAM.rawValue), EPROTOTYPE),
      (SO_ACCEPTCONN, 1, EINVAL),
    ]
    for requirement in requirements {
      let value = try checkedCall("getsockopt(2)") { shim_socket_option(number, requirement.option) }
      if value != requirement.value {
        throw SystemError(
          call: "getsockopt(2)", errno: requirement.errno,
          advice: "Descriptor \(number) isn't a listening Unix-domain stream socket. "
            + "Pass one, for example by ListenStream= with a path in a systemd socket unit.")
      }
    }
    // A process that connects from now on sees this process as its peer, not the one that made the socket; see
    // SO_PEERCRED in unix(7).
    try checkedCall("listen(2)") { listen(number, Self.backlog) }
    let flags = try checkedCall("fcntl(2)") { fcntl(number, F_GETFL) }
    try checkedCall("fcntl(2)") { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    try checkedCall("fcntl(2)") { fcntl(number, F_SETFD, FD_CLOEXEC) }
    descriptor = OwnedDescriptor(number)
    address = nil
    identity = nil
  }
}

// MARK: - Accepting and closing

extension LocalListener {
  /// Takes the next connection that waits, without blocking.
  ///
  /// - Returns: The connection; `nil` when none waits.
  /// - Throws: EMFILE or ENFILE when there is no descriptor for the connection, which goes on waiting; EBADF when closed.
  package func accept() throws(SystemError) -> LocalStream? {
    do {
      return LocalStream(OwnedDescriptor(try descriptor.checked("accept4(2)") { shim_local_accept($0) }))
    } catch let error where error.isOne(of: EAGAIN, ECONNABORTED) {
      return nil
    } catch let error where error.isOne(of: EMFILE, ENFILE) {
      // The kernel takes a descriptor before it looks for a connection, so that's the error also when none waits.
      if (try? hasConnection) == false { return nil }
      throw error
    }
  }

  /// Whether a connection waits to be accepted.
  private var hasConnection: Bool {
    get throws(SystemError) {
      try descriptor.checked("poll(2)") { number in retryingWait(until: .host()) { shim_poll(number, POLLIN, $0) } } > 0
    }
  }

  /// Checks that others find a socket that another process has bound.
  ///
  /// - Parameter addresses: The addresses that others use.
  /// - Throws: EADDRNOTAVAIL when it's somewhere else; any error of getsockname(2).
  package func check(isAtOneOf addresses: [LocalAddress]) throws(SystemError) {
    let path = try boundPath()
    let files = HostFileSystem()
    let identity = try? files.status(of: path, at: .workingDirectory, links: .noFollow).identity
    // The process that bound it may have given it another name, which the kernel doesn't report.
    guard let identity else { return }
    let isFound = addresses.contains { address in
      let present = try? files.status(of: address.path, at: .workingDirectory, links: .noFollow).identity
      return present == identity
    }
    if isFound { return }
    throw SystemError(
      call: "getsockname(2)", paths: [path], errno: EADDRNOTAVAIL,
      advice: "The program that started this process listens there, but others look for a service at "
        + "\(addresses.map { "'\($0)'" }.joined(separator: " or ")). Write that into the socket unit as ListenStream=.")
  }

  private func boundPath() throws(SystemError) -> SystemPath {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    try descriptor.checked("getsockname(2)") { number in
      unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(number, $0, &length) }
      }
    }
    let bytes = unsafe withUnsafeBytes(of: &address.sun_path) { unsafe Array($0) }
    return SystemPath(bytes: Array(bytes.prefix { $0 != 0 }))
  }

  /// Whether the socket still has its name; always if another process has bound it.
  ///
  /// When that can't be found out the answer is yes.
  package var hasItsName: Bool {
    guard let address, let identity else { return true }
    return address.path.isName(of: identity)
  }

  /// Stops listening; connections that wait are cut.
  ///
  /// Not for a socket that a ``ReadinessPoller`` still watches, see ``ReadinessPoller/remove(_:)``.
  ///
  /// - Parameter removingName: Whether to remove the name, unless it stands for another file by now. The name of a socket
  ///   that another process has bound stays.
  package func close(removingName: Bool) {
    // Before the socket is closed: until then no other file can have its identity.
    if removingName, !descriptor.isClosed, let address, let identity {
      let files = HostFileSystem()
      let present = try? files.status(of: address.path, at: .workingDirectory, links: .noFollow).identity
      if present == identity { try? files.unlink(address.path, at: .workingDirectory, .file) }
    }
    descriptor.close()
  }

  /// How many temporary names are tried.
  private static let nameCountMax = 16

  private static func bind(
    _ descriptor: OwnedDescriptor, beside address: LocalAddress
  ) throws(SystemError) -> SystemPath {
    var lastError = SystemError(call: "bind(2)", paths: [address.path], errno: EADDRINUSE)
    for _ in 0..<nameCountMax {
      let temporary = address.temporaryNeighbor()
      do {
        try descriptor.checked("bind(2)") { number in
          unsafe temporary.withCString { unsafe shim_local_bind(number, $0) }
        }
        return temporary
      } catch {
        lastError.errno = error.errno
        if error.errno != EADDRINUSE { break }
      }
    }
    throw lastError
  }

  private static func checkReplaceable(_ address: LocalAddress) throws(SystemError) {
    let present = try HostFileSystem().statusIfPresent(of: address.path, at: .workingDirectory)
    if let present, present.kind != .socket {
      throw SystemError(
        call: "rename(2)", paths: [address.path], errno: ENOTSOCK,
        advice: "Something that isn't a socket has this name. Move it away, or choose another path.")
    }
  }
}
