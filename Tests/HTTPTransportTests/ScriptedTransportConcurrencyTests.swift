import FileCoordinationTesting
import HTTPTestSupport
import HTTPTransport
import SystemInterface
import Testing

@Suite("Transports that follow a script")
struct ScriptedTransportConcurrencyTests {
  private static let ok = HTTPHead(status: 200)

  @Test("delays pass with the virtual clock, and the limit of silence ends a stream")
  func silence() async throws {
    let clock = VirtualClock()
    let transport = ScriptedTransport(clock: clock) { _, exchange in
      exchange.perform(
        .head(Self.ok), .piece([1]), .pause(.seconds(40)), .piece([2]), .pause(.seconds(80)), .piece([3]))
    }
    let response = try await transport.send(HTTPRequest("GET", "http://h/", limits: HTTPLimits(silence: .seconds(60))))
    let pieces = response.body.makeAsyncIterator()
    var iterator = pieces
    #expect(try await iterator.next() == [1])
    clock.advance(by: .seconds(40))
    #expect(try await iterator.next() == [2])
    clock.advance(by: .seconds(60))
    await #expect { _ = try await iterator.next() } throws: { ($0 as? HTTPTransportError)?.code == .timedOut }
    await #expect { _ = try await iterator.next() } throws: { ($0 as? HTTPTransportError)?.code == .timedOut }
    #expect(clock.scheduledCount == 1, "only the script's own pause is left")
  }

  @Test("a server that never answers ends at the limit of the head")
  func neverAnswering() async throws {
    let clock = VirtualClock()
    let transport = ScriptedTransport(clock: clock) { _, _ in }
    let asking = Task {
      try await transport.send(HTTPRequest("GET", "http://h/", limits: HTTPLimits(head: .seconds(30))))
    }
    try await clock.waitForScheduled(count: 1)
    clock.advance(by: .seconds(30))
    await #expect { _ = try await asking.value } throws: { ($0 as? HTTPTransportError)?.code == .timedOut }
  }

  @Test("a cut body is an error after its pieces")
  func cut() async throws {
    let lost = HTTPTransportError(.connectionLost, "cut")
    let transport = ScriptedTransport(clock: VirtualClock()) { _, exchange in
      exchange.perform(.head(Self.ok), .piece([1, 2]), .end(lost))
    }
    let response = try await transport.send(HTTPRequest("GET", "http://h/"))
    var iterator = response.body.makeAsyncIterator()
    #expect(try await iterator.next() == [1, 2])
    await #expect(throws: lost) { _ = try await iterator.next() }
  }

  @Test("a slow reader lets the server wait, and gets everything in order")
  func backPressure() async throws {
    let steps = (0..<100).map { ScriptedExchange.Step.piece([UInt8($0), 0, 0]) }
    let exchanges = Guarded<[ScriptedExchange]>([])
    let transport = ScriptedTransport(clock: VirtualClock()) { _, exchange in
      exchanges.withLock { $0.append(exchange) }
      exchange.perform([.head(Self.ok)] + steps + [.end(nil)])
    }
    let response = try await transport.send(HTTPRequest("GET", "http://h/", limits: HTTPLimits(bufferedByteCount: 12)))
    let exchange = try #require(exchanges.withLock { $0 }.first)
    #expect(exchange.waitingStepCount == 97)
    let all = try await response.body.collect(upTo: 300)
    #expect(all == (0..<100).flatMap { [UInt8($0), 0, 0] })
    #expect(exchange.waitingStepCount == 0 && exchange.isEnded)
  }

  @Test("a body longer than its reader takes is an error, and ends the exchange")
  func tooLong() async throws {
    let exchanges = Guarded<[ScriptedExchange]>([])
    let transport = ScriptedTransport(clock: VirtualClock()) { _, exchange in
      exchanges.withLock { $0.append(exchange) }
      exchange.perform(.head(Self.ok), .piece([1, 2, 3]), .piece([4]))
    }
    let response = try await transport.send(HTTPRequest("GET", "http://h/"))
    await #expect { _ = try await response.body.collect(upTo: 3) } throws: {
      ($0 as? HTTPTransportError)?.code == .invalidResponse
    }
    #expect(try #require(exchanges.withLock { $0 }.first).isEnded)
  }

  @Test("cancelling the task, or dropping the body, ends the exchange")
  func cancelling() async throws {
    let exchanges = Guarded<[ScriptedExchange]>([])
    let clock = VirtualClock()
    let transport = ScriptedTransport(clock: clock) { _, exchange in
      exchanges.withLock { $0.append(exchange) }
      exchange.perform(.head(Self.ok))
    }
    let reading = Task {
      try await transport.send(HTTPRequest("GET", "http://h/", limits: HTTPLimits(whole: .seconds(5)))).body.collect(
        upTo: 1)
    }
    try await clock.waitForScheduled(count: 1)
    reading.cancel()
    await #expect { _ = try await reading.value } throws: { ($0 as? HTTPTransportError)?.code == .cancelled }
    _ = try await transport.send(HTTPRequest("GET", "http://h/"))
    let both = exchanges.withLock { $0 }
    #expect(both.count == 2 && both.allSatisfy(\.isEnded))
    #expect(clock.scheduledCount == 0)
  }
}
