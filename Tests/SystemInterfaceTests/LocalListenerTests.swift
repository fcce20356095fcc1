import Glibc
import Testing

@testable import SystemInterface

@Suite("A listener is found by its name as soon as it listens, and only then")
struct LocalListenerTests {
  private func address(_ sandbox: Sandbox, _ name: String = "service.sock") throws -> LocalAddress {
    try LocalAddress(sandbox.path(name))
  }

  @Test("A process that connects is accepted, and both sides know each other")
  func connection() async throws {
    try await withTemporaryDirectory { sandbox in
      let listener = try LocalListener(binding: address(sandbox))
      #expect(try listener.accept() == nil)
      let client = try LocalStream(connectingTo: address(sandbox))
      let server = try #require(try listener.accept())
      #expect(try listener.accept() == nil)
      let ourselves = PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid())
      #expect(try client.peer() == ourselves)
      #expect(try server.peer() == ourselves)
      #expect(try client.send("ping") == 4)
      #expect(try server.receive() == .text("ping"))
    }
  }

  @Test("Only the user can connect, and nothing but the socket is left in the directory")
  func mode() async throws {
    try await withTemporaryDirectory { sandbox in
      let listener = try LocalListener(binding: address(sandbox))
      let status = try #require(try sandbox.status("service.sock"))
      #expect(status.kind == .socket)
      #expect(status.mode == 0o600)
      #expect(try sandbox.names() == ["service.sock"])
      listener.close(removingName: true)
      #expect(try sandbox.names() == [])
    }
  }

  @Test("The umask makes no difference to who can connect")
  func umask() async {
    await #expect(processExitsWith: .success) {
      try await withTemporaryDirectory { sandbox in
        for mask: mode_t in [0, 0o777] {
          Glibc.umask(mask)
          let listener = try LocalListener(binding: LocalAddress(sandbox.path("service.sock")))
          #expect(try sandbox.status("service.sock")?.mode == 0o600)
          listener.close(removingName: true)
        }
      }
    }
  }

  @Test("A name that isn't there and one where nobody listens are told apart")
  func nobodyListens() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = sandbox.path("service.sock")
      #expect(throws: SystemError(call: "connect(2)", paths: [path], errno: ENOENT)) {
        try LocalStream(connectingTo: address(sandbox))
      }
      try LocalListener(binding: address(sandbox)).close(removingName: false)
      #expect(try sandbox.names() == ["service.sock"])
      #expect(throws: SystemError(call: "connect(2)", paths: [path], errno: ECONNREFUSED)) {
        try LocalStream(connectingTo: address(sandbox))
      }
    }
  }

  @Test("A socket that a dead process left behind is replaced")
  func staleSocket() async throws {
    try await withTemporaryDirectory { sandbox in
      try LocalListener(binding: address(sandbox)).close(removingName: false)
      let listener = try LocalListener(binding: address(sandbox))
      _ = try LocalStream(connectingTo: address(sandbox))
      #expect(try listener.accept() != nil)
      #expect(try sandbox.names() == ["service.sock"])
    }
  }

  @Test("An item that isn't a socket stays", arguments: ["file", "directory", "link"])
  func notASocket(name: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", "precious")
      try sandbox.makeDirectory("directory")
      try sandbox.link("link", to: "file")
      let error = #expect(throws: SystemError.self) { try LocalListener(binding: address(sandbox, name)) }
      #expect(error?.errno == ENOTSOCK)
      #expect(error?.paths == [sandbox.path(name)])
      #expect(error?.advice != nil)
      #expect(try sandbox.names() == ["directory", "file", "link"])
      #expect(try sandbox.text("file") == "precious")
    }
  }

  @Test("A listener removes its own name only")
  func removesOwnName() async throws {
    try await withTemporaryDirectory { sandbox in
      let first = try LocalListener(binding: address(sandbox))
      let second = try LocalListener(binding: address(sandbox))
      first.close(removingName: true)
      #expect(try sandbox.names() == ["service.sock"])
      _ = try LocalStream(connectingTo: address(sandbox))
      second.close(removingName: true)
      second.close(removingName: true)
      #expect(try sandbox.names() == [])
      #expect(throws: SystemError(call: "accept4(2)", errno: EBADF)) { try second.accept() }
    }
  }

  @Test("A directory that isn't there is named in the error")
  func missingDirectory() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = sandbox.path("none/service.sock")
      #expect(throws: SystemError(call: "bind(2)", paths: [path], errno: ENOENT)) {
        try LocalListener(binding: LocalAddress(path))
      }
    }
  }

  @Test("Connections wait to be accepted up to the backlog; the next one fails at once with EAGAIN")
  func backlog() async throws {
    try await withTemporaryDirectory { sandbox in
      let listener = try LocalListener(binding: address(sandbox))
      var clients: [LocalStream] = []
      let error = #expect(throws: SystemError.self) {
        for _ in 0...LocalListener.backlog + 1 { clients.append(try LocalStream(connectingTo: address(sandbox))) }
      }
      #expect(error?.errno == EAGAIN)
      #expect(error?.advice != nil)
      #expect(!clients.isEmpty)
      #expect(try listener.accept() != nil)
      clients.append(try LocalStream(connectingTo: address(sandbox)))
    }
  }

  @Test("A connection that never was accepted is at its end when the listener closes")
  func closedBacklog() async throws {
    try await withTemporaryDirectory { sandbox in
      let listener = try LocalListener(binding: address(sandbox))
      let client = try LocalStream(connectingTo: address(sandbox))
      #expect(try client.receive() == .nothing)
      listener.close(removingName: true)
      #expect(try client.waitReadable())
      #expect(try client.receive() == .end)
    }
  }

  @Test("The last descriptor is enough for the last connection: nobody waits who would need another")
  func lastDescriptor() async {
    await #expect(processExitsWith: .success) {
      try await withTemporaryDirectory { sandbox in
        let address = try LocalAddress(sandbox.path("service.sock"))
        let listener = try LocalListener(binding: address)
        let client = try LocalStream(connectingTo: address)
        // The lowest free number is the only one that may be used.
        let free = dup(0)
        close(free)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = rlim_t(free + 1)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let server = try #require(try listener.accept())
        #expect(try listener.accept() == nil)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #expect(try client.send("hello") == 5)
        #expect(try server.receive() == .text("hello"))
      }
    }
  }

  @Test("Without a descriptor for it a connection goes on waiting, and the caller learns why")
  func outOfDescriptors() async {
    await #expect(processExitsWith: .success) {
      try await withTemporaryDirectory { sandbox in
        let address = try LocalAddress(sandbox.path("service.sock"))
        let listener = try LocalListener(binding: address)
        let client = try LocalStream(connectingTo: address)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
        let error = #expect(throws: SystemError.self) { try listener.accept() }
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #expect(error?.errno == EMFILE)
        #expect(try client.send("hello") == 5)
        #expect(try #require(try listener.accept()).receive() == .text("hello"))
      }
    }
  }
}

@Suite("A socket that another process has bound is taken over")
struct LocalInheritanceTests {
  /// A descriptor with the flags that a service manager leaves.
  private func inheritable(_ listener: LocalListener) throws -> Int32 {
    let copy = try listener.descriptor.checked("dup(2)") { dup($0) }
    _ = fcntl(copy, F_SETFL, 0)
    return copy
  }

  @Test("It doesn't block, isn't passed on, and its name stays")
  func listens() async throws {
    try await withTemporaryDirectory { sandbox in
      let address = try LocalAddress(sandbox.path("service.sock"))
      let manager = try LocalListener(binding: address)
      let number = try inheritable(manager)
      let listener = try LocalListener(inherited: number)
      #expect(fcntl(number, F_GETFD) == FD_CLOEXEC)
      #expect(try listener.accept() == nil)
      let client = try LocalStream(connectingTo: address)
      #expect(try listener.accept() != nil)
      #expect(try client.receive() == .end)
      listener.close(removingName: true)
      #expect(try sandbox.names() == ["service.sock"])
      _ = try LocalStream(connectingTo: address)
      #expect(try manager.accept() != nil)
    }
  }

  @Test("The process that has taken it over is the peer of later clients")
  func places() async throws {
    try await withTemporaryDirectory { sandbox in
      let address = try LocalAddress(sandbox.path("service.sock"))
      let listener = try LocalListener(inherited: try inheritable(try LocalListener(binding: address)))
      try listener.check(isAtOneOf: [address])
      #expect(try LocalStream(connectingTo: address).peer().pid == getpid())
    }
  }

  @Test("Anything else is refused, and stays open")
  func refusals() async throws {
    let kinds: [(number: Int32, errno: Int32)] = [
      (open("/dev/null", O_RDONLY | O_CLOEXEC), ENOTSOCK),
      (socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), EAFNOSUPPORT),
      (socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0), EPROTOTYPE),
      (socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0), EINVAL),
    ]
    for kind in kinds {
      let error = #expect(throws: SystemError.self) { try LocalListener(inherited: kind.number) }
      #expect(error?.errno == kind.errno)
      #expect(close(kind.number) == 0)
    }
    #expect(throws: SystemError(call: "getsockopt(2)", errno: EBADF)) { try LocalListener(inherited: -1) }
  }
}
