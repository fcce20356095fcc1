import Synchronization
import SystemInterface
import Testing

extension ConcurrencyTests {
  @Suite("Time") struct TimeTests {
    @Test("A part of a nanosecond is rounded up, so that no deadline is early")
    func roundsUp() {
      let origin = MonotonicTime(nanoseconds: 100)
      let attosecond = Duration(secondsComponent: 0, attosecondsComponent: 1)
      #expect(origin.advanced(by: attosecond).nanoseconds == 101)
      #expect(origin.advanced(by: .zero - attosecond).nanoseconds == 100)
      #expect(origin.advanced(by: .seconds(-2)).nanoseconds == 100 - 2_000_000_000)
    }

    @Test("Times at the ends of the range stay there")
    func saturates() {
      let farAway = Duration(secondsComponent: .max, attosecondsComponent: 0)
      #expect(MonotonicTime(nanoseconds: 0).advanced(by: farAway) == .distantFuture)
      #expect(MonotonicTime(nanoseconds: 0).advanced(by: .zero - farAway).nanoseconds == .min)
      #expect(MonotonicTime.distantFuture.advanced(by: .seconds(-1)) == .distantFuture)
    }

    @Test("A duration leads from one time to the other")
    func measures() {
      let early = MonotonicTime(nanoseconds: .min)
      let late = MonotonicTime(nanoseconds: .max - 1)
      #expect(early < late)
      #expect(early.advanced(by: early.duration(to: late)) == late)
      #expect(late.advanced(by: late.duration(to: early)) == early)
    }

    @Test("The host's clock never goes back")
    func isMonotonic() {
      var last = HostClock.shared.now
      for _ in 0..<1_000 {
        let now = HostClock.shared.now
        #expect(now >= last)
        last = now
      }
    }
  }

  @Suite("Clock") struct ClockTests {
    private let clock = HostClock()

    /// Keeps the clock's thread busy, so that a slow test can't be overtaken by its own deadlines.
    ///
    /// - Returns: The event that lets the clock go on.
    private func holdClock() -> ThreadEvent {
      let isHeld = ThreadEvent()
      let release = ThreadEvent()
      _ = clock.schedule(at: MonotonicTime(nanoseconds: 0)) {
        isHeld.signal()
        release.wait()
      }
      isHeld.wait()
      return release
    }

    @Test("Actions run in the order of their deadlines, equal ones in the order of scheduling, none early")
    func runsInOrder() {
      let release = holdClock()
      let start = clock.now
      let journal = Journal<Int>()
      let done = Countdown(6)
      for (label, milliseconds) in [(4, 8), (0, 2), (2, 5), (3, 5), (1, 2), (5, 9)] {
        let deadline = start.advanced(by: .milliseconds(milliseconds))
        _ = clock.schedule(at: deadline) { [clock] in
          #expect(clock.now >= deadline)
          journal.append(label)
          done.countDown()
        }
      }
      release.signal()
      done.wait()
      #expect(journal.elements == [0, 1, 2, 3, 4, 5])
    }

    @Test("A deadline in the past is due at once, on another thread")
    func runsOverdueAction() {
      let hasRun = ThreadEvent()
      let caller = CurrentThread.kernelThreadIdentifier
      _ = clock.schedule(at: MonotonicTime(nanoseconds: .min)) {
        #expect(CurrentThread.kernelThreadIdentifier != caller)
        hasRun.signal()
      }
      hasRun.wait()
    }

    @Test("A deadline before the earliest one wakes the sleeping clock")
    func rearmsEarlier() {
      let late = clock.schedule(at: clock.now.advanced(by: .seconds(3600))) { Issue.record("an hour has passed") }
      for _ in 0..<200 {
        let hasRun = ThreadEvent()
        _ = clock.schedule(at: clock.now.advanced(by: .microseconds(50))) { hasRun.signal() }
        hasRun.wait()
      }
      #expect(late.cancel())
    }

    @Test("The clock's thread sleeps while nothing is due: at most three looks for each action")
    func sleepsBetweenDeadlines() {
      let actionCount = 100
      for _ in 0..<actionCount {
        let hasRun = ThreadEvent()
        _ = clock.schedule(at: clock.now.advanced(by: .microseconds(200))) { hasRun.signal() }
        hasRun.wait()
      }
      #expect(clock.turnCount <= 3 * actionCount + 1)
    }

    @Test("A cancelled action never starts, not even one that is overdue")
    func neverStartsCancelledAction() {
      let release = holdClock()
      let deadline = clock.now
      let cancelled = clock.schedule(at: deadline) { Issue.record("started after cancel") }
      let hasRun = ThreadEvent()
      let other = clock.schedule(at: deadline) { hasRun.signal() }
      #expect(cancelled.cancel())
      #expect(!cancelled.cancel())
      release.signal()
      hasRun.wait()
      #expect(!other.cancel())
      #expect(clock.scheduledCount == 0)
    }

    @Test("Cancelled actions don't accumulate")
    func removesCancelledActions() {
      let far = clock.now.advanced(by: .seconds(3600))
      let actions = (0..<1_000).map { index in
        clock.schedule(at: far.advanced(by: .nanoseconds(index * 7919 % 1_000))) { Issue.record("an hour has passed") }
      }
      #expect(clock.scheduledCount == 1_000)
      for action in actions.dropFirst() { action.cancel() }
      #expect(clock.scheduledCount == 1)
      actions.first?.cancel()
      #expect(clock.scheduledCount == 0)
    }

    @Test("An action may schedule and cancel others: it doesn't run under the lock")
    func allowsReentrance() {
      let hasRun = ThreadEvent()
      let victim = clock.schedule(at: clock.now.advanced(by: .seconds(3600))) { Issue.record("an hour has passed") }
      _ = clock.schedule(at: clock.now) { [clock] in
        #expect(victim.cancel())
        _ = clock.schedule(at: clock.now) { hasRun.signal() }
      }
      hasRun.wait()
    }

    @Test("Objects that an action holds are freed when it is cancelled or has run")
    func freesClosure() {
      final class Cargo: Sendable {}
      weak var weakCargo: Cargo?
      let actions: [ScheduledAction]
      do {
        let cargo = Cargo()
        weakCargo = cargo
        actions = [ScheduledAction { _ = cargo }, ScheduledAction { _ = cargo }]
      }
      #expect(weakCargo != nil)
      #expect(actions[0].cancel())
      #expect(actions[1].start())
      #expect(weakCargo == nil)
    }

    @Test("Of cancelling and starting, exactly one wins")
    func decidesBetweenCancelAndStart() {
      for _ in 0..<300 {
        let outcomes = Journal<String>()
        let action = ScheduledAction({ outcomes.append("ran") }, onCancel: { outcomes.append("cancelled") })
        onThreads(2) { index in
          if index == 0 { action.cancel() } else { action.start() }
        }
        #expect(outcomes.elements.count == 1)
      }
    }

    @Test("Threads schedule and cancel at the same time; every action is run or cancelled")
    func survivesCrowd() {
      let threadCount = 8
      let roundCount = 500
      let ran = Guarded(0)
      let cancelled = Guarded(0)
      let done = Countdown(threadCount * roundCount)
      onThreads(threadCount) { [clock] index in
        for round in 0..<roundCount {
          let deadline = clock.now.advanced(by: .microseconds((round * 31 + index * 17) % 300))
          let action = clock.schedule(at: deadline) {
            ran.withLock { $0 += 1 }
            done.countDown()
          }
          if round % 2 == 0, action.cancel() {
            cancelled.withLock { $0 += 1 }
            done.countDown()
          }
        }
      }
      done.wait()
      #expect(ran.withLock { $0 } + cancelled.withLock { $0 } == threadCount * roundCount)
      #expect(clock.scheduledCount == 0)
    }
  }
}
