import EtcdClient
import EtcdTestSupport
import FileCoordinationTesting
import SystemInterface
import Testing

/// Locks at an etcd in memory, with faults at single calls.
@Suite("Locks at a scripted etcd", .timeLimit(.minutes(4)))
struct LockConcurrencyTests {
  private let clock = VirtualClock()
  private let etcd: ScriptedEtcd

  init() { etcd = ScriptedEtcd(clock: clock) }

  private func error(_ body: () async throws -> Void) async -> EtcdError? {
    do {
      try await body()
      return nil
    } catch { return error as? EtcdError }
  }

  /// Waits until so many keys are in the queue.
  private func awaitQueue(_ count: Int) async {
    while etcd.keys.count != count { await Task.yield() }
  }

  /// Ends each pause before a further attempt; time stands still while calls are under way, whose limits are far longer.
  private func endingPauses() -> Task<Void, any Error> {
    Task { [clock] in
      while true {
        try await clock.waitForDeadline(within: .milliseconds(100))
        clock.advance(by: .milliseconds(100))
      }
    }
  }

  @Test("CE-02, CE-04: A lock that nobody else wants costs four calls, leaves nothing, and has growing tokens")
  func alone() async throws {
    let client = etcd.client()
    var tokens: [Int64] = []
    for mode in [EtcdLockMode.writing, .reading, .writing] {
      tokens.append(
        try await client.withLock("lock", mode) { lock in
          #expect(lock.isValid)
          #expect(etcd.keys.map(\.key) == [lock.token.key] && etcd.keys.first?.createRevision == lock.token.number)
          return lock.token.number
        })
    }
    #expect(tokens == tokens.sorted() && Set(tokens).count == 3)
    #expect(etcd.keys.isEmpty && etcd.leases.isEmpty && clock.scheduledCount == 0)
    #expect(etcd.callCount("lease/grant") == 3 && etcd.callCount("kv/txn") == 6 && etcd.callCount("lease/revoke") == 3)
    #expect(etcd.callCount("kv/range") == 0 && etcd.callCount("watch") == 0)
  }

  @Test("CE-08: A lost answer to joining or releasing makes no second access", arguments: [0, 1, 2, 3])
  func lostAnswers(lost: Int) async throws {
    let count = Guarded(0)
    etcd.setFault { _ in
      count.withLock { count in
        count += 1
        return count == lost + 1 ? .answerIsLost : .none
      }
    }
    let client = etcd.client()
    let working = Task {
      try await client.withLock("lock", .writing) { lock in
        #expect(etcd.keys.map(\.createRevision) == [lock.token.number])
        return true
      }
    }
    let advancing = endingPauses()
    #expect(try await working.value)
    advancing.cancel()
    #expect(etcd.keys.isEmpty)
  }

  @Test("CE-05: Readers share, a writer waits for them, and a reader that comes later waits for the writer")
  func queue() async throws {
    let client = etcd.client()
    let log = Guarded<[String]>([])
    let (gate, opener) = AsyncStream<Void>.makeStream()
    let first = Task {
      try await client.withLock("lock", .reading) { _ in
        log.withLock { $0.append("first") }
        for await _ in gate { break }
        log.withLock { $0.append("first ends") }
      }
    }
    while log.withLock({ $0.isEmpty }) { await Task.yield() }
    try await client.withLock("lock", .reading, waitLimit: .zero) { _ in log.withLock { $0.append("second") } }
    let writer = Task { try await client.withLock("lock", .writing) { _ in log.withLock { $0.append("writer") } } }
    await awaitQueue(2)
    let late = Task { try await client.withLock("lock", .reading) { _ in log.withLock { $0.append("late") } } }
    await awaitQueue(3)
    #expect(await error { try await client.withLock("lock", .reading, waitLimit: .zero) { _ in } }?.code == .timedOut)
    opener.yield()
    try await first.value
    try await writer.value
    try await late.value
    #expect(log.withLock { $0 } == ["first", "second", "first ends", "writer", "late"])
    #expect(etcd.keys.isEmpty && etcd.leases.isEmpty)
  }

  @Test("A waiter that's cancelled, or whose limit has passed, leaves the queue")
  func givingUp() async throws {
    let client = etcd.client()
    let holder = Task { try await client.withLock("lock", .writing) { _ in try await ManualWait().untilCancelled() } }
    await awaitQueue(1)
    let patient = Task { await error { try await client.withLock("lock", .writing) { _ in } } }
    await awaitQueue(2)
    let limited = Task { await error { try await client.withLock("lock", .writing, waitLimit: .seconds(1)) { _ in } } }
    await awaitQueue(3)
    while etcd.watchCount < 2 { await Task.yield() }
    patient.cancel()
    #expect(await patient.value?.code == .cancelled)
    #expect(etcd.keys.count == 2)
    clock.advance(by: .seconds(1))
    #expect(await limited.value?.code == .timedOut)
    #expect(etcd.keys.count == 1)
    holder.cancel()
    _ = try? await holder.value
    #expect(etcd.keys.isEmpty && etcd.leases.isEmpty && clock.scheduledCount == 0)
  }

  @Test("CE-03: A waiter whose lease has ended fails, also if the lock becomes free at the same time")
  func expiredWaiter() async throws {
    let client = etcd.client()
    let holder = Task { try await client.withLock("lock", .writing) { _ in try await ManualWait().untilCancelled() } }
    await awaitQueue(1)
    let waiter = Task {
      await error {
        try await client.withLock("lock", .writing) { _ in
          Issue.record("the lock is held")
          return
        }
      }
    }
    await awaitQueue(2)
    while etcd.watchCount < 1 { await Task.yield() }
    etcd.expire(EtcdLeaseID(2))
    etcd.expire(EtcdLeaseID(1))
    #expect(await waiter.value?.code == .lockLost)
    holder.cancel()
    _ = try? await holder.value
  }

  @Test("CE-07: A waiter whose watch is cut or compacted gets the lock nevertheless", arguments: [false, true])
  func gap(isCompacted: Bool) async throws {
    let client = etcd.client()
    let (gate, opener) = AsyncStream<Void>.makeStream()
    let holder = Task { try await client.withLock("lock", .writing) { _ in for await _ in gate { break } } }
    await awaitQueue(1)
    let waiter = Task { try await client.withLock("lock", .writing) { $0.token.number } }
    await awaitQueue(2)
    while etcd.watchCount < 1 { await Task.yield() }
    etcd.setFault { $0 == "watch" ? .refused : .none }
    etcd.cutWatches()
    opener.yield()
    try await holder.value
    etcd.put("other", "1")
    if isCompacted { etcd.compact() }
    etcd.setFault { _ in .none }
    let advancing = endingPauses()
    #expect(try await waiter.value > 0)
    advancing.cancel()
    #expect(etcd.keys.map(\.key) == ["other"])
  }

  @Test("CE-01, CE-04: A holder whose lease has ended can't write by its token, and its late release affects nobody")
  func fencing() async throws {
    let client = etcd.client()
    let write = EtcdTransaction(if: [.isAbsent("x")], then: [.put("shared", "1")], else: [.put("shared", "2")])
    let stale = await error {
      try await client.withLock("lock", .writing) { lock in
        #expect(try await client.transact(write, guardedBy: lock.token).succeeded)
        etcd.expire(lock.lease.id)
        let next = try await client.withLock("lock", .writing) { next in
          #expect(next.token.number > lock.token.number)
          #expect(await error { _ = try await client.transact(write, guardedBy: lock.token) }?.code == .lockLost)
          let name = EtcdOperationName(below: "names/", lease: nil)
          #expect(
            await error { _ = try await client.transact(write, guardedBy: lock.token, name: name) }?.code == .lockLost)
          let mine = try await client.transact(
            write, guardedBy: next.token, name: EtcdOperationName(below: "names/", lease: nil))
          #expect(mine.succeeded && mine.results == [.put] && !mine.wasRepeated)
          return next.token
        }
        #expect(etcd.keys.allSatisfy { $0.key != next.key })
        // The lease isn't renewed any more: the work is cancelled.
        clock.advance(by: .seconds(4))
        try await ManualWait().untilCancelled()
      }
    }
    #expect(stale?.code == .lockLost)
    #expect(etcd.keys.first { $0.key == "shared" }?.version == 2)
  }

  @Test("CE-03: Work whose lock was lost meanwhile isn't reported as done", arguments: ["lease", "key"])
  func lostDuringWork(part: String) async throws {
    let client = etcd.client()
    let found = await error {
      try await client.withLock("lock", .writing) { lock in
        if part == "lease" { etcd.expire(lock.lease.id) } else { etcd.delete(lock.token.key) }
      }
    }
    #expect(found?.code == .lockLost)
    // The error of the work comes first.
    await #expect(throws: CancellationError.self) {
      try await client.withLock("lock", .writing) { lock in
        etcd.expire(lock.lease.id)
        throw CancellationError()
      }
    }
  }

  // clock of limits   |---------|
  // time of leases    |---------|~~~~~~~~~ suspended
  @Test("CE-03: A lease has ended for a holder whose system was suspended, though the clock of limits stood still")
  func suspended() async throws {
    let sleep = Guarded(Duration.zero)
    let client = etcd.client(leaseTime: { [clock] in clock.now.advanced(by: sleep.withLock { $0 }) }, { _ in })
    let found = await error {
      try await client.withLock("lock", .writing, ttl: .seconds(10)) { lock in
        #expect(lock.isValid)
        sleep.withLock { $0 = .seconds(8) }
        #expect(lock.isValid)
        sleep.withLock { $0 = .seconds(9) }
        #expect(!lock.isValid)
      }
    }
    #expect(found?.code == .lockLost)
    // After a suspend, renewals come at their time again.
    try await client.withLock("lock", .writing, ttl: .seconds(30)) { lock in
      try await clock.waitForScheduled(count: 1)
      #expect(clock.nextDeadline == clock.now.advanced(by: .seconds(10)))
    }
  }

  @Test(
    "CE-08: A guarded transaction with a name whose answer was lost is made once, also if the lock is lost meanwhile")
  func guardedAndNamed() async throws {
    let client = etcd.client()
    let name = EtcdOperationName(below: "names/", lease: nil)
    let write = EtcdTransaction(if: [.isAbsent("x")], then: [.put("shared", "1")])
    let lost = Guarded(false)
    let result = Guarded<EtcdTransactionResult?>(nil)
    let failure = await error {
      try await client.withLock("lock", .writing) { lock in
        etcd.setFault { path in
          guard path == "kv/txn:write", !lost.withLock({ $0 }) else { return .none }
          lost.withLock { $0 = true }
          return .answerIsLost
        }
        let writing = Task { try await client.transact(write, guardedBy: lock.token, name: name) }
        while !lost.withLock({ $0 }) { await Task.yield() }
        // The pause before the next attempt.
        try await clock.waitForDeadline(within: .milliseconds(30))
        etcd.expire(lock.lease.id)
        clock.advance(by: .milliseconds(30))
        let found = try await writing.value
        result.withLock { $0 = found }
      }
    }
    #expect(failure?.code == .lockLost)
    let found = try #require(result.withLock { $0 })
    #expect(found.succeeded && found.wasRepeated && etcd.keys.first { $0.key == "shared" }?.version == 1)
  }
}
