import FileAccessArbiter
import Testing

@testable import FileCoordination
@testable import SystemInterface

/// The choice of a server after a process that a user may stop from its terminal: the process of the tests.
@Suite("Succession of a service on a terminal")
struct SuccessionTests {
  /// A service on a terminal, and which of the others have one, or are stopped.
  private func succession(
    onTerminals: Set<Int32> = [], stopped: Set<Int32> = [], unknown: Set<Int32> = [], handOverCount: Int = 0,
    isServerOnTerminal: Bool = true
  ) -> Succession {
    Succession(
      handOverCount: handOverCount,
      Succession.Sight(
        hasTerminal: { pid in
          if pid == HostProcess.processIdentifier { return isServerOnTerminal }
          return unknown.contains(pid) ? nil : onTerminals.contains(pid)
        }, isStopped: { stopped.contains($0) }))
  }

  /// Numbers of processes that don't exist: only the succession receives observations of them.
  private static let (first, second): (Int32, Int32) = (1_000_001, 1_000_002)

  private func peer(_ pid: Int32, user: UInt32 = HostUser.effectiveUserID) -> PeerCredentials {
    PeerCredentials(pid: pid, uid: user, gid: 0)
  }

  private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  /// - Returns: The first second in which the service is left to somebody, of an hour.
  private func handOver(_ succession: inout Succession, isQuiet: (Int64) -> Bool = { _ in true }) -> Int64? {
    for second in Int64(0)...3600 {
      guard let look = succession.nextLook else { return nil }
      if look > time(second) { continue }
      if succession.isDue(at: time(second), isQuiet: isQuiet(second), isMember: { _ in true }) { return second }
    }
    return nil
  }

  @Test("A process without a terminal gets the service when it has stayed")
  func stays() {
    var succession = succession()
    #expect(succession.nextLook == nil)
    succession.connected(ClientID(1), peer(Self.first), at: time(0))
    #expect(handOver(&succession) == 2)
  }

  @Test("One that comes and goes doesn't")
  func goes() {
    var succession = succession()
    succession.connected(ClientID(1), peer(Self.first), at: time(0))
    succession.disconnected(ClientID(1))
    #expect(succession.nextLook == nil)
  }

  @Test(
    "A candidate that's on a terminal too, or hidden, or another user's, or the process itself, doesn't get the service"
  )
  func equals() {
    var succession = succession(onTerminals: [Self.first], unknown: [Self.second])
    succession.connected(ClientID(1), peer(Self.first), at: time(0))
    succession.connected(ClientID(2), peer(Self.second), at: time(0))
    succession.connected(ClientID(3), peer(Self.second + 1, user: HostUser.effectiveUserID ^ 1), at: time(0))
    succession.connected(ClientID(4), peer(0), at: time(0))
    succession.connected(ClientID(5), peer(HostProcess.processIdentifier), at: time(0))
    #expect(handOver(&succession) == nil)
    #expect(succession.nextLook == nil)
  }

  @Test("A service without a terminal looks at nobody")
  func daemon() {
    var succession = succession(isServerOnTerminal: false)
    succession.connected(ClientID(1), peer(Self.first), at: time(0))
    #expect(succession.nextLook == nil)
  }

  @Test("Each time that a process has given way it waits twice as long before it does again")
  func toAndFro() {
    for (count, seconds) in [(1, 4), (2, 8), (5, 64)] as [(Int, Int64)] {
      var succession = succession(handOverCount: count)
      succession.connected(ClientID(1), peer(Self.first), at: time(0))
      #expect(handOver(&succession) == seconds)
    }
    var last = succession(handOverCount: .max)
    last.connected(ClientID(1), peer(Self.first), at: time(0))
    #expect(handOver(&last) == 2048)
  }

  @Test("Nobody who is stopped loses what it holds, and no deadline begins anew")
  func losses() {
    var withStopped = succession(onTerminals: [Self.second], stopped: [Self.second])
    withStopped.connected(ClientID(1), peer(Self.first), at: time(0))
    withStopped.connected(ClientID(2), peer(Self.second), at: time(0))
    #expect(handOver(&withStopped) == nil)
    withStopped.disconnected(ClientID(2))
    let isDue = withStopped.isDue(at: time(4000), isQuiet: true, isMember: { _ in true })
    #expect(isDue)
    var busy = succession()
    busy.connected(ClientID(1), peer(Self.first), at: time(0))
    #expect(handOver(&busy, isQuiet: { $0 >= 7 }) == 8)
  }
}
