import CTestShims
import Glibc
import SystemInterface

/// A server of HTTP/1.1 on loopback or at a Unix-domain socket, with a thread for each connection.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | each connection has a thread, and a test ends all of them |
package final class LoopbackServer: Sendable {
  /// A request that was read whole.
  package struct Request: Sendable {
    package let line: String
    package let headers: [String]
    package let body: [UInt8]
  }

  private struct State: Sendable {
    var connections: Set<Int32> = []
    var acceptedCount = 0
    var threadCount = 0
    var isClosing = false
  }

  private let state = Guarded(State())
  private let listener: Int32
  private let idle = Doorbell()

  /// The port on loopback; 0 at a path.
  package let port: Int

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - path: The path of a Unix-domain socket; `nil` listens on loopback.
  ///   - answer: Answers each request, on the thread of its connection; the result says whether the connection stays open.
  package init?(at path: String? = nil, _ answer: @escaping @Sendable (Request, Connection) -> Bool) {
    var port: Int32 = 0
    listener = path.map { test_listen_locally($0) } ?? test_listen(&port)
    if listener < 0 { return nil }
    self.port = Int(port)
    state.withLock { $0.threadCount += 1 }
    HostThread.start(name: "test-listener") { self.accept(answer) }
  }

  /// A port on loopback at which nobody listens now.
  package static func freePort() -> Int? {
    var port: Int32 = 0
    let listener = test_listen(&port)
    if listener < 0 { return nil }
    Glibc.close(listener)
    return Int(port)
  }

  /// The address of a path.
  package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

  /// How many connections there have been.
  package var acceptedCount: Int { state.withLock { $0.acceptedCount } }

  /// How many connections there are.
  package var connectionCount: Int { state.withLock { $0.connections.count } }

  /// Waits until a number of connections are there.
  package func awaitConnections(_ condition: (Int) -> Bool) {
    while true {
      let count = idle.count
      if condition(connectionCount) { return }
      idle.wait(since: count)
    }
  }

  /// Ends all connections and waits for the threads.
  package func close() {
    state.withLock { state in
      state.isClosing = true
      for connection in state.connections { test_shut_down(connection) }
    }
    test_shut_down(listener)
    while true {
      let count = idle.count
      if state.withLock({ $0.threadCount }) == 0 { break }
      idle.wait(since: count)
    }
    Glibc.close(listener)
  }

  private func accept(_ answer: @escaping @Sendable (Request, Connection) -> Bool) {
    while true {
      let number = test_accept(listener)
      if number < 0 { break }
      let isWanted = state.withLock { state -> Bool in
        if state.isClosing { return false }
        state.connections.insert(number)
        state.acceptedCount += 1
        state.threadCount += 1
        return true
      }
      guard isWanted else {
        Glibc.close(number)
        continue
      }
      idle.ring()
      HostThread.start(name: "test-server") { self.serve(number, answer) }
    }
    threadEnded()
  }

  private func serve(_ number: Int32, _ answer: (Request, Connection) -> Bool) {
    let connection = Connection(number)
    while let request = connection.readRequest(), answer(request, connection) {}
    state.withLock { state in
      state.connections.remove(number)
      Glibc.close(number)
    }
    threadEnded()
  }

  private func threadEnded() {
    state.withLock { $0.threadCount -= 1 }
    idle.ring()
  }
}

extension LoopbackServer {
  /// The server's side of a connection, for its thread.
  package final class Connection {
    private let number: Int32
    private var received: [UInt8] = []

    init(_ number: Int32) { self.number = number }

    /// Sends bytes; false if the client is gone.
    @discardableResult
    package func send(_ bytes: some Sequence<UInt8>) -> Bool {
      let bytes = Array(bytes)
      var sent = 0
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes { test_send(number, $0.baseAddress, UInt($0.count)) }
        if count <= 0 { return false }
        sent += count
      }
      return true
    }

    /// Sends text.
    @discardableResult
    package func send(_ text: String) -> Bool { send(text.utf8) }

    /// Sends a whole response.
    @discardableResult
    package func respond(_ status: Int = 200, _ body: String) -> Bool {
      send("HTTP/1.1 \(status) Any\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Waits until the client has ended the connection.
    package func awaitEnd() {
      while receive() {}
    }

    private func receive() -> Bool {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = read(number, &bytes, bytes.count)
      if count <= 0 { return false }
      received += bytes[..<count]
      return true
    }

    func readRequest() -> Request? {
      while true {
        if let request = takeRequest() { return request }
        if !receive() { return nil }
      }
    }

    private func takeRequest() -> Request? {
      let end = Array("\r\n\r\n".utf8)
      guard received.count >= 4,
        let start = (0...received.count - 4).first(where: { Array(received[$0..<$0 + 4]) == end })
      else { return nil }
      let lines = String(decoding: received[..<start], as: UTF8.self).split(separator: "\r\n").map(String.init)
      let prefix = "content-length:"
      let length =
        lines.first { $0.lowercased().hasPrefix(prefix) }
        .flatMap { Int($0.dropFirst(prefix.count).filter { $0 != " " }) } ?? 0
      guard received.count >= start + 4 + length else { return nil }
      let body = Array(received[(start + 4)..<(start + 4 + length)])
      received.removeFirst(start + 4 + length)
      return Request(line: lines.first ?? "", headers: Array(lines.dropFirst()), body: body)
    }
  }
}
