import EtcdClient
import EtcdTestSupport
import Foundation
import HTTPTestSupport
import HTTPTransport
import SystemInterface
import TestSupport
import Testing

/// The client at real servers.
@Suite(
  "Client at real servers", .blocking, .serialized, .timeLimit(.minutes(1)),
  .enabled(if: EtcdCluster.isInstalled, "there's no program 'etcd'; Debian's package is 'etcd-server'"))
struct EtcdServerTests {
  private func error(_ body: () async throws -> Void) async -> EtcdError? {
    do {
      try await body()
      return nil
    } catch { return error as? EtcdError }
  }

  @Test("keys, ranges, pages, transactions and errors are those of the server")
  func keys() async throws {
    let cluster = try EtcdCluster()
    let client = try cluster.client()
    #expect(try await client.get("none") == nil)
    let binary = EtcdBytes((0...255).map { UInt8($0) })
    let revision = try await client.put(binary, binary)
    let found = try #require(try await client.get(binary))
    #expect(found.value == binary && found.createRevision == revision && found.version == 1 && found.lease == nil)
    for number in 10..<35 { try await client.put(EtcdBytes("p/\(number)"), EtcdBytes("\(number)")) }
    let pages = try await client.allPages(.prefix("p/"), pageSize: 10)
    #expect(pages.keyValues.map(\.value.description) == (10..<35).map(String.init) && !pages.hasMore)
    let first = try await client.range(.prefix("p/"), limit: 2, options: .keysOnly)
    #expect(first.hasMore && first.count == 25 && first.keyValues.map(\.value) == ["", ""])
    #expect(try await client.range(.prefix("p/"), options: .countOnly).count == 25)

    let swap = EtcdTransaction(
      if: [
        .isUnchanged("p/10", since: found.modRevision + 1), .isAbsent("q"),
        EtcdCompare(.key("p/11"), .equal, .value("11")),
      ],
      then: [.put("q", "1"), .delete(.keys(from: "p/20", upTo: "p/30")), .range(.key("p/10"))],
      else: [.range(.key("q"))])
    let won = try await client.transact(swap)
    guard won.succeeded, won.results.count == 3, case .put = won.results[0], case .delete(10) = won.results[1],
      case .range(let range) = won.results[2], range.keyValues.count == 1
    else {
      Issue.record("\(won)")
      return
    }
    let lost = try await client.transact(swap)
    #expect(!lost.succeeded)
    #expect(try await client.delete(.prefix("p/3")).map(\.key.description) == (30..<35).map { "p/\($0)" })

    #expect(await error { _ = try await client.range(.all, revision: 1_000_000) }?.code == .futureRevision)
    #expect(await error { try await client.put("a", "b", lease: EtcdLeaseID(77)) }?.code == .leaseNotFound)
    let large = EtcdBytes([UInt8](repeating: 65, count: 1_600_000))
    #expect(await error { try await client.put("large", large) }?.code == .tooLarge)
    try await client.put("large", EtcdBytes([UInt8](repeating: 65, count: 1 << 20)))
    #expect(try await client.get("large")?.value.bytes.count == 1 << 20)
    #expect(try await client.renew(EtcdLeaseID(77)) == nil)
    #expect(try await client.revoke(EtcdLeaseID(77)) == false)
  }

  @Test("E-5: 128 operations and comparisons are accepted, as the client says")
  func transactionLimits() async throws {
    let cluster = try EtcdCluster()
    let client = try cluster.client()
    let puts = (0..<128).map { EtcdOperation.put(EtcdBytes("k\($0)"), "") }
    let compares = (0..<128).map { EtcdCompare.isAbsent(EtcdBytes("k\($0)")) }
    #expect(try await client.transact(EtcdTransaction(if: compares, then: puts)).results.count == 128)
    let nested = EtcdTransaction(then: [.transaction(EtcdTransaction(then: Array(puts.prefix(127))))])
    #expect(try await client.transact(nested).succeeded)
    // A name needs two levels: the server accepts as many operations as the client.
    let name = EtcdOperationName(below: "names/", lease: nil)
    #expect(try await client.transact(EtcdTransaction(then: Array(puts.prefix(126))), name: name).results.count == 126)
  }

  @Test(
    "CE-07, CE-09: a watch goes on without gap or echo while the server is killed and started again, and no write is lost"
  )
  func watchAcrossKills() async throws {
    let cluster = try EtcdCluster()
    let client = try cluster.client()
    let start = try await client.put("w/start", "")
    let watching = Task {
      var changes: [EtcdChange] = []
      for try await batch in client.watch(.prefix("w/"), from: start + 1) {
        changes += batch.changes
        if changes.last?.key == "w/end" { break }
      }
      return changes
    }
    var written: [Int64] = []
    for round in 0..<3 {
      for number in 0..<20 { written.append(try await client.put(EtcdBytes("w/\(round).\(number)"), "")) }
      cluster.kill()
      try cluster.start()
      _ = try await client.get("w/start")
    }
    written.append(try await client.put("w/end", ""))
    let changes = try await watching.value
    #expect(changes.map(\.revision) == written)
    #expect(try await client.range(.prefix("w/")).count == 62)
  }

  @Test("CE-07: a watch below a compaction says so, and one from there on works; a read below it fails")
  func compaction() async throws {
    let cluster = try EtcdCluster()
    let client = try cluster.client()
    for number in 0..<10 { try await client.put("c", EtcdBytes("\(number)")) }
    let last = try await client.put("c", "last")
    _ = try await cluster.post("/v3/kv/compaction", "{\"revision\":\"\(last - 1)\"}")
    let found = await error { for try await _ in client.watch(.key("c"), from: 3) {} }
    #expect(found?.code == .compacted && found?.compactRevision == last - 1)
    #expect(await error { _ = try await client.range(.key("c"), revision: 3) }?.code == .compacted)
    var iterator = client.watch(.key("c"), from: last).makeAsyncIterator()
    #expect(try await iterator.next()?.changes.map(\.revision) == [last])
  }

  @Test("E-7: a watch of a server that's stopped is silent until its limit, and goes on when the server does")
  func stoppedServer() async throws {
    let cluster = try EtcdCluster()
    let client = try cluster.client()
    var iterator = client.watch(.key("s")).makeAsyncIterator()
    let first = try #require(try await iterator.next())
    #expect(first.changes.isEmpty)
    // Progress is reported where other keys change.
    let other = try await client.put("other", "")
    let progress = try #require(try await iterator.next())
    #expect(progress.changes.isEmpty && progress.revision == other)
    cluster.send(SIGSTOP)
    let stopped = MonotonicTime.host()
    let late = try cluster.client {
      $0.callLimit = .seconds(2); $0.attemptLimit = .seconds(1)
    }
    #expect(await error { try await late.put("s", "x") }?.code == .timedOut)
    #expect(stopped.duration(to: .host()) < .seconds(10))
    cluster.send(SIGCONT)
    let revision = try await client.put("s", "1")
    var changes: [EtcdChange] = []
    while !changes.contains(where: { $0.revision == revision }) {
      changes += try #require(try await iterator.next()).changes
    }
    // The write that timed out may have been made; nothing else was.
    #expect(changes.count == 1 || changes.count == 2)
  }

  @Test(
    "a lease holds its keys while it's needed, and they're gone afterwards; without renewal it ends for the holder first"
  )
  func leases() async throws {
    let cluster = try EtcdCluster()
    let client = try cluster.client {
      $0.callLimit = .seconds(3); $0.attemptLimit = .seconds(1)
    }
    _ = try await cluster.client().get("ready")
    try await client.withLease(ttl: .seconds(2)) { lease in
      try await client.put("l", "1", lease: lease.id)
      // Several renewals: the key outlives another one, whose lease has twice the time and isn't renewed.
      let other = try await client.grantLease(ttl: .seconds(4))
      let put = try await client.put("other", "", lease: other.id)
      var iterator = client.watch(.key("other"), from: put + 1).makeAsyncIterator()
      while try await iterator.next()?.changes.isEmpty == true {}
      #expect(lease.isValid)
      #expect(try await client.get("l")?.lease == lease.id)
    }
    #expect(try await client.get("l") == nil)

    let lost = await error {
      try await client.withLease(ttl: .seconds(2)) { lease in
        try await client.put("l", "2", lease: lease.id)
        cluster.send(SIGSTOP)
        try await ManualWait().untilCancelled()
        #expect(!lease.isValid)
      }
    }
    #expect(lost?.code == .leaseNotFound)
    cluster.send(SIGCONT)
  }

  @Test("E-1: users, wrong passwords, missing rights, and a token that the server has forgotten")
  func users() async throws {
    let cluster = try EtcdCluster()
    let nobody = try cluster.client()
    _ = try await nobody.get("ready")
    _ = try await cluster.post("/v3/auth/user/add", "{\"name\":\"root\",\"password\":\"r\"}")
    _ = try await cluster.post("/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}")
    _ = try await cluster.post("/v3/auth/user/add", "{\"name\":\"u\",\"password\":\"p\"}")
    _ = try await cluster.post("/v3/auth/enable", "{}")
    let root = try cluster.client(user: "root", password: "r")
    try await root.put("a", "1")
    #expect(await error { try await nobody.put("a", "2") }?.code == .authenticationMismatch)
    #expect(await error { try await cluster.client(user: "root", password: "x").put("a", "2") }?.code == .wrongPassword)
    let user = try cluster.client(user: "u", password: "p")
    #expect(await error { try await user.put("a", "2") }?.code == .permissionDenied)
    #expect(await error { for try await _ in user.watch(.key("a")) {} }?.code == .permissionDenied)
    // Tokens are in the memory of the server.
    cluster.kill()
    try cluster.start()
    _ = try await root.get("a")
    try await root.put("a", "3")
    #expect(try await root.get("a")?.value == "3")
  }

  @Test("CE-08: a transaction whose answer is cut off is made once, and recognised when it's repeated")
  func cutAnswers() async throws {
    let cluster = try EtcdCluster()
    _ = try await cluster.client().get("ready")
    let cuts = Guarded(0)
    let transport = try CurlTransport()
    let proxy = try #require(
      LoopbackServer { request, connection in
        let path = request.line.split(separator: " ")[1]
        let forwarded = HTTPRequest("POST", cluster.endpoints[0].url + path, body: request.body)
        let (done, answer) = (ThreadEvent(), Guarded<[UInt8]>([]))
        Task {
          let bytes = try? await transport.send(forwarded).body.collect(upTo: 1 << 20)
          answer.withLock { $0 = bytes ?? [] }
          done.signal()
        }
        done.wait()
        // The first two answers are lost.
        let isCut =
          path.hasSuffix("txn")
          && cuts.withLock { count in
            count += 1
            return count <= 2
          }
        return isCut ? false : connection.respond(200, String(decoding: answer.withLock { $0 }, as: UTF8.self))
      })
    defer { proxy.close() }
    let client = try EtcdClient(.init(endpoints: [EtcdEndpoint(proxy.url(""))]))
    let add = EtcdTransaction(if: [.isAbsent("once")], then: [.put("once", "1")], else: [.put("once", "2")])
    let lease = try await client.grantLease(ttl: .seconds(60))
    let result = try await client.transact(add, name: EtcdOperationName(below: "names/", lease: lease.id))
    #expect(result.wasRepeated && result.succeeded)
    let found = try #require(try await client.get("once"))
    #expect(found.value == "1" && found.version == 1 && found.modRevision == result.revision)
    #expect(cuts.withLock { $0 } == 3)
    // Without a name it isn't repeated.
    cuts.withLock { $0 = 1 }
    let lost = await error { _ = try await client.transact(EtcdTransaction(then: [.put("twice", "1")])) }
    #expect(lost?.code == .unavailable && lost?.mayHaveBeenApplied == true)
    #expect(try await client.get("twice")?.version == 1)
  }

  @Test("CE-10, E-8: three servers go on while one is stopped, two stopped ones leave only reads that may be stale")
  func threeServers() async throws {
    let cluster = try EtcdCluster(count: 3)
    let client = try cluster.client { $0.attemptLimit = .seconds(3) }
    // With a name, it's repeated if the servers haven't chosen their leader yet.
    let start = try await client.transact(
      EtcdTransaction(then: [.put("t", "0")]), name: EtcdOperationName(below: "names/", lease: nil)
    ).revision
    let watching = Task {
      var revisions: [Int64] = []
      for try await batch in client.watch(.key("t"), from: start) {
        revisions += batch.changes.map(\.revision)
        if case .put(let keyValue, _)? = batch.changes.last, keyValue.value == "end" { break }
      }
      return revisions
    }
    for index in 0..<3 {
      cluster.send(SIGSTOP, to: index)
      let name = EtcdOperationName(below: "names/", lease: nil)
      let result = try await client.transact(EtcdTransaction(then: [.put("t", EtcdBytes("\(index)"))]), name: name)
      #expect(result.succeeded)
      cluster.send(SIGCONT, to: index)
    }
    let only = try EtcdClient(
      {
        var configuration = EtcdClient.Configuration(endpoints: [cluster.endpoints[2]])
        configuration.callLimit = .seconds(3)
        return configuration
      }())
    // It has everything now.
    #expect(try await only.get("t")?.value == "2")
    cluster.send(SIGSTOP, to: 0)
    cluster.send(SIGSTOP, to: 1)
    #expect(try await only.get("t", options: .mayBeStale)?.value == "2")
    let lost = await error { try await only.put("t", "no") }
    #expect(lost?.mayHaveBeenApplied == true)
    cluster.send(SIGCONT, to: 0)
    cluster.send(SIGCONT, to: 1)
    let end = try await client.transact(
      EtcdTransaction(then: [.put("t", "end")]), name: EtcdOperationName(below: "names/", lease: nil))
    let revisions = try await watching.value
    #expect(revisions.first == start && revisions.last == end.revision)
    #expect(revisions == revisions.sorted() && Set(revisions).count == revisions.count)
    // Three named writes in between, and the one without an answer, if it was made.
    #expect(revisions.count == 5 || revisions.count == 6)
  }

  @Test(
    "E-4: a given authority is trusted and a client's certificate is shown; without one of them the client isn't let in",
    .enabled(if: EtcdCluster.isProgram("openssl"), "there's no program 'openssl'"))
  func certificates() async throws {
    let cluster = try EtcdCluster(hasCertificates: true)
    var configuration = EtcdClient.Configuration(endpoints: cluster.endpoints)
    configuration.callLimit = .seconds(30)
    configuration.attemptCountMax = 1000
    let all = CurlTransport.Options(
      certificateAuthorityPath: cluster.path("ca.pem"), certificatePath: cluster.path("client.pem"),
      keyPath: cluster.path("client.key"))
    let client = try EtcdClient(configuration, options: all)
    let revision = try await client.put("tls", "1")
    // Streams and calls share a connection where the server offers HTTP/2.
    var iterator = client.watch(.key("tls"), from: revision).makeAsyncIterator()
    #expect(try await iterator.next()?.changes.map(\.revision) == [revision])
    let next = try await client.put("tls", "2")
    #expect(try await iterator.next()?.changes.map(\.revision) == [next])

    configuration.attemptCountMax = 1
    let stranger = try EtcdClient(
      configuration, options: .init(certificatePath: all.certificatePath, keyPath: all.keyPath))
    let untrusted = await error { try await stranger.put("tls", "3") }
    #expect(untrusted?.code == .notTrusted && untrusted?.mayHaveBeenApplied == false)
    let anonymous = try EtcdClient(
      configuration, options: .init(certificateAuthorityPath: all.certificateAuthorityPath))
    let refused = await error { try await anonymous.put("tls", "4") }
    // Which of both libcurl notices first is a matter of luck: the server's alert, or that it has closed the connection.
    #expect(refused?.code == .notTrusted || refused?.code == .unavailable)
    if refused?.code == .notTrusted {
      #expect(refused?.mayHaveBeenApplied == false && refused?.message.contains("certificate") == true)
    }
    // Nobody is asked for the word that opens the key.
    let locked = try EtcdClient(
      configuration,
      options: .init(
        certificateAuthorityPath: all.certificateAuthorityPath, certificatePath: all.certificatePath,
        keyPath: cluster.path("locked.key")))
    let closed = await error { try await locked.put("tls", "5") }
    #expect(closed?.code == .notTrusted && closed?.message.contains("unencrypted") == true)
    #expect(try await client.get("tls")?.value == "2")
  }
}
