import FileCoordinationTesting
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Code of the program that may never end", .timeLimit(.minutes(4)))
struct ProgramCodeTests {
  /// Each time is over as soon as it's set.
  private struct OverdueClock: CoordinationClock {
    private let clock = VirtualClock()

    var now: MonotonicTime { clock.now }

    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
      defer { clock.advance(to: deadline) }
      return clock.schedule(at: deadline, action)
    }
  }

  @Test("UD-20: The time of the code begins before the code")
  func order() async throws {
    for _ in 0..<10_000 {
      let clock = VirtualClock()
      let count = try await ProgramCode.run(atMost: .seconds(5), clock, orFail: .timedOut) { clock.scheduledCount }
      #expect(count == 1)
    }
  }

  @Test("UD-20: Code whose time is over before it has begun is cancelled")
  func overAtOnce() async throws {
    let (never, end) = (TestGate(), TestGate())
    await #expect {
      try await ProgramCode.run(atMost: .seconds(5), OverdueClock(), orFail: .timedOut) {
        defer { end.open() }
        try await never.pass()
      }
    } throws: {
      ($0 as? DocumentError)?.code == .timedOut
    }
    try await end.pass()
  }
}
