import EtcdClient
import SystemInterface
import Testing

@Suite("Leases, all delays")
struct LeaseCoreTests {
  private static func time(_ seconds: Int) -> MonotonicTime {
    MonotonicTime(nanoseconds: 1 << 40).advanced(by: .seconds(seconds))
  }

  @Test("CE-03: the holder never counts on a lease that the server has ended, for all delays and losses")
  func everyDelay() {
    let count = Choices.explore { choices in
      // The server grants at second `granted`, and the answer is there at `now`; it gives 10 seconds each time.
      var now = choices.pick([0, 2, 8, 12])
      var serverEnd = choices.pick([0, now]) + 10
      var core = LeaseCore(EtcdLeaseID(1), ttl: .seconds(10), askedAt: Self.time(0))
      var order = core.order(at: Self.time(now))
      for _ in 0..<4 {
        #expect(!core.isValid(at: Self.time(serverEnd)))
        guard case .renew(let at) = order else { return }
        // The clock of a busy holder runs late.
        let askedAt = max(now, Int((at.nanoseconds - (1 << 40)) / 1_000_000_000)) + choices.pick([0, 3])
        let served = askedAt + choices.pick([0, 1])
        now = served + choices.pick([0, 4])
        let isAlive = served < serverEnd
        if isAlive { serverEnd = served + 10 }
        let isLost = choices.pick([false, true])
        order =
          isLost
          ? core.renewalFailed(EtcdError(.timedOut, "late", mayHaveBeenApplied: true), at: Self.time(now))
          : core.renewed(isAlive ? .seconds(10) : nil, askedAt: Self.time(askedAt), at: Self.time(now))
        if !isAlive, !isLost { #expect(order == .end && !core.isValid(at: Self.time(now))) }
      }
    }
    #expect(count > 1_000, "\(count) runs")
  }

  @Test("a lease is renewed at a third of its time, sooner after a failure, and not after it has ended")
  func times() {
    var core = LeaseCore(EtcdLeaseID(1), ttl: .seconds(30), askedAt: Self.time(0))
    #expect(core.validUntil == Self.time(27))
    #expect(core.order(at: Self.time(1)) == .renew(at: Self.time(11)))
    let failure = EtcdError(.unavailable, "gone")
    #expect((core.renewalFailed(failure, at: Self.time(12))) == .renew(at: Self.time(15)))
    #expect((core.renewalFailed(failure, at: Self.time(26))) == .renew(at: Self.time(27)))
    #expect((core.renewalFailed(failure, at: Self.time(27))) == .end)
    #expect((core.renewed(.seconds(30), askedAt: Self.time(28), at: Self.time(28))) == .end)
    #expect(!core.isValid(at: Self.time(28)))
  }

  @Test("a lease that the server doesn't know has ended")
  func unknown() {
    var core = LeaseCore(EtcdLeaseID(1), ttl: .seconds(30), askedAt: Self.time(0))
    let error = EtcdError(status: 404, grpcCode: 5, message: "etcdserver: requested lease not found")
    #expect((core.renewalFailed(error, at: Self.time(1))) == .end)
    #expect(!core.isValid(at: Self.time(1)))
  }
}
