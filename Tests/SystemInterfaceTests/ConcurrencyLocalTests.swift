import Glibc
import Synchronization
import Testing

@testable import SystemInterface

extension ConcurrencyTests {
  @Suite("Local sockets") struct LocalTests {
    @Test("One thread with a poller serves many clients, and every byte comes back in order")
    func echo() async throws {
      try await withTemporaryDirectory { sandbox in
        let address = try LocalAddress(sandbox.path("service.sock"))
        let server = try EchoServer(address)
        let hasEnded = ThreadEvent()
        HostThread.start(name: "echo") {
          server.run()
          hasEnded.signal()
        }
        let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 0x9E37 >> 7) }
        onThreads(8) { index in
          for round in 0..<2 { converse(with: address, bytes, bufferSize: 4096 + (index * 2 + round) * 997) }
        }
        server.stop()
        hasEnded.wait()
        #expect(server.servedCount == 16)
      }
    }

    /// Sends all bytes, as much as fits at a time, and checks that they come back.
    private func converse(with address: LocalAddress, _ bytes: [UInt8], bufferSize: Int) {
      var (sent, received): (Int, [UInt8]) = (0, [])
      var buffer = [UInt8](repeating: 0, count: bufferSize)
      do {
        let stream = try LocalStream(connectingTo: address)
        while received.count < bytes.count {
          sent += try stream.write(bytes.span.bytes.extracting(sent...))
          // Bytes that don't fit are sent when the server has taken some, and then it answers.
          _ = try stream.waitReadable()
          if case .bytes(let count) = try buffer.withUnsafeMutableBytes({ try stream.read(into: $0) }) {
            received += buffer[..<count]
          }
        }
      } catch {
        Issue.record(error)
      }
      #expect(received == bytes)
    }

    @Test("A wake-up reaches a poller that waits, and none is lost in many rounds")
    func wake() throws {
      let poller = try ReadinessPoller()
      let rounds = (0..<2_000).map { _ in ThreadEvent() }
      let hasEnded = ThreadEvent()
      HostThread.start(name: "poller") {
        var events: [ReadinessPoller.Event] = []
        for round in rounds {
          #expect((try? poller.wait(into: &events)) == true)
          #expect(events == [])
          round.signal()
        }
        hasEnded.signal()
      }
      for round in rounds {
        poller.wake()
        round.wait()
      }
      hasEnded.wait()
    }

    @Test(
      "A thread that waits for a stream sees the end when another shuts it down or closes it", arguments: [true, false])
    func endsWait(closes: Bool) throws {
      for _ in 0..<200 {
        let (left, right) = try LocalStream.pair()
        let hasStarted = ThreadEvent()
        let hasEnded = ThreadEvent()
        HostThread.start(name: "waiter") {
          hasStarted.signal()
          do {
            while try left.receive() != .end { _ = try left.waitReadable() }
          } catch {
            #expect((error as? SystemError)?.errno == EBADF && closes)
          }
          hasEnded.signal()
        }
        hasStarted.wait()
        if closes { left.close() } else { left.shutdown() }
        hasEnded.wait()
        #expect(try right.receive() == .end)
      }
    }

    @Test("A descriptor is closed once, and under no running call, however many threads close and use it")
    func closesOnce() throws {
      for _ in 0..<300 {
        let (left, right) = try LocalStream.pair()
        onThreads(4) { index in
          for _ in 0..<20 {
            do {
              _ = try left.send("x")
              // A number that means another file by now would fail with ENOTSOCK, or ENOTCONN.
              #expect(try left.peer().pid == getpid())
            } catch {
              #expect([EBADF, EPIPE].contains((error as? SystemError)?.errno ?? 0))
            }
            if index == 0 { left.close() }
          }
        }
        while case .text = try right.receive() {}
        #expect(try right.receive() == .end)
        #expect(left.descriptor.isClosed)
      }
    }

    @Test("A lock that several threads wait for goes from one to the next, and each counts once")
    func lockFile() async throws {
      try await withTemporaryDirectory { sandbox in
        let lockFile = LockFile(sandbox.path("lock"))
        let holderCount = Atomic<Int>(0)
        onThreads(6) { _ in
          for _ in 0..<30 {
            do {
              let held = try lockFile.lock()
              #expect(holderCount.add(1, ordering: .relaxed).newValue == 1)
              _ = try held.bumpCounter()
              holderCount.subtract(1, ordering: .relaxed)
              held.release()
            } catch {
              Issue.record(error)
            }
          }
        }
        let count = try lockFile.lock().readCounter()
        #expect(count == 180)
      }
    }

    @Test("A lock on a file that has lost its name counts for nothing")
    func replacedLockFile() async throws {
      try await withTemporaryDirectory { sandbox in
        let path = sandbox.path("lock")
        let holderCount = Atomic<Int>(0)
        onThreads(3) { _ in
          for _ in 0..<30 {
            do {
              let held = try LockFile(path).lock()
              #expect(holderCount.add(1, ordering: .relaxed).newValue == 1)
              holderCount.subtract(1, ordering: .relaxed)
              // ENOENT if another thread, with a lock on an older file, has removed this one.
              try sandbox.files.unlink(path, at: .workingDirectory, .file)
              held.release()
            } catch {
              Issue.record(error)
            }
          }
        }
        let names = try sandbox.names()
        #expect(names == [])
      }
    }
  }
}

/// Sends back the bytes that it gets; one thread runs it.
///
/// `@unchecked Sendable` because `clients` and `servedCount` belong to the thread in ``run()``, and to the test after it.
private final class EchoServer: @unchecked Sendable {
  private struct Client {
    let stream: LocalStream
    var pending: ArraySlice<UInt8> = []
    var isEnding = false
  }

  private let listener: LocalListener
  private let poller: ReadinessPoller
  private let isStopping = Atomic<Bool>(false)
  private var clients: [UInt64: Client] = [:]
  private(set) var servedCount: UInt64 = 0

  init(_ address: LocalAddress) throws {
    listener = try LocalListener(binding: address)
    poller = try ReadinessPoller()
    try poller.add(listener, token: 0, awaiting: .readable)
  }

  func stop() {
    isStopping.store(true, ordering: .releasing)
    poller.wake()
  }

  func run() {
    do {
      var events: [ReadinessPoller.Event] = []
      while !isStopping.load(ordering: .acquiring) || !clients.isEmpty {
        _ = try poller.wait(into: &events)
        for event in events { try handle(event) }
      }
    } catch {
      Issue.record(error)
    }
  }

  private func handle(_ event: ReadinessPoller.Event) throws {
    if event.token == 0 { return try acceptAll() }
    guard var client = clients.removeValue(forKey: event.token) else { return }
    if client.pending.isEmpty { try read(&client) }
    do {
      let stream = client.stream
      let count = try client.pending.withUnsafeBytes { try stream.write($0) }
      client.pending = client.pending.dropFirst(count)
    } catch let error as SystemError where error.errno == EPIPE {
      client.isEnding = true
    }
    if client.isEnding { return poller.remove(client.stream) }
    try poller.modify(
      client.stream, token: event.token, awaiting: client.pending.isEmpty ? .readable : .writable)
    clients[event.token] = client
  }

  private func read(_ client: inout Client) throws {
    var buffer = [UInt8](repeating: 0, count: 30_000)
    switch try buffer.withUnsafeMutableBytes({ try client.stream.read(into: $0) }) {
    case .bytes(let count): client.pending = buffer[..<count]
    case .wouldBlock: break
    case .end: client.isEnding = true
    }
  }

  private func acceptAll() throws {
    while let stream = try listener.accept() {
      servedCount += 1
      clients[servedCount] = Client(stream: stream)
      try poller.add(stream, token: servedCount, awaiting: .readable)
    }
  }
}
