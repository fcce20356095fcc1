import EtcdClient
import FileCoordinationTesting
import HTTPTestSupport
import HTTPTransport
import SystemInterface
import Testing

/// A client whose gateway is a script, with the quirks of the real one.
@Suite("Client at a scripted gateway", .timeLimit(.minutes(4)))
struct ScriptedGatewayConcurrencyTests {
  /// The requests so far.
  final class Log: Sendable {
    private let entries = Guarded<[String]>([])

    /// Adds a request, and tells how many of its kind were before.
    func add(_ request: HTTPRequest) -> Int {
      let path = String(request.url.dropFirst("http://h".count))
      return entries.withLock { entries in
        entries.append(path)
        return entries.count { $0 == path } - 1
      }
    }

    var all: [String] { entries.withLock { $0 } }
  }

  private let clock = VirtualClock()
  private let log = Log()

  private func client(
    endpoints: Int = 1, user: String? = nil, configure: (inout EtcdClient.Configuration) -> Void = { _ in },
    answer: @escaping @Sendable (HTTPRequest, ScriptedExchange, Int) -> Void
  ) -> EtcdClient {
    let addresses = (1...endpoints).map { EtcdEndpoint("http://h\($0)") }
    let transport = ScriptedTransport(clock: clock) { [log] request, exchange in
      answer(request, exchange, log.add(request))
    }
    var configuration = EtcdClient.Configuration(endpoints: addresses, user: user, password: "p")
    configure(&configuration)
    return EtcdClient(configuration, transport: transport, clock: clock)
  }

  private func error(_ body: () async throws -> Void) async -> EtcdError? {
    do {
      try await body()
      return nil
    } catch { return error as? EtcdError }
  }

  private static func refuse(_ exchange: ScriptedExchange) {
    exchange.perform(.end(HTTPTransportError(.cannotConnect, "refused", isUnsent: true)))
  }

  @Test(
    "each refusal of the server has its code, and says that nothing was changed",
    arguments: [
      (400, 3, "etcdserver: key is not provided", EtcdError.Code.invalidArgument),
      (400, 3, "etcdserver: too many operations in txn request", .tooManyOperations),
      (400, 3, "etcdserver: duplicate key given in txn request", .duplicateKey),
      (400, 3, "etcdserver: request is too large", .tooLarge),
      (400, 11, "etcdserver: mvcc: required revision has been compacted", .compacted),
      (400, 11, "etcdserver: mvcc: required revision is a future revision", .futureRevision),
      (404, 5, "etcdserver: requested lease not found", .leaseNotFound),
      (412, 9, "etcdserver: lease already exists", .leaseExists),
      (403, 7, "etcdserver: permission denied", .permissionDenied),
      (400, 3, "etcdserver: user name is empty", .authenticationMismatch),
      (412, 9, "etcdserver: authentication is not enabled", .authenticationMismatch),
      (400, 3, "etcdserver: authentication failed, invalid user ID or password", .wrongPassword),
      (401, 16, "etcdserver: invalid auth token", .tokenRefused),
    ])
  func refusals(status: Int, grpc: Int, message: String, code: EtcdError.Code) async {
    let client = client { _, exchange, _ in
      exchange.respond(status, "{\"error\":\"\(message)\",\"message\":\"\(message)\",\"code\":\(grpc)}")
    }
    let found = await error { try await client.put("a", "b") }
    #expect(found?.code == code && found?.mayHaveBeenApplied == false && found?.cause == nil)
    #expect(log.all == ["1/v3/kv/put"])
  }

  @Test(
    "an answer that isn't etcd's is an error, and a write may have been made",
    arguments: [
      (200, "<html>", EtcdError.Code.invalidAnswer), (200, "{}x", .invalidAnswer), (200, "[]", .invalidAnswer),
      (302, "", .invalidAnswer),
      (500, "oops", .unavailable), (502, "<html>", .unavailable),
      (200, "{\"header\":{\"revision\":\"x\"}}", .invalidAnswer), (200, "{}", .invalidAnswer),
    ])
  func strangeAnswers(status: Int, text: String, code: EtcdError.Code) async {
    let client = client { _, exchange, _ in exchange.respond(status, text) }
    let found = await error { try await client.put("a", "b") }
    #expect(found?.code == code && found?.mayHaveBeenApplied == true)
    #expect(log.all == ["1/v3/kv/put"])
  }

  @Test("CE-08: a server without space may have made the write that it refuses")
  func noSpace() async {
    let client = client { _, exchange, _ in
      exchange.respond(429, "{\"message\":\"etcdserver: mvcc: database space exceeded\",\"code\":8}")
    }
    let found = await error { try await client.put("a", "b") }
    #expect(found?.code == .noSpace && found?.mayHaveBeenApplied == true)
    #expect(log.all == ["1/v3/kv/put"])
  }

  @Test("an empty object is no answer of etcd to any call about keys")
  func emptyAnswers() async {
    let client = client { _, exchange, _ in exchange.respond(200, "{}") }
    #expect(await error { _ = try await client.get("a") }?.code == .invalidAnswer)
    #expect(await error { _ = try await client.delete(.key("a")) }?.code == .invalidAnswer)
    let transaction = EtcdTransaction(then: [.put("a", "b")])
    #expect(await error { _ = try await client.transact(transaction) }?.code == .invalidAnswer)
  }

  @Test("absent members are zeros and empty values, and integers of 64 bits are exact")
  func absentMembers() async throws {
    let client = client { _, exchange, _ in
      exchange.respond(
        200,
        "{\"header\":{\"revision\":\"9223372036854775807\"},\"kvs\":[{\"key\":\"YQ==\",\"mod_revision\":\"9007199254740993\"}],\"count\":\"1\"}"
      )
    }
    let result = try await client.range(.all)
    #expect(result.revision == .max && !result.hasMore && result.count == 1)
    #expect(
      result.keyValues == [
        EtcdKeyValue(key: "a", value: "", createRevision: 0, modRevision: 9_007_199_254_740_993, version: 0)
      ])
  }

  @Test("a write goes to the next server if the first one can't be reached, and not if its answer was lost")
  func failover() async throws {
    let client = client(endpoints: 2) { request, exchange, count in
      if request.url.hasPrefix("http://h1"), count == 0 { return Self.refuse(exchange) }
      if request.url.hasPrefix("http://h2"), count == 1 {
        return exchange.perform(.end(HTTPTransportError(.connectionLost, "cut")))
      }
      exchange.respond(200, "{\"header\":{\"revision\":\"3\"}}")
    }
    #expect(try await client.put("a", "1") == 3)
    let lost = await error { try await client.put("a", "2") }
    #expect(lost?.code == .unavailable && lost?.mayHaveBeenApplied == true)
    #expect(lost?.cause?.code == .connectionLost)
    #expect(log.all == ["1/v3/kv/put", "2/v3/kv/put", "2/v3/kv/put"])
  }

  @Test("CE-08: a transaction with a name is sent again after its answer was lost, and recognised")
  func named() async throws {
    let bodies = Guarded<[[UInt8]?]>([])
    let client = client(endpoints: 2) { request, exchange, _ in
      bodies.withLock { $0.append(request.body) }
      if request.url.hasPrefix("http://h1") {
        return exchange.perform(.end(HTTPTransportError(.connectionLost, "cut")))
      }
      let marker =
        "{\"key\":\"bg==\",\"value\":\"MQ==\",\"create_revision\":\"7\",\"mod_revision\":\"7\",\"version\":\"1\"}"
      exchange.respond(
        200,
        "{\"header\":{\"revision\":\"9\"},\"succeeded\":true,\"responses\":[{\"response_range\":{\"kvs\":[\(marker)],\"count\":\"1\"}}]}"
      )
    }
    let name = EtcdOperationName(key: "n", lease: nil)
    let result = try await client.transact(EtcdTransaction(then: [.put("a", "b")]), name: name)
    #expect(result.revision == 7 && result.succeeded && result.results.isEmpty && result.wasRepeated)
    let sent = bodies.withLock { $0 }
    #expect(sent.count == 2 && sent.first == sent.last)
  }

  @Test("CE-10: a call without an answer ends at its limit, after other servers were asked")
  func neverAnswering() async throws {
    let client = client(endpoints: 2) { _, _, _ in }
    let asking = Task { await error { _ = try await client.get("a") } }
    for _ in 0..<3 {
      try await clock.waitForScheduled(count: 1)
      clock.advance(by: .seconds(4))
      await Task.yield()
    }
    while !clock.isIdle { clock.advance(by: .seconds(1)); await Task.yield() }
    let found = await asking.value
    #expect(found?.code == .timedOut && found?.mayHaveBeenApplied == false)
    #expect(Array(log.all.prefix(2)) == ["1/v3/kv/range", "2/v3/kv/range"])
    #expect(clock.now <= MonotonicTime(nanoseconds: 0).advanced(by: .seconds(20)))
  }

  @Test("the token is in the header without 'Bearer'; one that has expired is renewed once")
  func tokens() async throws {
    let client = client(user: "u") { request, exchange, count in
      if request.url.hasSuffix("authenticate") { return exchange.respond(200, "{\"token\":\"t\(count)\"}") }
      let token = request.headers.first { $0.name == "Authorization" }?.value
      if token == "t0", count > 0 {
        return exchange.respond(401, "{\"error\":\"etcdserver: invalid auth token\",\"code\":16}")
      }
      exchange.respond(200, "{\"header\":{\"revision\":\"\(token == "t1" ? 2 : 1)\"}}")
    }
    #expect(try await client.put("a", "b") == 1)
    #expect(try await client.put("a", "b") == 2)
    #expect(
      log.all == [
        "1/v3/auth/authenticate", "1/v3/kv/put", "1/v3/kv/put", "1/v3/auth/authenticate", "1/v3/kv/put",
      ])
  }

  @Test("pages are read at the revision of the first one")
  func pages() async throws {
    let client = client { request, exchange, count in
      let body = String(decoding: request.body ?? [], as: UTF8.self)
      #expect(body.contains("\"revision\":\"5\"") == (count > 0))
      let key = Base64.encode([UInt8(97 + count)])
      exchange.respond(
        200,
        "{\"header\":{\"revision\":\"\(5 + count)\"},\"kvs\":[{\"key\":\"\(key)\"}],\"more\":\(count < 2),\"count\":\"3\"}"
      )
    }
    let all = try await client.allPages(.prefix(""), pageSize: 1)
    #expect(all.revision == 5 && all.keyValues.map(\.key) == ["a", "b", "c"] && !all.hasMore)
  }

  private static func message(_ revision: Int64, created: Bool = false, keys: [(String, Int64)] = []) -> String {
    let events = keys.map { "{\"kv\":{\"key\":\"\(Base64.encode(Array($0.0.utf8)))\",\"mod_revision\":\"\($0.1)\"}}" }
      .joined(separator: ",")
    return
      "{\"result\":{\"header\":{\"cluster_id\":\"1\",\"revision\":\"\(revision)\"}\(created ? ",\"created\":true" : ""),\"events\":[\(events)]}}\n"
  }

  @Test("CE-07: a stream that's cut in the middle of a message is replaced behind the last change")
  func watchCut() async throws {
    let client = client { request, exchange, count in
      let text = String(decoding: request.body ?? [], as: UTF8.self)
      let head = ScriptedExchange.Step.head(HTTPHead(status: 200))
      #expect(request.headers.contains(HTTPHeader("Grpc-Metadata-hasleader", "true")))
      switch count {
      case 0:
        let all =
          Self.message(9, created: true) + Self.message(12, keys: [("a", 10), ("b", 11)])
          + Self.message(13, keys: [("a", 12)])
        let pieces = all.utf8.dropLast(9).map { ScriptedExchange.Step.piece([$0]) }
        exchange.perform([head] + pieces + [.end(HTTPTransportError(.connectionLost, "cut"))])
      case 1:
        #expect(text.contains("\"start_revision\":\"12\""))
        exchange.respond(503, "{\"error\":{\"grpc_code\":14,\"http_code\":503,\"message\":\"etcdserver: no leader\"}}")
      default:
        #expect(text.contains("\"start_revision\":\"12\""))
        exchange.perform(
          head, .piece(Array((Self.message(13, created: true) + Self.message(13, keys: [("a", 12)])).utf8)))
      }
    }
    let reading = Task {
      var batches: [EtcdWatchBatch] = []
      for try await batch in client.watch(.prefix("")) {
        batches.append(batch)
        if batches.count == 3 { break }
      }
      return batches
    }
    // The pauses before the next attempts end; time stands still while the client reads.
    let ticking = Task { [clock] in
      while true {
        try await clock.waitForDeadline(within: .seconds(1))
        clock.advance(by: .seconds(1))
      }
    }
    let batches = try await reading.value
    ticking.cancel()
    #expect(batches.map(\.revision) == [9, 11, 12])
    #expect(batches.map { $0.changes.map(\.key) } == [[], ["a", "b"], ["a"]])
  }

  @Test("a watch that's silent for too long is replaced, one that the server says was compacted ends")
  func watchSilence() async throws {
    let client = client { _, exchange, count in
      exchange.perform(.head(HTTPHead(status: 200)))
      if count == 0 { return exchange.perform(.piece(Array(Self.message(9, created: true).utf8))) }
      let canceled = "{\"result\":{\"header\":{\"cluster_id\":\"1\"},\"canceled\":true,\"compact_revision\":\"40\"}}\n"
      exchange.perform(.piece(Array((Self.message(50, created: true) + canceled).utf8)))
    }
    let isOver = Guarded(false)
    let reading = Task {
      defer { isOver.withLock { $0 = true } }
      return await error { for try await _ in client.watch(.all, from: 10) {} }
    }
    // To the end: time may also go on before the second watch has its answer, which is silent for too long then.
    while !isOver.withLock({ $0 }) {
      clock.advance(by: .seconds(10))
      await Task.yield()
    }
    let found = await reading.value
    #expect(found?.code == .compacted && found?.compactRevision == 40)
    #expect(found?.message.contains("from revision 10 on") == true)
  }

  @Test("cancelling the task ends a call and a watch at once")
  func cancelling() async throws {
    let exchanges = Guarded<[ScriptedExchange]>([])
    let client = client { _, exchange, _ in exchanges.withLock { $0.append(exchange) } }
    let call = Task { await error { try await client.put("a", "b") } }
    let watch = Task { await error { for try await _ in client.watch(.all) {} } }
    try await clock.waitForScheduled(count: 2)
    call.cancel()
    watch.cancel()
    #expect(await call.value?.code == .cancelled)
    #expect(await watch.value?.code == .cancelled)
    #expect(exchanges.withLock { $0 }.count == 2 && exchanges.withLock { $0 }.allSatisfy(\.isEnded))
    #expect(clock.isIdle)
  }

  @Test(
    "a renewal that's answered without a time means that the lease has ended, and the work that needs it is cancelled")
  func leaseLost() async throws {
    let hasBegun = TestGate()
    let client = client { request, exchange, _ in
      if request.url.hasSuffix("grant") {
        exchange.respond(200, "{\"header\":{},\"ID\":\"5\",\"TTL\":\"30\"}")
      } else if request.url.hasSuffix("keepalive") {
        exchange.respond(200, "{\"result\":{\"header\":{},\"ID\":\"5\"}}\n")
      } else {
        exchange.respond(404, "{\"error\":\"etcdserver: requested lease not found\",\"code\":5}")
      }
    }
    let working = Task {
      await error {
        try await client.withLease(ttl: .seconds(30)) { lease in
          #expect(lease.isValid && lease.id == EtcdLeaseID(5))
          hasBegun.open()
          try await ManualWait().untilCancelled()
          #expect(!lease.isValid)
        }
      }
    }
    try await hasBegun.pass()
    try await clock.waitForScheduled(count: 1)
    clock.advance(by: .seconds(10))
    #expect(await working.value?.code == .leaseNotFound)
    #expect(log.all == ["1/v3/lease/grant", "1/v3/lease/keepalive", "1/v3/lease/revoke"])
  }

  @Test("CE-03: a renewal without an answer doesn't outlast the lease, however long calls may take")
  func renewalHangs() async throws {
    let client = client(
      endpoints: 1,
      configure: {
        $0.callLimit = .seconds(1000); $0.attemptLimit = .seconds(1000)
      }
    ) {
      request, exchange, _ in
      if request.url.hasSuffix("grant") {
        exchange.respond(200, "{\"header\":{},\"ID\":\"5\",\"TTL\":\"30\"}")
      } else if request.url.hasSuffix("revoke") {
        exchange.respond(200, "{\"header\":{}}")
      }
    }
    let working = Task {
      await error {
        try await client.withLease(ttl: .seconds(30)) { lease in
          try await ManualWait().untilCancelled()
          #expect(!lease.isValid)
        }
      }
    }
    // Time stands still unless something waits for it.
    while !log.all.contains("1/v3/lease/revoke") {
      if clock.scheduledCount >= 1 { clock.advance(by: .milliseconds(500)) }
      await Task.yield()
    }
    #expect(await working.value?.code == .leaseNotFound)
    #expect(log.all.count { $0.hasSuffix("keepalive") } >= 3)
  }
}

extension VirtualClock {
  fileprivate var isIdle: Bool { scheduledCount == 0 }
}

/// A wait that only a cancellation ends.
struct ManualWait {
  func untilCancelled() async throws {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    for await _ in stream {}
    withExtendedLifetime(continuation) {}
  }
}
