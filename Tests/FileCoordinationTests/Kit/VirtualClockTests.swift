import FileCoordinationTesting
import SystemInterface
import Testing

@Suite("Virtual clock", .timeLimit(.minutes(4)))
struct VirtualClockTests {
  private func seconds(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  @Test("Time moves only when told to, and actions run in order of deadline, then of scheduling, at their time")
  func order() {
    let (clock, timeline) = (VirtualClock(), EventTimeline())
    for (name, time) in [("c", 3), ("a", 1), ("b", 2), ("A", 1)] as [(String, Int64)] {
      _ = clock.schedule(at: seconds(time)) { timeline.note("\(name) at \(clock.now)") }
    }
    #expect(clock.now == seconds(0))
    #expect(clock.scheduledCount == 4)
    #expect(clock.nextDeadline == seconds(1))
    clock.advance(by: .seconds(2))
    #expect(timeline.events == ["a", "A", "b"].map { "\($0) at \($0 == "b" ? seconds(2) : seconds(1))" })
    #expect(clock.scheduledCount == 1)
    clock.advance(to: seconds(10))
    #expect(timeline.events.last == "c at \(seconds(3))")
    #expect(clock.now == seconds(10))
  }

  @Test("Actions that are scheduled by actions run in the same move, if they're due")
  func nestedActions() {
    let (clock, timeline) = (VirtualClock(), EventTimeline())
    @Sendable func repeatEverySecond() {
      timeline.note("\(clock.now)")
      _ = clock.schedule(at: clock.now.advanced(by: .seconds(1)), repeatEverySecond)
    }
    _ = clock.schedule(at: seconds(1), repeatEverySecond)
    clock.advance(by: .seconds(3))
    #expect(timeline.events == ([1, 2, 3] as [Int64]).map { "\(seconds($0))" })
    #expect(clock.scheduledCount == 1)
  }

  @Test("An action that is due already waits for the next move, even one by zero; a cancelled one never runs")
  func dueAndCancelled() {
    let (clock, timeline) = (VirtualClock(now: seconds(5)), EventTimeline())
    _ = clock.schedule(at: seconds(1)) { timeline.note("due") }
    let cancelled = clock.schedule(at: seconds(5)) { timeline.note("cancelled") }
    #expect(timeline.events.isEmpty)
    #expect(cancelled.cancel())
    #expect(clock.scheduledCount == 1)
    clock.advance(by: .zero)
    #expect(timeline.events == ["due"])
    clock.advance(to: seconds(1))
    #expect(clock.now == seconds(5))
    #expect(!cancelled.cancel())
  }

  @Test("Waiting for scheduled actions ends when they are there, or with the task")
  func waitForScheduled() async throws {
    let clock = VirtualClock()
    async let scheduled: Void = clock.waitForScheduled(count: 2)
    for _ in 0..<2 { _ = clock.schedule(at: seconds(1)) {} }
    try await scheduled
    let cancelled = Task { try await clock.waitForScheduled(count: 3) }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  @Test("Time that is moved on many threads at once runs every action once")
  func manyThreads() async {
    let (clock, timeline) = (VirtualClock(), EventTimeline())
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for step in 0..<50 {
            _ = clock.schedule(at: clock.now.advanced(by: .nanoseconds(step))) { timeline.note("ran") }
            clock.advance(by: .nanoseconds(step))
          }
        }
      }
    }
    clock.advance(by: .seconds(1))
    #expect(timeline.events.count == 400)
  }
}
