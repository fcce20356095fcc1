import CTestShims
import Glibc
import SystemInterface

/// Passes bytes on between programs and a server on loopback, and can stop doing so.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | each direction of a connection has a thread, and a test ends or stops all of them |
package final class LoopbackProxy: Sendable {
  private struct Link: Sendable {
    var client: Int32
    var server: Int32
    var threadCount = 2
  }

  private struct State: Sendable {
    var links: [Int: Link] = [:]
    var linkCount = 0
    var isFrozen = false
    var isClosing = false
    var threadCount = 1
    /// How many bytes from the server are passed on before all connections are cut; `nil` for all.
    var bytesUntilCut: Int?
  }

  private let state = Guarded(State())
  private let listener: Int32
  private let changed = Doorbell()
  private let serverPort: Int

  /// The port on loopback.
  package let port: Int

  /// Starts a proxy of a port on loopback.
  package init?(to serverPort: Int) {
    var port: Int32 = 0
    listener = test_listen(&port)
    if listener < 0 { return nil }
    self.port = Int(port)
    self.serverPort = serverPort
    HostThread.start(name: "test-proxy") { self.accept() }
  }

  /// Passes nothing on from now on: both sides keep their connections and hear nothing, as when a cable is pulled.
  package func freeze() { state.withLock { $0.isFrozen = true } }

  /// Passes everything on again, and what came meanwhile.
  package func thaw() {
    state.withLock { $0.isFrozen = false }
    changed.ring()
  }

  /// Ends all connections.
  package func cut() { state.withLock { Self.cut(&$0) } }

  /// Ends all connections after so many bytes from the server, in the middle of a message if it's there.
  package func cut(after byteCount: Int) { state.withLock { $0.bytesUntilCut = byteCount } }

  /// Ends all connections and waits for the threads.
  package func close() {
    state.withLock { state in
      state.isClosing = true
      Self.cut(&state)
    }
    test_shut_down(listener)
    changed.ring()
    while true {
      let count = changed.count
      if state.withLock({ $0.threadCount }) == 0 { break }
      changed.wait(since: count)
    }
    Glibc.close(listener)
  }

  private static func cut(_ state: inout State) {
    state.bytesUntilCut = nil
    for link in state.links.values {
      test_shut_down(link.client)
      test_shut_down(link.server)
    }
  }

  private func accept() {
    while true {
      let client = test_accept(listener)
      if client < 0 { break }
      let server = test_connect(Int32(serverPort))
      let number = state.withLock { state -> Int? in
        guard server >= 0, !state.isClosing else { return nil }
        state.linkCount += 1
        state.threadCount += 2
        state.links[state.linkCount] = Link(client: client, server: server)
        return state.linkCount
      }
      guard let number else {
        Glibc.close(client)
        if server >= 0 { Glibc.close(server) }
        continue
      }
      HostThread.start(name: "test-proxy-up") { self.pump(number, from: client, to: server, isFromServer: false) }
      HostThread.start(name: "test-proxy-down") { self.pump(number, from: server, to: client, isFromServer: true) }
    }
    threadEnded()
  }

  private func pump(_ number: Int, from source: Int32, to target: Int32, isFromServer: Bool) {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(source, &bytes, bytes.count)
      if count <= 0 { break }
      awaitThaw()
      let (passed, isCut) = isFromServer ? passed(count) : (count, false)
      var sent = 0
      while sent < passed {
        let done = bytes[sent..<passed].withUnsafeBytes { test_send(target, $0.baseAddress, UInt($0.count)) }
        if done <= 0 { break }
        sent += done
      }
      if isCut { cut() }
      if sent < count { break }
    }
    state.withLock { state in
      guard var link = state.links[number] else { return }
      test_shut_down(link.client)
      test_shut_down(link.server)
      link.threadCount -= 1
      state.links[number] = link.threadCount == 0 ? nil : link
      if link.threadCount == 0 {
        Glibc.close(link.client)
        Glibc.close(link.server)
      }
    }
    threadEnded()
  }

  private func awaitThaw() {
    while true {
      let count = changed.count
      if state.withLock({ !$0.isFrozen || $0.isClosing }) { return }
      changed.wait(since: count)
    }
  }

  /// How many of the bytes from the server are passed on, and whether that's where the connections are cut.
  private func passed(_ count: Int) -> (Int, isCut: Bool) {
    state.withLock { state in
      guard let left = state.bytesUntilCut else { return (count, false) }
      state.bytesUntilCut = left > count ? left - count : nil
      return (min(left, count), left <= count)
    }
  }

  private func threadEnded() {
    state.withLock { $0.threadCount -= 1 }
    changed.ring()
  }
}
