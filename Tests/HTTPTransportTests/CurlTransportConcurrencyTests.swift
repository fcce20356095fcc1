import Foundation
import HTTPTestSupport
import HTTPTransport
import SystemInterface
import TestSupport
import Testing

/// Whether the machine has libcurl; Foundation's own requests need it, too.
private let hasLibrary: Bool = {
  guard let transport = try? CurlTransport() else { return false }
  transport.shutDown()
  return true
}()

@Suite(
  "Transport on libcurl", .blocking, .serialized, .timeLimit(.minutes(5)),
  .enabled(if: hasLibrary, "needs libcurl.so.4, of the package libcurl4"))
struct CurlTransportConcurrencyTests {
  private func withServer<Result>(
    at path: String? = nil, _ answer: @escaping @Sendable (LoopbackServer.Request, LoopbackServer.Connection) -> Bool,
    _ body: (LoopbackServer, CurlTransport) async throws -> Result
  ) async throws -> Result {
    let server = try #require(LoopbackServer(at: path, answer))
    defer { server.close() }
    let transport = try CurlTransport()
    defer {
      transport.shutDown()
      transport.ended.wait()
    }
    return try await body(server, transport)
  }

  private func code(_ body: () async throws -> Void) async -> HTTPTransportError.Code? {
    do {
      try await body()
      return nil
    } catch { return (error as? HTTPTransportError)?.code }
  }

  @Test("method, address, headers and body reach the server, and the connection is used again")
  func requests() async throws {
    try await withServer { request, connection in
      connection.respond(
        201, "\(request.line)|\(request.headers.sorted().joined(separator: "|"))|\(request.body.count)")
    } _: { server, transport in
      for (method, body) in [("PUT", [UInt8](repeating: 65, count: 3 << 20)), ("POST", []), ("DELETE", nil)] {
        let request = HTTPRequest(
          method, server.url("/a?b=c"), headers: [HTTPHeader("X-A", "1"), HTTPHeader("X-Empty", "")], body: body)
        let response = try await transport.send(request)
        #expect(response.head.status == 201)
        let text = String(decoding: try await response.body.collect(upTo: 4096), as: UTF8.self)
        let length = body.map { "Content-Length: \($0.count)|" } ?? ""
        #expect(
          text
            == "\(method) /a?b=c HTTP/1.1|Accept: */*|\(length)Host: 127.0.0.1:\(server.port)|X-A: 1|X-Empty:|\(body?.count ?? 0)"
        )
      }
      // The request with an empty body has a connection of its own, because nothing else keeps libcurl from sending it again.
      #expect(server.acceptedCount == 2)
    }
  }

  @Test("an answer that is cut into packets at each byte is the same answer")
  func eachByte() async throws {
    let answer = Array(
      "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n".utf8)
    try await withServer { request, connection in
      let cut = Int(request.line.split(separator: " ")[1].dropFirst()) ?? 0
      connection.send(answer[..<cut])
      HostThread.yield()
      return connection.send(answer[cut...])
    } _: { server, transport in
      for cut in 1..<answer.count {
        let response = try await transport.send(HTTPRequest("GET", server.url("/\(cut)")))
        #expect(response.head.value(of: "a") == "b")
        #expect(
          String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self) == "abc0123456789",
          "cut at \(cut)")
      }
    }
  }

  @Test(
    "an answer that ends too early, or isn't HTTP, is an error and never a short body",
    arguments: [
      ("", HTTPTransportError.Code.connectionLost),
      ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", .connectionLost),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", .connectionLost),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", .connectionLost),
      ("<html>no</html>\n\n", .invalidResponse),
    ])
  func broken(answer: String, expected: HTTPTransportError.Code) async throws {
    try await withServer { _, connection in
      connection.send(answer)
      return false
    } _: { server, transport in
      let found = await code { _ = try await transport.send(HTTPRequest("GET", server.url())).body.collect(upTo: 100) }
      #expect(found == expected)
    }
  }

  @Test("a server that never answers ends at the limit, one that falls silent as well; the connections are closed")
  func limits() async throws {
    try await withServer { request, connection in
      if request.line.contains("silent") { connection.send("HTTP/1.1 200 OK\r\n\r\nabc") }
      connection.awaitEnd()
      return false
    } _: { server, transport in
      for (path, limits) in [
        ("/never", HTTPLimits(head: .milliseconds(50))), ("/silent", HTTPLimits(silence: .milliseconds(50))),
        ("/silent", HTTPLimits(whole: .milliseconds(50))),
      ] {
        let found = await code {
          _ = try await transport.send(HTTPRequest("GET", server.url(path), limits: limits)).body.collect(upTo: 100)
        }
        #expect(found == .timedOut)
      }
      server.awaitConnections { $0 == 0 }
    }
  }

  @Test("a server that isn't there, or whose name has no address: the request wasn't sent")
  func unreachable() async throws {
    let port = try await withServer { _, _ in
      false
    } _: { server, _ in
      server.port
    }
    let transport = try CurlTransport()
    for (url, code) in [
      ("http://127.0.0.1:\(port)/", HTTPTransportError.Code.cannotConnect), ("http://nowhere.invalid/", .cannotResolve),
      ("http:///", .invalidRequest),
    ] {
      await #expect { _ = try await transport.send(HTTPRequest("GET", url)) } throws: { error in
        (error as? HTTPTransportError)?.code == code && (error as? HTTPTransportError)?.isUnsent == true
      }
    }
  }

  @Test("cancelling ends a request that waits, long before its limit")
  func cancelling() async throws {
    try await withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\n\r\nabc")
      connection.awaitEnd()
      return false
    } _: { server, transport in
      let start = MonotonicTime.host()
      let reading = Task {
        try await transport.send(HTTPRequest("GET", server.url(), limits: HTTPLimits(whole: .seconds(100)))).body
          .collect(upTo: 100)
      }
      server.awaitConnections { $0 == 1 }
      reading.cancel()
      #expect(await code { _ = try await reading.value } == .cancelled)
      server.awaitConnections { $0 == 0 }
      #expect(start.duration(to: .host()) < .seconds(50))
    }
  }

  @Test("200 streams at once, each with its own bytes; afterwards no descriptor and no thread is left")
  func manyStreams() async throws {
    // In a process of its own: other tests open files and make transports meanwhile.
    await #expect(processExitsWith: .success) {
      try await CurlTransportConcurrencyTests().expectNothingLeftOfManyStreams()
    }
  }

  private func expectNothingLeftOfManyStreams() async throws {
    // Once before: Dispatch and libcurl open some for the whole process when they're first used.
    try await exchangeStreams(1)
    let before = Self.descriptors()
    try await exchangeStreams(200)
    #expect(Self.descriptors().filter { before[$0.key] == nil }.isEmpty)
    #expect(threadsAreGone(named: "file-coord-http"))
  }

  /// The open descriptors, with the files they're of, but those of clocks: Dispatch opens these when it needs one, and neither libcurl nor
  /// the transport does.
  private static func descriptors() -> [String: String] {
    let (manager, directory) = (FileManager.default, "/proc/self/fd")
    let names = (try? manager.contentsOfDirectory(atPath: directory)) ?? []
    let all = names.compactMap { name in
      (try? manager.destinationOfSymbolicLink(atPath: "\(directory)/\(name)")).map { (name, $0) }
    }
    return Dictionary(uniqueKeysWithValues: all.filter { $0.1 != "anon_inode:[timerfd]" })
  }

  private func exchangeStreams(_ streams: Int) async throws {
    try await withServer { request, connection in
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      let name = request.line.split(separator: " ")[1]
      for index in 0..<20 { connection.send("\(name):\(index);") }
      connection.awaitEnd()
      return false
    } _: { server, transport in
      try await withThrowingTaskGroup(of: HTTPBody.self) { group in
        for number in 0..<streams {
          group.addTask {
            let body = try await transport.send(HTTPRequest("GET", server.url("/\(number)"))).body
            let expected = (0..<20).map { "/\(number):\($0);" }.joined()
            var text = ""
            var iterator = body.makeAsyncIterator()
            while text.utf8.count < expected.utf8.count, let piece = try await iterator.next() {
              text += String(decoding: piece, as: UTF8.self)
            }
            #expect(text == expected)
            return body
          }
        }
        var bodies: [HTTPBody] = []
        for try await body in group { bodies.append(body) }
        #expect(server.connectionCount == streams)
      }
      server.awaitConnections { $0 == 0 }
    }
  }

  /// The thread has reported its end, but the kernel may list it for a moment.
  private func threadsAreGone(named name: String) -> Bool {
    for _ in 0..<10_000 {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.compactMap {
        try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
      }
      if names?.contains("\(name)\n") == false { return true }
      HostThread.yield()
    }
    return false
  }

  @Test("a slow reader lets the server wait: no more than the room is in memory")
  func backPressure() async throws {
    let size = 64 << 20
    let sent = Guarded(0)
    let mostlySent = ThreadEvent()
    try await withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
      let piece = [UInt8](repeating: 1, count: 1 << 20)
      for _ in 0..<(size >> 20) {
        if !connection.send(piece) { break }
        sent.withLock { $0 += piece.count }
      }
      mostlySent.signal()
      return true
    } _: { server, transport in
      let limits = HTTPLimits(silence: .seconds(20), bufferedByteCount: 1 << 20)
      let body = try await transport.send(HTTPRequest("GET", server.url(), limits: limits)).body
      // The server can't get rid of more than the buffers of the kernel and ours have room for.
      #expect(!mostlySent.wait(until: MonotonicTime.host().advanced(by: .milliseconds(300))))
      #expect(sent.withLock { $0 } < size / 2)
      #expect(try await body.collect(upTo: size).count == size)
      mostlySent.wait()
    }
  }

  @Test("a Unix-domain socket is connected to in place of the host")
  func socket() async throws {
    let directory = NSTemporaryDirectory() + "http-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await withServer(at: directory + "/s") { request, connection in
      connection.respond(200, request.line)
    } _: { _, transport in
      let request = HTTPRequest("GET", "http://host.invalid/x", socketPath: directory + "/s")
      let answer = try await transport.send(request).body.collect(upTo: 100)
      #expect(answer == Array("GET /x HTTP/1.1".utf8))
    }
  }

  @Test("a proxy of the environment is used for other hosts, and not for this one")
  func proxy() async throws {
    try await withServer { request, connection in
      connection.respond(200, request.line)
    } _: { proxy, transport in
      try await withServer { request, connection in
        connection.respond(200, request.line)
      } _: { server, _ in
        ProcessEnvironment.set("http_proxy", "http://127.0.0.1:\(proxy.port)")
        defer { ProcessEnvironment.set("http_proxy", "") }
        let far = try await transport.send(HTTPRequest("GET", "http://far.invalid/")).body.collect(upTo: 100)
        #expect(far == Array("GET http://far.invalid/ HTTP/1.1".utf8))
        let near = try await transport.send(HTTPRequest("GET", server.url())).body.collect(upTo: 100)
        #expect(near == Array("GET / HTTP/1.1".utf8))
        #expect(proxy.acceptedCount == 1)
      }
    }
  }

  @Test(
    "a request whose connection ends without an answer isn't sent a second time, even on a connection that was used before",
    arguments: [0, 1, 100, 200_000])
  func sentOnce(size: Int) async throws {
    let received = Guarded(0)
    try await withServer { request, connection in
      if request.line.contains("first") { return connection.respond(200, "") }
      received.withLock { $0 += 1 }
      return false
    } _: { server, transport in
      _ = try await transport.send(HTTPRequest("POST", server.url("/first"), body: [1])).body.collect(upTo: 1)
      let request = HTTPRequest("POST", server.url("/second"), body: [UInt8](repeating: 65, count: size))
      await #expect { _ = try await transport.send(request) } throws: { error in
        let error = error as? HTTPTransportError
        return error?.code == .connectionLost && error?.isUnsent == false
      }
    }
    #expect(received.withLock { $0 } == 1)
  }

  @Test("shutting down ends what runs, and later requests fail without being sent")
  func shuttingDown() async throws {
    try await withServer { _, connection in
      connection.awaitEnd()
      return false
    } _: { server, transport in
      let asking = Task { try await transport.send(HTTPRequest("GET", server.url())) }
      server.awaitConnections { $0 == 1 }
      transport.shutDown()
      #expect(await code { _ = try await asking.value } == .shutDown)
      #expect(await code { _ = try await transport.send(HTTPRequest("GET", server.url())) } == .shutDown)
    }
  }

  @Test("where the library is missing, or too old, the error names the package")
  func missing() {
    for (library, words) in [("libcurl.so.missing", "can't be loaded"), ("libc.so.6", "has no function 'curl_")] {
      #expect { _ = try CurlTransport(library: library) } throws: { error in
        let error = error as? HTTPTransportError
        return error?.code == .libraryMissing && error?.message.contains("libcurl4") == true
          && error?.message.contains(words) == true
      }
    }
  }
}
