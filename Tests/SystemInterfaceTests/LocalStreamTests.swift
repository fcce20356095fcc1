import Glibc
import Testing

@testable import SystemInterface

@Suite("A stream brings bytes in order, then the end, and never blocks")
struct LocalStreamTests {
  /// A time that is over.
  private var past: MonotonicTime { MonotonicTime(nanoseconds: 0) }

  @Test("Bytes that are read in parts stay in order, and an empty stream has nothing yet")
  func partialReads() throws {
    let (left, right) = try LocalStream.pair()
    #expect(try right.receive() == .nothing)
    #expect(try left.send("abc") == 3)
    #expect(try left.send("defg") == 4)
    #expect(try right.receive(countMax: 2) == .text("ab"))
    #expect(try right.receive(countMax: 4) == .text("cdef"))
    #expect(try right.receive(countMax: 4) == .text("g"))
    #expect(try right.receive() == .nothing)
  }

  @Test("An empty buffer and empty bytes do nothing, and aren't taken for the end")
  func empty() throws {
    let (left, right) = try LocalStream.pair()
    #expect(try left.send("") == 0)
    #expect(try right.receive(countMax: 0) == .text(""))
    #expect(try right.receive() == .nothing)
  }

  @Test("A write takes what fits, then nothing until the peer has read, and no byte is lost")
  func partialWrites() throws {
    let (left, right) = try LocalStream.pair()
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    var sent = 0
    var received: [UInt8] = []
    var refusalCount = 0
    var buffer = [UInt8](repeating: 0, count: 50_001)
    while received.count < bytes.count {
      while sent < bytes.count {
        let count = try left.write(bytes.span.bytes.extracting(sent...))
        sent += count
        if count == 0 {
          refusalCount += 1
          break
        }
      }
      let result = try buffer.withUnsafeMutableBytes { (raw) throws(SystemError) in try right.read(into: raw) }
      guard case .bytes(let count) = result else {
        Issue.record("\(result) after \(received.count) bytes")
        return
      }
      received += buffer[..<count]
    }
    #expect(refusalCount > 0)
    #expect(received == bytes)
  }

  @Test("Data sent before a shutdown is read before the end")
  func endAfterShutdown() throws {
    let (left, right) = try LocalStream.pair()
    #expect(try left.send("last words") == 10)
    left.shutdown()
    #expect(try right.receive() == .text("last words"))
    #expect(try right.receive() == .end)
    #expect(try right.receive() == .end)
    #expect(try left.receive() == .end)
    left.shutdown()
  }

  @Test("Data sent before the peer is gone is read before the end")
  func endAfterPeer() throws {
    var (left, right): (LocalStream?, LocalStream) = try LocalStream.pair()
    #expect(try left?.send("last words") == 10)
    left = nil
    #expect(try right.receive(countMax: 4) == .text("last"))
    #expect(try right.receive() == .text(" words"))
    #expect(try right.receive() == .end)
  }

  @Test("A peer that is gone with bytes it hasn't read is the end, not an error")
  func reset() throws {
    let (left, right) = try LocalStream.pair()
    #expect(try right.send("never read") == 10)
    #expect(try left.send("answer") == 6)
    left.close()
    #expect(try right.receive() == .text("answer"))
    #expect(try right.receive() == .end)
    #expect(try right.receive() == .end)
  }

  @Test("Writing to a peer that is gone is an error without a signal")
  func brokenPipe() throws {
    // The signal would be for this thread: blocked, it would wait to be seen.
    var blocked = sigset_t()
    var saved = sigset_t()
    var pending = sigset_t()
    sigemptyset(&blocked)
    sigaddset(&blocked, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &blocked, &saved)
    defer { pthread_sigmask(SIG_SETMASK, &saved, nil) }
    let (left, right) = try LocalStream.pair()
    left.close()
    #expect(throws: SystemError(call: "send(2)", errno: EPIPE)) { try right.send("anybody?") }
    sigpending(&pending)
    #expect(sigismember(&pending, SIGPIPE) == 0)
  }

  @Test("Writing after the own shutdown is an error")
  func writeAfterShutdown() throws {
    let (left, right) = try LocalStream.pair()
    left.shutdown()
    #expect(throws: SystemError(call: "send(2)", errno: EPIPE)) { try left.send("x") }
    #expect(throws: SystemError(call: "send(2)", errno: EPIPE)) { try right.send("x") }
  }

  @Test("Nothing reaches the kernel after close, where the number may mean another file")
  func useAfterClose() throws {
    let (left, right) = try LocalStream.pair()
    left.close()
    left.close()
    left.shutdown()
    #expect(left.descriptor.isClosed && !right.descriptor.isClosed)
    #expect(throws: SystemError(call: "recv(2)", errno: EBADF)) { try left.receive() }
    #expect(throws: SystemError(call: "send(2)", errno: EBADF)) { try left.send("x") }
    #expect(throws: SystemError(call: "getsockopt(2)", errno: EBADF)) { try left.peer() }
    #expect(throws: SystemError(call: "poll(2)", errno: EBADF)) { try left.waitReadable() }
  }

  @Test("The last reference closes the descriptor")
  func closesWithLastReference() throws {
    let (left, right) = try LocalStream.pair()
    #expect(try right.receive() == .nothing)
    _ = consume left
    #expect(try right.waitReadable())
    #expect(try right.receive() == .end)
  }

  @Test("Waiting tells whether there is something to read or room to write")
  func waiting() throws {
    let (left, right) = try LocalStream.pair()
    #expect(try !right.waitReadable(until: past))
    #expect(try left.waitWritable(until: past))
    #expect(try left.fill() > 0)
    #expect(try right.waitReadable())
    #expect(try !left.waitWritable(until: past))
    #expect(try left.send("x") == 0)
    while try right.receive(countMax: 65536) != .nothing {}
    #expect(try left.waitWritable())
    #expect(try left.send("x") == 1)
  }

  @Test("A wait gives up at its deadline, never before")
  func deadline() throws {
    let (left, right) = try LocalStream.pair()
    let deadline = HostClock.shared.now.advanced(by: .microseconds(1500))
    #expect(try !right.waitReadable(until: deadline))
    #expect(HostClock.shared.now >= deadline)
    left.close()
    #expect(try right.waitReadable(until: deadline))
  }

  @Test(
    "The kernel's timeout never ends before the deadline, and isn't endless by overflow",
    arguments: [
      (0, 0, 0), (5, 4, 0), (0, 1, 1), (0, 1_000_000, 1), (0, 1_000_001, 2), (Int64.min, Int64.max, Int32.max),
      (Int64.max, Int64.min, 0),
    ] as [(Int64, Int64, Int32)])
  func timeout(now: Int64, deadline: Int64, milliseconds: Int32) {
    let timeout = MonotonicTime(nanoseconds: now).waitTimeout(until: MonotonicTime(nanoseconds: deadline))
    #expect(timeout == milliseconds)
  }
}
