import FileMetadata
import SystemInterface
import TestSupport
import Testing

@Suite("When batches are told")
struct BatchScheduleTests {
  private static func time(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  /// First 2 changes or 10 ms, then 3 or 20 ms, then 4 or 40 ms.
  private static let limits = MetadataBatching(
    first: .init(countMax: 2, delayMax: .milliseconds(10)), gathering: .init(countMax: 3, delayMax: .milliseconds(20)),
    live: .init(countMax: 4, delayMax: .milliseconds(40)))

  @Test("The first batch comes early, the others in lumps, each as soon as it's due")
  func phases() {
    var schedule = BatchSchedule(Self.limits)
    #expect(schedule.pendingChanged(to: 1, at: Self.time(0)) == nil)
    #expect(schedule.deadline == Self.time(10))
    #expect(schedule.pendingChanged(to: 2, at: Self.time(5)) == .progress)
    #expect(schedule.deadline == nil)
    #expect(schedule.pendingChanged(to: 2, at: Self.time(6)) == nil)
    #expect(schedule.timePassed(at: Self.time(25)) == nil)
    #expect(schedule.timePassed(at: Self.time(26)) == .progress)
    #expect(schedule.gatheringFinished(at: Self.time(30)) == .finish)
    #expect(schedule.pendingChanged(to: 3, at: Self.time(31)) == nil)
    #expect(schedule.pendingChanged(to: 4, at: Self.time(32)) == .update)
  }

  @Test("Q7: the end of the search is told although there are no results")
  func emptyFinish() {
    var schedule = BatchSchedule(.standard)
    #expect(schedule.gatheringFinished(at: Self.time(0)) == .finish)
  }

  @Test("Q18: batches wait for a second unless told otherwise")
  func standard() {
    var schedule = BatchSchedule(.standard)
    _ = schedule.gatheringFinished(at: Self.time(0))
    _ = schedule.pendingChanged(to: 1, at: Self.time(7))
    #expect(schedule.deadline == Self.time(1007))
  }

  @Test("Q19: under constant change, batches are an interval apart")
  func interval() {
    var schedule = BatchSchedule(MetadataBatching(interval: .milliseconds(50)))
    _ = schedule.gatheringFinished(at: Self.time(0))
    var told: [Int64] = []
    var pending = 0
    for millisecond in Int64(1)...1000 {
      pending += 1
      if schedule.pendingChanged(to: pending, at: Self.time(millisecond)) != nil {
        told.append(millisecond)
        pending = 0
      }
    }
    #expect(zip(told, told.dropFirst()).allSatisfy { $1 - $0 >= 50 && $1 - $0 <= 51 })
    #expect(told.count == 19)
  }

  @Test("R2, R3: pauses nest, and the last end of one tells everything in one batch")
  func pauses() {
    var schedule = BatchSchedule(Self.limits)
    _ = schedule.gatheringFinished(at: Self.time(0))
    schedule.pause()
    schedule.pause()
    #expect(schedule.pendingChanged(to: 100, at: Self.time(1)) == nil)
    #expect(schedule.deadline == nil)
    #expect(schedule.resume(at: Self.time(2), flushes: true) == nil)
    #expect(schedule.resume(at: Self.time(3), flushes: true) == .update)
  }

  @Test("R15, R18: changes that cancel each other out aren't told")
  func cancelled() {
    var schedule = BatchSchedule(Self.limits)
    _ = schedule.gatheringFinished(at: Self.time(0))
    _ = schedule.pendingChanged(to: 1, at: Self.time(1))
    #expect(schedule.pendingChanged(to: 0, at: Self.time(2)) == nil)
    #expect(schedule.deadline == nil)
    #expect(schedule.timePassed(at: Self.time(1000)) == nil)
  }

  private enum Event: CaseIterable {
    case change, cancelAll, tenMilliseconds, deadline, pause, resume, flush, finish
  }

  /// The events of a schedule so far, and the conditions that must hold for it.
  private struct World {
    var schedule = BatchSchedule(BatchScheduleTests.limits)
    var now: Int64 = 0
    var pending = 0
    var since: Int64?
    var depth = 0
    var isFinished = false
    var told: [BatchSchedule.Delivery] = []

    private var limit: (count: Int, delay: Int64) {
      if told.contains(.finish) { return (4, 40) }
      return told.isEmpty ? (2, 10) : (3, 20)
    }

    /// - Returns: `false` if the event can't occur now.
    mutating func happen(_ event: Event) -> Bool {
      let delivery: BatchSchedule.Delivery?
      var flushes = false
      switch event {
      case .change:
        pending += 1
        since = since ?? now
        delivery = schedule.pendingChanged(to: pending, at: BatchScheduleTests.time(now))
      case .cancelAll:
        if pending == 0 { return false }
        pending = 0
        since = nil
        delivery = schedule.pendingChanged(to: 0, at: BatchScheduleTests.time(now))
      case .tenMilliseconds:
        now += 10
        delivery = schedule.timePassed(at: BatchScheduleTests.time(now))
      case .deadline:
        guard let deadline = schedule.deadline else { return false }
        now = max(now, deadline.nanoseconds / 1_000_000)
        delivery = schedule.timePassed(at: deadline)
      case .pause:
        if depth == 2 { return false }
        depth += 1
        schedule.pause()
        delivery = nil
      case .resume, .flush:
        if depth == 0 { return false }
        depth -= 1
        flushes = event == .flush
        delivery = schedule.resume(at: BatchScheduleTests.time(now), flushes: flushes)
      case .finish:
        if isFinished { return false }
        isFinished = true
        delivery = schedule.gatheringFinished(at: BatchScheduleTests.time(now))
      }
      #expect(delivery == expected(flushes))
      if let delivery {
        told.append(delivery)
        pending = 0
        since = nil
      }
      #expect(
        schedule.deadline?.nanoseconds == (depth > 0 ? nil : since.map { ($0 + limit.delay) * 1_000_000 }))
      return true
    }

    private func expected(_ flushes: Bool) -> BatchSchedule.Delivery? {
      if depth > 0 { return nil }
      let isFinishDue = isFinished && !told.contains(.finish)
      let isDue = pending >= limit.count || since.map { now >= $0 + limit.delay } ?? false
      guard isFinishDue || isDue || (flushes && pending > 0) else { return nil }
      return isFinishDue ? .finish : (told.contains(.finish) ? .update : .progress)
    }
  }

  @Test("Q5, Q6: Each batch is reported when it's due, and the end of the search once, whatever happens")
  func exhaustive() async {
    await LongRun.run {
      var worlds = [World()]
      for _ in 0..<5 {
        worlds = worlds.flatMap { world in
          Event.allCases.compactMap { event in
            var next = world
            return next.happen(event) ? next : nil
          }
        }
      }
      for world in worlds {
        #expect(world.told.count { $0 == .finish } <= 1)
        let isOrdered = zip(world.told, world.told.dropFirst()).allSatisfy { first, second in
          first == .progress ? second != .update : second == .update
        }
        #expect(isOrdered, "\(world.told)")
      }
    }
  }
}
