import FileCoordinationTesting
import FoundationEssentials
import Glibc
import SystemInterface
import TestSupport
import Testing

@testable import FileCoordination

/// Time passes when a test says so, also in the service and for those who look for one.
@Suite("Waits in a domain of several processes use the domain's clock", .blocking, .timeLimit(.minutes(4)))
struct DomainClockTests {
  /// Domains at one place, on a clock that stands still.
  private func withPlace(
    _ body: (VirtualClock, _ socket: String, CoordinationDomain.Configuration) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { root in
      let clock = VirtualClock(now: MonotonicTime(nanoseconds: 1 << 40))
      var configuration = CoordinationDomain.Configuration()
      configuration.clock = clock
      try await body(clock, root.path + "/s", configuration)
    }
  }

  @Test("A process whose meeting place was removed ends, although the clock of its domain stands still")
  func removedPlace() async {
    await #expect(processExitsWith: .success) {
      // Otherwise nothing would end one that hangs.
      alarm(60)
      let root = FileManager.default.temporaryDirectory.appending(path: "removed-place-\(UUID())")
      try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
      var configuration = CoordinationDomain.Configuration()
      configuration.clock = VirtualClock(now: MonotonicTime(nanoseconds: 1 << 40))
      let domain = CoordinationDomain.socket(root.path + "/s", configuration)
      try await FileCoordinator(domain: domain).write(URL(filePath: "/nowhere/file")) { _ in
        try FileManager.default.removeItem(at: root)
        // Its service notices that at this moment, and can't go on: the directory around its place is gone as well.
        exit(0)
      }
    }
  }

  @Test("A wait ends when its time comes, at once if that has passed, and earlier for its event")
  func waiting() async throws {
    let clock = VirtualClock(now: MonotonicTime(nanoseconds: 1 << 40))
    let domainClock = DomainClock(clock)
    #expect(domainClock.now == clock.now)
    domainClock.wait(until: clock.now)
    domainClock.wait(until: MonotonicTime(nanoseconds: 0))
    let happened = ThreadEvent()
    happened.signal()
    domainClock.wait(until: .distantFuture, orFor: happened)
    #expect(clock.scheduledCount == 0)
    let waiter = Task { try await onThread { domainClock.wait(until: clock.now.advanced(by: .seconds(3600))) } }
    try await clock.waitForScheduled(count: 1)
    clock.advance(by: .seconds(3600))
    try await waiter.value
    #expect(clock.scheduledCount == 0)
  }

  @Test("A deadline counts from the request, also if the clock is moved before it's told of the deadline")
  func clockMovesBeforeArming() async throws {
    let clock = ImpatientClock(ahead: .seconds(2))
    var configuration = CoordinationDomain.Configuration()
    configuration.clock = clock
    let domain = CoordinationDomain(configuration)
    let file = URL(filePath: "/nowhere/file"), gate = TestGate()
    let holder = Task {
      try await FileCoordinator(label: "holder", domain: domain).write(file) { _ in try await gate.pass() }
    }
    try await gate.waitForArrival(count: 1)
    let coordinator = FileCoordinator(label: "waiter", domain: domain, deadlines: .within(.seconds(1)))
    let error = await #expect(throws: FileCoordinationError.self) { try await coordinator.write(file) { _ in } }
    #expect(error?.code == .timedOut)
    #expect(clock.base.scheduledCount == 0)
    gate.open()
    try await holder.value
  }

  @Test("A deadline that the service keeps passes when the clock is moved by an hour")
  func deadline() async throws {
    try await withPlace { clock, socket, configuration in
      let domain = CoordinationDomain.socket(socket, configuration)
      let other = CoordinationDomain.socket(socket, configuration)
      let file = URL(filePath: "/nowhere/file"), gate = TestGate()
      let holder = Task {
        try await FileCoordinator(label: "holder", domain: domain).write(file) { _ in try await gate.pass() }
      }
      try await gate.waitForArrival(count: 1)
      let waiter = Task {
        let coordinator = FileCoordinator(label: "waiter", domain: other, deadlines: .within(.seconds(3600)))
        try await coordinator.write(file) { _ in }
      }
      try await domain.waitUntil { $0.isWaiting("waiter") }
      clock.advance(by: .seconds(3599))
      #expect(try await domain.snapshot().isWaiting("waiter"))
      clock.advance(by: .seconds(1))
      let error = await #expect(throws: FileCoordinationError.self) { try await waiter.value }
      #expect(error?.code == .timedOut && error?.blockers.map(\.label) == ["holder"])
      gate.open()
      try await holder.value
    }
  }

  @Test("A service that says nothing is given up after ten seconds of the clock, and not before")
  func silence() async throws {
    try await withPlace { clock, socket, configuration in
      // Takes connections and never answers.
      let listener = try LocalListener(binding: LocalAddress(SystemPath(socket)))
      defer { listener.close(removingName: true) }
      let domain = CoordinationDomain.socket(socket, configuration)
      let isOver = Guarded(false)
      let access = Task {
        defer { isOver.withLock { $0 = true } }
        try await FileCoordinator(domain: domain, deadlines: .never).write(URL(filePath: "/nowhere/file")) { _ in }
      }
      // The one who reads, and the one who looks whether the service is stopped.
      try await clock.waitForScheduled(count: 2)
      clock.advance(by: .milliseconds(9999))
      #expect(!isOver.withLock { $0 })
      clock.advance(by: .milliseconds(1))
      let error = await #expect(throws: FileCoordinationError.self) { try await access.value }
      #expect(error?.code == .domainUnreachable)
    }
  }

  @Test("A process that tries to serve tries again when the clock says so")
  func serving() async throws {
    try await withPlace { clock, socket, configuration in
      let first = try CoordinationDomain.socket(socket).serve()
      let second = CoordinationDomain.socket(socket, configuration)
      let serving = Task { try await onThread { try second.serve() } }
      try await clock.waitForScheduled(count: 1)
      first?.stop()
      clock.advance(by: .milliseconds(50))
      let server = try #require(try await serving.value)
      server.stop()
      #expect(clock.scheduledCount == 0)
    }
  }

  @Test("The number of a service is the time of day, and greater than the last one though that is set back")
  func timeOfDay() async throws {
    try await withPlace { clock, socket, _ in
      func serve(at timeOfDay: UInt64) throws {
        let ground = MeetingGround.at(socket)
        let right = try #require(try ground.tryToServe())
        let setting = ServiceHost.Setting(
          ground: ground, packageExtensions: [], clock: DomainClock(clock, timeOfDay: { timeOfDay }))
        let service = try ServiceHost.start(right, setting)
        service.stop()
      }
      try serve(at: 1 << 42)
      try serve(at: 5)
      let right = try #require(try MeetingGround.at(socket).tryToServe())
      defer { right.release() }
      #expect(try right.nextEpoch(atLeast: 1) == (1 << 42) + 2)
    }
  }

  /// Moves on by a microsecond whenever somebody reads it, and runs what's due at once.
  private final class TickingClock: CoordinationClock {
    private let time = Guarded(Int64(1) << 40)

    var now: MonotonicTime {
      time.withLock { time in
        time += 1000
        return MonotonicTime(nanoseconds: time)
      }
    }

    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
      let scheduled = ScheduledAction(action)
      if deadline <= now { HostThread.start(name: "ticking") { scheduled.start() } }
      return scheduled
    }
  }

  // holder  [-----------------]
  // waiter    ~~~~ ·········· [-]     ~ tries again
  @Test("A claim that meets another tries again for 100 µs of the clock, and then queues")
  func contention() async {
    // In a process with few threads, of which each has a place in the fast tier.
    await #expect(processExitsWith: .success) {
      let clock = TickingClock()
      var configuration = CoordinationDomain.Configuration()
      configuration.clock = clock
      let domain = CoordinationDomain(configuration)
      let item = try domain.resolve(URL(filePath: "/nowhere/file"))
      let (holder, waiter) = (FileCoordinator(label: "holder", domain: domain), FileCoordinator(domain: domain))
      let isHeld = ThreadEvent(), isReleased = ThreadEvent()
      let holding = Task {
        try await onThread {
          try holder.blocking.write(item) { _ in
            isHeld.signal()
            isReleased.wait()
          }
        }
      }
      let times = try await onThread {
        isHeld.wait()
        let before = clock.now
        let error = #expect(throws: FileCoordinationError.self) {
          try waiter.blocking.write(item, deadlines: .within(.zero)) { _ in }
        }
        return (error: error?.code, elapsed: before.duration(to: clock.now))
      }
      #expect(times.error == .timedOut)
      #expect(times.elapsed > .microseconds(100) && times.elapsed < .microseconds(600), "\(times.elapsed)")
      isReleased.signal()
      try await holding.value
    }
  }
}

/// A clock that has moved on whenever it's told of a deadline, as one does on a machine that's busy with other things.
private final class ImpatientClock: CoordinationClock {
  let base = VirtualClock()
  private let lead: Duration

  init(ahead lead: Duration) { self.lead = lead }

  var now: MonotonicTime { base.now }

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    base.advance(by: lead)
    return base.schedule(at: deadline, action)
  }
}
