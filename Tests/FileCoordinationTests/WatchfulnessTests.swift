import FileCoordinationTesting
import SystemInterface
import Testing

@testable import FileCoordination

@Suite("Watchfulness")
struct WatchfulnessTests {
  @Test("A thread stays awake for a bounded time, also by a clock that stands still, and then sleeps")
  func boundedPolling() {
    let clock = DomainClock(VirtualClock(now: MonotonicTime(nanoseconds: 1 << 40)))
    let watchfulness = SharedWatchfulness()
    var (lookCount, sleepCount) = (0, 0)
    for round in 1...3 {
      watchfulness.await(
        by: clock,
        {
          lookCount += 1
          return false
        }, orSleep: { sleepCount += 1 })
      #expect(sleepCount == round)
    }
    #expect(lookCount == (Spin.isUseful ? 3 * 1024 : 0))
  }

  @Test("A thread that sees the event awake doesn't sleep")
  func eventSeenAwake() {
    let clock = DomainClock(VirtualClock(now: MonotonicTime(nanoseconds: 1 << 40)))
    let watchfulness = SharedWatchfulness()
    var (lookCount, sleepCount) = (0, 0)
    watchfulness.await(
      by: clock,
      {
        lookCount += 1
        return lookCount == 5
      }, orSleep: { sleepCount += 1 })
    #expect(lookCount == (Spin.isUseful ? 5 : 0))
    #expect(sleepCount == (Spin.isUseful ? 0 : 1))
  }
}
