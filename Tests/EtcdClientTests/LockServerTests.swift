import EtcdClient
import EtcdTestSupport
import Foundation
import HTTPTestSupport
import SystemInterface
import TestSupport
import Testing

/// Locks at real servers, which are killed and stopped.
@Suite(
  "Locks at real servers", .blocking, .serialized, .timeLimit(.minutes(2)),
  .enabled(if: EtcdCluster.isInstalled, "there's no program 'etcd'; Debian's package is 'etcd-server'"))
struct LockServerTests {
  private func error(_ body: () async throws -> Void) async -> EtcdError? {
    do {
      try await body()
      return nil
    } catch { return error as? EtcdError }
  }

  /// A write that was asked for, and what the writer knows of it.
  private struct Entry: Sendable {
    var text: String
    var token: Int64
    /// Whether the writer was told that it's there; `nil` if it wasn't told anything.
    var isThere: Bool?
  }

  /// Writes under the lock, each with its token, to one key, and notes what is known of each.
  private func write(
    _ client: EtcdClient, _ worker: Int, _ history: WatchedValue<[Entry]>, until isOver: Guarded<Bool>
  ) async {
    var round = 0
    while !isOver.withLock({ $0 }) {
      round += 1
      let text = "\(worker).\(round)"
      do {
        try await client.withLock("lock", .writing, ttl: .seconds(3)) { lock in
          var entry = Entry(text: "\(lock.token.number) \(text)", token: lock.token.number, isThere: nil)
          let put = EtcdTransaction(then: [.put("log", EtcdBytes(entry.text))])
          do throws(EtcdError) {
            entry.isThere = try await client.transact(put, guardedBy: lock.token).succeeded
          } catch {
            if !error.mayHaveBeenApplied { entry.isThere = false }
          }
          let known = entry
          history.withLock { $0.append(known) }
        }
      } catch {}
    }
  }

  /// CE-01, CE-02, CE-09: the changes of the key that a watch has reported, against what the writers know.
  private func check(_ changes: [EtcdChange], _ history: [Entry]) {
    let written = changes.compactMap { change -> String? in
      if case .put(let keyValue, _) = change { keyValue.value.description } else { nil }
    }
    let tokens = written.compactMap { Int64($0.split(separator: " ")[0]) }
    #expect(tokens == tokens.sorted(), "an older holder has written after a newer one")
    #expect(Set(written).count == written.count, "a write was made twice")
    #expect(Set(history.map(\.token)).count == history.count, "two holders have the same token")
    for entry in history {
      if let isThere = entry.isThere { #expect(written.contains(entry.text) == isThere, "\(entry)") }
    }
    for text in written where text.contains(" ") && !text.hasSuffix(" end") {
      #expect(history.contains { $0.text == text }, "nobody has written '\(text)'")
    }
  }

  /// Reads the changes of the key until the last one, which the test writes.
  private func watchLog(_ client: EtcdClient, from revision: Int64) -> Task<[EtcdChange], any Error> {
    Task {
      var changes: [EtcdChange] = []
      for try await batch in client.watch(.key("log"), from: revision) {
        changes += batch.changes
        if case .put(let keyValue, _)? = batch.changes.last, keyValue.value.description.hasSuffix(" end") { break }
      }
      return changes
    }
  }

  private func end(_ client: EtcdClient) async throws {
    try await client.withLock("lock", .writing, ttl: .seconds(3)) { lock in
      let put = EtcdTransaction(then: [.put("log", EtcdBytes("\(lock.token.number) end"))])
      let name = EtcdOperationName(below: "names/", lease: nil)
      _ = try await client.transact(put, guardedBy: lock.token, name: name)
    }
  }

  @Test(
    "CE-01, CE-02, CE-07, CE-09: The server is killed and started again while programs write under a lock: no older holder writes after a newer one, nothing acknowledged is lost"
  )
  func kills() async throws {
    let cluster = try EtcdCluster()
    let client = try cluster.client { $0.attemptLimit = .seconds(2) }
    let start = try await client.range(.key("log")).revision
    let changes = watchLog(client, from: start + 1)
    let history = WatchedValue<[Entry]>([])
    let isOver = Guarded(false)
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 { group.addTask { await write(client, worker, history, until: isOver) } }
      for count in [8, 20, 32, 44] {
        await history.wait { $0.count >= count }
        if count == 44 { break }
        cluster.kill()
        try? cluster.start()
      }
      isOver.withLock { $0 = true }
    }
    try await end(client)
    check(try await changes.value, history.withLock { $0 })
    #expect(history.withLock { $0.count { $0.isThere == true } } >= 30)
    #expect(try await client.range(.prefix("lock/")).keyValues.isEmpty)
  }

  @Test(
    "CE-01, CE-03, CE-06: A holder whose connection is half open loses the lock before another one gets it, and can't write afterwards"
  )
  func halfOpen() async throws {
    let cluster = try EtcdCluster()
    let near = try cluster.client()
    let start = try await near.put("log", "0 start")
    let port = try #require(cluster.endpoints[0].url.split(separator: ":").last.flatMap { Int($0) })
    let proxy = try #require(LoopbackProxy(to: port))
    defer { proxy.close() }
    var configuration = EtcdClient.Configuration(endpoints: [EtcdEndpoint("http://127.0.0.1:\(proxy.port)")])
    configuration.callLimit = .seconds(3)
    configuration.attemptLimit = .seconds(1)
    let far = try EtcdClient(configuration)
    let instants = WatchedValue<(frozen: MonotonicTime?, lost: MonotonicTime?)>((nil, nil))
    let token = Guarded<EtcdLockToken?>(nil)
    let holding = Task {
      await error {
        try await far.withLock("lock", .writing, ttl: .seconds(3)) { lock in
          token.withLock { $0 = lock.token }
          proxy.freeze()
          instants.withLock { $0.frozen = .host() }
          defer { instants.withLock { $0.lost = .host() } }
          try await ManualWait().untilCancelled()
          #expect(!lock.isValid)
        }
      }
    }
    await instants.wait { $0.frozen != nil }
    let next = try await near.withLock("lock", .writing) { lock in
      let instant = MonotonicTime.host()
      let (frozen, lost) = instants.withLock { $0 }
      #expect(lost.map { $0 < instant } == true, "the former holder still believes in the lock")
      // The time of the lease, and what the server takes to notice.
      #expect(frozen.map { $0.duration(to: instant) < .seconds(3 + 3) } == true)
      return lock.token
    }
    #expect(await holding.value?.code == .lockLost)
    proxy.thaw()
    let stale = try #require(token.withLock { $0 })
    #expect(next.number > stale.number)
    let put = EtcdTransaction(then: [.put("log", "1 stale")])
    #expect(await error { _ = try await far.transact(put, guardedBy: stale) }?.code == .lockLost)
    #expect(try await near.get("log")?.modRevision == start)
  }

  @Test(
    "CE-01, CE-03, CE-06: The leader of three servers is stopped for longer than leases: the lock goes on, and stays exclusive"
  )
  func stoppedLeader() async throws {
    let cluster = try EtcdCluster(count: 3)
    let client = try cluster.client { $0.attemptLimit = .seconds(2) }
    let start = try await client.range(.key("log")).revision
    let changes = watchLog(client, from: start + 1)
    let history = WatchedValue<[Entry]>([])
    let isOver = Guarded(false)
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<3 { group.addTask { await write(client, worker, history, until: isOver) } }
      // Each of them is stopped once, and so is the leader.
      for index in 0..<3 {
        await awaitMore(3, history)
        cluster.send(SIGSTOP, to: index)
        #expect(await error { try await awaitEndOfLease(client) } == nil)
        await awaitMore(3, history)
        cluster.send(SIGCONT, to: index)
      }
      isOver.withLock { $0 = true }
    }
    try await end(client)
    check(try await changes.value, history.withLock { $0 })
  }

  private func awaitMore(_ count: Int, _ history: WatchedValue<[Entry]>) async {
    let before = history.withLock { $0.count }
    await history.wait { $0.count >= before + count }
  }

  /// Waits until a lease that's longer than those of the lock has ended.
  private func awaitEndOfLease(_ client: EtcdClient) async throws {
    let lease = try await client.grantLease(ttl: .seconds(4))
    let key = EtcdBytes("leases/\(lease.id)")
    let name = EtcdOperationName(below: "names/", lease: nil)
    let put = try await client.transact(EtcdTransaction(then: [.put(key, "", lease: lease.id)]), name: name)
    for try await batch in client.watch(.key(key), from: put.revision + 1, options: .deletes)
    where !batch.changes.isEmpty { break }
  }

  @Test("CE-10: Without enough servers nobody gets the lock, and those who wait fail within their limit")
  func noQuorum() async throws {
    let cluster = try EtcdCluster(count: 3)
    let client = try cluster.client {
      $0.callLimit = .seconds(3); $0.attemptLimit = .seconds(1)
    }
    _ = try await cluster.client().get("ready")
    cluster.send(SIGSTOP, to: 0)
    cluster.send(SIGSTOP, to: 1)
    let begin = MonotonicTime.host()
    let found = await error {
      try await client.withLock("lock", .writing, waitLimit: .seconds(2)) { _ in
        Issue.record("the lock is held")
        return
      }
    }
    #expect(found?.code == .timedOut || found?.code == .noLeader || found?.code == .unavailable)
    #expect(begin.duration(to: .host()) < .seconds(12))
    cluster.send(SIGCONT, to: 0)
    cluster.send(SIGCONT, to: 1)
    #expect(try await cluster.client().withLock("lock", .writing) { $0.isValid })
  }

  @Test("CE-07: The watch of a waiter is cut in the middle of a message, or compacted: it gets the lock nevertheless")
  func cutWatch() async throws {
    let cluster = try EtcdCluster()
    let near = try cluster.client()
    try await near.put("ready", "")
    let port = try #require(cluster.endpoints[0].url.split(separator: ":").last.flatMap { Int($0) })
    let proxy = try #require(LoopbackProxy(to: port))
    defer { proxy.close() }
    let far = try EtcdClient(.init(endpoints: [EtcdEndpoint("http://127.0.0.1:\(proxy.port)")]))
    for isCompacted in [false, true] {
      let (gate, opener) = AsyncStream<Void>.makeStream()
      let holding = Task { try await near.withLock("lock", .writing) { _ in for await _ in gate { break } } }
      while try await near.range(.prefix("lock/"), options: .countOnly).count < 1 {}
      let waiting = Task { try await far.withLock("lock", .writing) { $0.token.number } }
      while try await near.range(.prefix("lock/"), options: .countOnly).count < 2 {}
      if isCompacted {
        // Nothing reaches the waiter until the history in which the lock became free is gone.
        proxy.freeze()
      } else {
        proxy.cut(after: 40)
      }
      opener.yield()
      try await holding.value
      if isCompacted {
        let last = try await near.put("other", "")
        _ = try await cluster.post("/v3/kv/compaction", "{\"revision\":\"\(last)\"}")
        proxy.cut()
        proxy.thaw()
      }
      #expect(try await waiting.value > 0)
    }
  }

  @Test("CE-01, CE-03: A process that's stopped for longer than its lease writes nothing for the lock when it goes on")
  func stoppedHolder() async throws {
    let cluster = try EtcdCluster()
    let client = try cluster.client()
    _ = try await client.get("ready")
    let (endpoint, file) = (cluster.endpoints[0].url, cluster.path("holder"))
    async let stopped: Void = expectSilence(endpoint, file)
    var pid: pid_t?
    while pid == nil {
      pid = (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { pid_t($0) }
      await Task.yield()
    }
    // Waits until the lease has ended.
    try await client.withLock("lock", .writing, ttl: .seconds(3)) { lock in
      let put = EtcdTransaction(then: [.put("log", "mine")])
      let result = try await client.transact(put, guardedBy: lock.token)
      #expect(result.succeeded)
    }
    if let pid { kill(pid, SIGCONT) }
    await stopped
    #expect(try await client.get("log")?.value == "mine")
  }

  private func expectSilence(_ endpoint: String, _ file: String) async {
    await #expect(processExitsWith: .success) { [endpoint = endpoint as String, file = file as String] in
      let client = try EtcdClient(.init(endpoints: [EtcdEndpoint(endpoint)]))
      let isWritten = Guarded<Bool?>(nil)
      do {
        try await client.withLock("lock", .writing, ttl: .seconds(2)) { lock in
          try "\(getpid())".write(toFile: file, atomically: true, encoding: .utf8)
          raise(SIGSTOP)
          let put = EtcdTransaction(then: [.put("log", "late")])
          var outcome = false
          do throws(EtcdError) { outcome = try await client.transact(put, guardedBy: lock.token).succeeded } catch {}
          let known = outcome
          isWritten.withLock { $0 = known }
        }
        Issue.record("the work is reported as done")
      } catch { #expect((error as? EtcdError)?.code == .lockLost, "\(error)") }
      #expect(isWritten.withLock { $0 } == false)
    }
  }
}
