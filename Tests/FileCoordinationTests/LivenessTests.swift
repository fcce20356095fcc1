import FileCoordination
import FoundationEssentials
import SystemInterface
import Testing

/// A domain on a clock that a test moves.
private struct World: Sendable {
  let clock = LivenessClock()
  let domain: CoordinationDomain
  let reports = Guarded<[WaitNotice]>([])
  let file = URL(filePath: "/nowhere/of/interest/file")

  init(reporting interval: Duration? = nil) {
    var configuration = CoordinationDomain.Configuration()
    configuration.clock = clock
    if let interval {
      let reports = reports
      configuration.waitReportInterval = interval
      configuration.waitReporter = { notice in reports.withLock { $0.append(notice) } }
    }
    domain = CoordinationDomain(configuration)
  }

  /// Holds the file until the gate opens; returns when it's held.
  func hold(_ url: URL? = nil, until gate: LivenessGate, label: String = "holder") async throws -> Task<Void, any Error>
  {
    let task = Task { [url = url ?? file, domain] in
      try await FileCoordinator(label: label, domain: domain).write(url) { _ in await gate.pass() }
    }
    try await domain.waitUntil { snapshot in snapshot.accesses.contains { $0.party.label == label && $0.isGranted } }
    return task
  }

  /// Reads the file in a task or on a thread of its own.
  func read(_ form: Form, label: String = "waiter", _ deadlines: AccessDeadlines) -> Task<Void, any Error> {
    let coordinator = FileCoordinator(label: label, domain: domain, deadlines: deadlines)
    return Task { [file] in
      switch form {
      case .suspending: try await coordinator.read(file) { _ in }
      case .blocking:
        try await withCheckedThrowingContinuation { continuation in
          HostThread.start(name: "reader") {
            continuation.resume(with: Result { try coordinator.blocking.read(file) { _ in } })
          }
        }
      }
    }
  }

  func isIdle() async throws {
    try await domain.waitUntil { snapshot in
      snapshot.accesses.isEmpty && snapshot.presenters.allSatisfy { $0.running.isEmpty && $0.pendingMessageCount == 0 }
    }
    await clock.waitUntil { $0 == 0 }
  }
}

enum Form: CaseIterable, Sendable { case suspending, blocking }

/// The error of the library that a task failed with.
private func failure<Result: Sendable>(of task: Task<Result, any Error>) async throws -> FileCoordinationError {
  let outcome = await task.result
  return try #require(throws: FileCoordinationError.self) { try outcome.get() }
}

/// A presenter whose answers are defined by a test.
private final class Answering: FilePresenter {
  typealias Relinquish = @Sendable (AccessOrigin) async throws -> FileReacquirer?

  let presentedItemURL: URL?
  let presenterLabel: String
  let presentedItemExecutor: (any TaskExecutor)?
  private let relinquish: Relinquish
  let calls = Guarded<[String]>([])
  let onAccommodate = Guarded<(@Sendable () -> Void)?>(nil)
  var presentedItemCallbacks: FilePresenterCallbacks { .all }

  init(
    _ url: URL, label: String = "editor", executor: (any TaskExecutor)? = nil,
    _ relinquish: @escaping Relinquish = { _ in nil }
  ) {
    presentedItemURL = url
    presenterLabel = label
    presentedItemExecutor = executor
    self.relinquish = relinquish
  }

  private func note(_ call: String) { calls.withLock { $0.append(call) } }

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
    note("relinquish")
    return try await relinquish(origin)
  }
  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
    note("relinquish")
    return try await relinquish(origin)
  }
  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
    note("accommodate")
    onAccommodate.withLock { $0 }?()
  }
  func presentedItemDidChange(origin: AccessOrigin) async { note("changed") }
}

@Suite("Nobody waits without end, and nobody waits without knowing for whom", .timeLimit(.minutes(5)))
struct LivenessTests {
  // MARK: Deadlines

  // holder  [----------------]
  // waiter     w·····x             // 5 s
  @Test(
    "Waiting for other accesses ends at the deadline, and the error names who holds what since when",
    arguments: Form.allCases)
  func timedOut(form: Form) async throws {
    let world = World(), gate = LivenessGate()
    let holder = try await world.hold(until: gate)
    world.clock.advance(by: .seconds(7))
    let waiter = world.read(form, .within(.seconds(5)))
    await world.clock.waitUntil { $0 == 1 }
    world.clock.advance(by: .milliseconds(4999))
    #expect(try await world.domain.snapshot().accesses.count == 2)
    world.clock.advance(by: .milliseconds(1))
    let error = try await failure(of: waiter)
    #expect(error.code == .timedOut)
    #expect(error.subjects == [world.file.path()])
    #expect(error.blockers.map(\.kind) == [.holdingAccess])
    #expect(error.blockers.map(\.duration) == [.seconds(12)])
    let process = "pid \(HostProcess.processIdentifier) '\(HostProcess.name)'"
    for part in ["read '\(world.file.path())' within 5 s", "held for writing by 'holder' (\(process)) for 12 s"] {
      #expect(error.description.contains(part), "\(error)")
    }
    gate.open()
    try await holder.value
    try await world.isIdle()
  }

  @Test(
    "Waiting for an answer ends at the deadline, and the error names the presenter and its callback",
    arguments: Form.allCases)
  func unresponsive(form: Form) async throws {
    let world = World(), gate = LivenessGate()
    let presenter = Answering(world.file) { _ in
      await gate.pass()
      return nil
    }
    let registration = try await world.domain.register(presenter)
    let waiter = world.read(form, AccessDeadlines(waitingForAccesses: nil, waitingForAnswers: .seconds(60)))
    await gate.arrivals(1)
    await world.clock.waitUntil { $0 == 1 }
    world.clock.advance(by: .seconds(60))
    let error = try await failure(of: waiter)
    #expect(error.code == .presenterUnresponsive)
    #expect(error.blockers.map(\.kind) == [.runningCallback])
    for part in [
      "no answer within 60 s", "'editor' (pid ",
      ") of '\(world.file.path())' has run relinquishPresentedItem(toReader:) for 60 s",
    ] {
      #expect(error.description.contains(part), "\(error)")
    }
    gate.open()
    try await world.isIdle()
    withExtendedLifetime(registration) {}
  }

  @Test("With .proceed the late presenter is passed over and named, and its reacquirer runs exactly once all the same")
  func proceeding() async throws {
    let world = World(), gate = LivenessGate(), reacquired = Guarded(0)
    let reacquirer: FileReacquirer = { reacquired.withLock { $0 += 1 } }
    let late = Answering(world.file, label: "late") { _ in
      await gate.pass()
      return reacquirer
    }
    let prompt = Answering(world.file, label: "prompt") { _ in reacquirer }
    let registrations = try [late, prompt].map { try world.domain.register($0) }
    let deadlines = AccessDeadlines(waitingForAnswers: .seconds(3), lateAnswers: .proceed)
    let task = Task { [file = world.file, domain = world.domain] in
      try await FileCoordinator(domain: domain, deadlines: deadlines).write(file) { $0.unansweredPresenters }
    }
    await gate.arrivals(1)
    try await world.domain.waitUntil { $0.presenters.count { !$0.running.isEmpty } == 1 }
    await world.clock.waitUntil { $0 == 1 }
    world.clock.advance(by: .seconds(3))
    #expect(try await task.value == ["late (relinquishPresentedItem(toWriter:))"])
    try await world.domain.waitUntil { snapshot in
      snapshot.presenters.allSatisfy { $0.label == "late" || ($0.running.isEmpty && $0.pendingMessageCount == 0) }
    }
    #expect(reacquired.withLock { $0 } == 1, "only of the one that answered")
    gate.open()
    try await world.isIdle()
    #expect(reacquired.withLock { $0 } == 2)
    #expect(late.calls.withLock { $0 } == ["relinquish", "changed"])
    withExtendedLifetime(registrations) {}
  }

  @Test("A wait is reported again and again with the time it has lasted, until it ends")
  func reports() async throws {
    let world = World(reporting: .seconds(2)), gate = LivenessGate()
    let holder = try await world.hold(until: gate)
    let waiter = world.read(.suspending, .never)
    await world.clock.waitUntil { $0 == 1 }
    for _ in 0..<3 {
      world.clock.advance(by: .seconds(2))
      await world.clock.waitUntil { $0 == 1 }
    }
    let reports = world.reports.withLock { $0 }
    #expect(reports.map(\.duration) == [.seconds(2), .seconds(4), .seconds(6)])
    #expect(reports.map { $0.waiter.label } == ["waiter", "waiter", "waiter"])
    #expect(reports.allSatisfy { $0.blockers.map(\.label) == ["holder"] })
    #expect(
      reports.last?.description.contains(
        "has waited for 6 s before reading '\(world.file.path())': '\(world.file.path())' held for writing by 'holder'")
        == true)
    gate.open()
    try await waiter.value
    try await holder.value
    try await world.isIdle()
    world.clock.advance(by: .seconds(100))
    #expect(world.reports.withLock { $0.count } == 3)
  }

  @Test("An interval between reports that is too short, or none, counts as the shortest", arguments: [0, -5, 10])
  func shortInterval(microseconds: Int) async throws {
    let world = World(reporting: .microseconds(microseconds)), gate = LivenessGate()
    let holder = try await world.hold(until: gate)
    let waiter = world.read(.suspending, .never)
    await world.clock.waitUntil { $0 == 1 }
    world.clock.advance(by: .milliseconds(3))
    #expect(world.reports.withLock { $0.map(\.duration) } == [.milliseconds(1), .milliseconds(2), .milliseconds(3)])
    gate.open()
    try await waiter.value
    try await holder.value
    try await world.isIdle()
  }

  @Test(
    "Deadlines may be as long or as short as can be",
    arguments: [.seconds(Int64.max), .zero, .seconds(-1)] as [Duration])
  func extremes(duration: Duration) async throws {
    let world = World(), gate = LivenessGate()
    let holder = try await world.hold(until: gate)
    let waiter = world.read(.suspending, .within(duration))
    await world.clock.waitUntil { $0 == 1 }
    world.clock.advance(by: duration > .zero ? .seconds(1_000_000_000) : .zero)
    if duration > .zero {
      gate.open()
      try await waiter.value
    } else {
      #expect(try await failure(of: waiter).code == .timedOut)
      gate.open()
    }
    try await holder.value
    try await world.isIdle()
  }

  @Test("With .never no timer is armed, neither while waiting nor while asking")
  func never() async throws {
    let world = World(), gate = LivenessGate(), asked = LivenessGate()
    let holder = try await world.hold(until: gate)
    let presenter = Answering(world.file) { origin in
      if origin.label == "waiter" { await asked.pass() }
      return nil
    }
    let registration = try await world.domain.register(presenter)
    let waiter = world.read(.suspending, .never)
    try await world.domain.waitUntil { $0.accesses.count == 2 }
    #expect(world.clock.scheduledCount == 0)
    gate.open()
    await asked.arrivals(1)
    #expect(world.clock.scheduledCount == 0)
    asked.open()
    try await waiter.value
    try await holder.value
    try await world.isIdle()
    withExtendedLifetime(registration) {}
  }

  enum End: CaseIterable { case granted, cancelled, taskCancelled, refused, presenterGone, answered }

  @Test("However a wait ends, no timer stays behind", arguments: End.allCases)
  func timers(end: End) async throws {
    struct Refusal: Error {}
    let world = World(reporting: .seconds(2)), gate = LivenessGate()
    let presenter = Answering(world.file) { origin in
      if origin.label == "holder" { return nil }
      await gate.pass()
      if end == .refused { throw Refusal() }
      return nil
    }
    let isAsking = [.refused, .presenterGone, .answered].contains(end)
    let registration = isAsking ? try await world.domain.register(presenter) : nil
    let holder = isAsking ? nil : try await world.hold(until: gate)
    let coordinator = FileCoordinator(label: "waiter", domain: world.domain)
    let waiter = Task { [file = world.file] in try await coordinator.read(file) { _ in } }
    // The deadline and the next report.
    await world.clock.waitUntil { $0 == 2 }
    world.clock.advance(by: .seconds(2))
    await world.clock.waitUntil { $0 == 2 }
    switch end {
    case .granted, .refused, .answered: gate.open()
    case .cancelled: coordinator.cancel()
    case .taskCancelled: waiter.cancel()
    case .presenterGone: registration?.end()
    }
    let outcome = await waiter.result
    let code: FileCoordinationError.Code?
    switch outcome {
    case .success: code = nil
    case .failure(let error): code = try #require(error as? FileCoordinationError).code
    }
    await world.clock.waitUntil { $0 == 0 }
    switch end {
    case .granted, .answered, .presenterGone: #expect(code == nil)
    case .cancelled, .taskCancelled: #expect(code == .cancelled)
    case .refused: #expect(code == .presenterFailed)
    }
    gate.open()
    try await holder?.value
    try await world.isIdle()
    withExtendedLifetime(registration) {}
  }

  /// A clock on which the first deadline comes before the clock has even answered, as on a computer that is busy.
  final class HastyClock: CoordinationClock {
    let slow = LivenessClock()
    private let isFirst = Guarded(true)

    var now: MonotonicTime { slow.now }

    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
      let isFirst = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if !isFirst { return slow.schedule(at: deadline, action) }
      let scheduled = ScheduledAction(action)
      slow.advance(by: now.duration(to: deadline))
      let hasRun = ThreadEvent()
      HostThread.start(name: "hasty") {
        scheduled.start()
        hasRun.signal()
      }
      hasRun.wait()
      return scheduled
    }
  }

  @Test("A report that comes before its timer is known doesn't leave the next one behind")
  func earlyReport() async throws {
    let clock = HastyClock(), gate = LivenessGate(), file = URL(filePath: "/nowhere/file")
    var configuration = CoordinationDomain.Configuration()
    configuration.clock = clock
    configuration.waitReporter = { _ in }
    let domain = CoordinationDomain(configuration)
    let holder = Task { try await FileCoordinator(domain: domain).write(file) { _ in await gate.pass() } }
    await gate.arrivals(1)
    let waiter = Task { try await FileCoordinator(domain: domain, deadlines: .never).read(file) { _ in } }
    await clock.slow.waitUntil { $0 == 1 }
    gate.open()
    try await holder.value
    try await waiter.value
    try await domain.waitUntil { $0.accesses.isEmpty }
    #expect(clock.slow.scheduledCount == 0)
  }

  // MARK: Presenters that don't answer

  @Test("A handler that is dropped without having been called fails the access, and nobody else (C-186)")
  func droppedAnswer() async throws {
    let world = World()
    let presenter = Answering(world.file) { origin in
      if origin.label == "lucky" { return nil }
      return try await FileAnswer<FileReacquirer?>.wait { _ in }
    }
    let registration = try await world.domain.register(presenter)
    let error = try await failure(of: world.read(.suspending, .standard))
    #expect(error.code == .answerDropped)
    #expect(error.description.contains("'editor' answered relinquishPresentedItem(toReader:)"), "\(error)")
    try await world.read(.suspending, label: "lucky", .standard).value
    try await world.isIdle()
    withExtendedLifetime(registration) {}
  }

  /// An executor that keeps its jobs until a test lets them run.
  final class Holding: TaskExecutor {
    private let jobs = Guarded<(isOpen: Bool, jobs: [UnownedJob])>((false, []))

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let runs = jobs.withLock { state -> Bool in
        if !state.isOpen { state.jobs.append(job) }
        return state.isOpen
      }
      if runs { run([job]) }
    }

    func open() {
      run(
        jobs.withLock { state in
          state.isOpen = true
          let jobs = state.jobs
          state.jobs = []
          return jobs
        })
    }

    private func run(_ jobs: [UnownedJob]) {
      HostThread.start(name: "held") { for job in jobs { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
    }
  }

  @Test("A presenter that is deallocated while it owes an answer counts as unregistered")
  func deallocated() async throws {
    let world = World(), executor = Holding()
    var presenter: Answering? = Answering(world.file, executor: executor)
    weak let observer = presenter
    let registration = try presenter.map { try world.domain.register($0) }
    let waiter = world.read(.suspending, .standard)
    try await world.domain.waitUntil { $0.presenters.first?.running.isEmpty == false }
    presenter = nil
    #expect(observer == nil)
    executor.open()
    try await waiter.value
    try await world.domain.waitUntil { $0.presenters.isEmpty }
    try await world.isIdle()
    withExtendedLifetime(registration) {}
  }

  @Test("A presenter may unregister inside its own callback, and is told nothing afterwards (C-082)")
  func unregisteredInside() async throws {
    let world = World()
    let presenter = Answering(world.file)
    let registration = try await world.domain.register(presenter)
    presenter.onAccommodate.withLock { $0 = { registration.end() } }
    try await FileCoordinator(domain: world.domain).write(world.file, options: .forDeleting) { _ in }
    try await world.isIdle()
    #expect(presenter.calls.withLock { $0 } == ["relinquish", "accommodate"])
    #expect(world.domain.presenters.isEmpty)
  }

  @Test("Nobody waits for a presenter that unregistered while it owes an answer (C-192)")
  func unregisteredWhileAsked() async throws {
    let world = World(), gate = LivenessGate(), reacquired = Guarded(0)
    let presenter = Answering(world.file) { _ in
      await gate.pass()
      return { reacquired.withLock { $0 += 1 } }
    }
    let registration = try await world.domain.register(presenter)
    let waiter = world.read(.suspending, .standard)
    await gate.arrivals(1)
    registration.end()
    try await waiter.value
    gate.open()
    try await world.domain.waitUntil { $0.presenters.isEmpty }
    #expect(reacquired.withLock { $0 } == 1, "what was handed over late is given back")
  }

  // MARK: Cancelling

  @Test("A task that is cancelled already gets no access")
  func cancelledBefore() async throws {
    let world = World(), gate = LivenessGate()
    let waiter = Task { [file = world.file, domain = world.domain] in
      await gate.pass()
      try await FileCoordinator(domain: domain).read(file) { _ in _ = Issue.record("it ran") }
    }
    await gate.arrivals(1)
    waiter.cancel()
    gate.open()
    #expect(try await failure(of: waiter).code == .cancelled)
    try await world.isIdle()
  }

  @Test(
    "A task that is cancelled while presenters are asked stops waiting, and they get their reacquirers once (C-164, C-165)"
  )
  func cancelledWhileAsking() async throws {
    let world = World(), gate = LivenessGate(), reacquired = Guarded(0)
    let presenter = Answering(world.file) { _ in
      await gate.pass()
      return { reacquired.withLock { $0 += 1 } }
    }
    let registration = try await world.domain.register(presenter)
    let waiter = world.read(.suspending, .never)
    await gate.arrivals(1)
    waiter.cancel()
    #expect(try await failure(of: waiter).code == .cancelled)
    #expect(reacquired.withLock { $0 } == 0)
    gate.open()
    try await world.isIdle()
    #expect(reacquired.withLock { $0 } == 1)
    withExtendedLifetime(registration) {}
  }

  @Test("A cancelled waiter doesn't hold up those behind it (C-167)", arguments: Form.allCases)
  func cancelledInQueue(form: Form) async throws {
    // reader 1  [--------]
    // writer       w··x            // cancelled
    // reader 2        ·[---]       // begins while reader 1 still reads
    let world = World(), gate = LivenessGate()
    let first = Task { [file = world.file, domain = world.domain] in
      try await FileCoordinator(label: "first", domain: domain).read(file) { _ in await gate.pass() }
    }
    await gate.arrivals(1)
    let writer = FileCoordinator(label: "writer", domain: world.domain)
    let writing = Task { [file = world.file] in try await writer.write(file) { _ in } }
    try await world.domain.waitUntil { $0.accesses.count == 2 }
    let second = world.read(form, .never)
    try await world.domain.waitUntil { $0.accesses.count == 3 }
    writer.cancel()
    #expect(try await failure(of: writing).code == .cancelled)
    try await second.value
    gate.open()
    try await first.value
    try await world.isIdle()
  }

  // MARK: Threads

  @Test("Presenters that block their threads don't stop other presenters")
  func blockedThreads() async throws {
    let world = World(), gate = LivenessGate(), count = 16
    let blocked = (0..<count).map { index in
      Answering(URL(filePath: "/nowhere/blocked/\(index)")) { _ in
        gate.passBlocking()
        return nil
      }
    }
    let prompt = Answering(world.file)
    let registrations = try (blocked + [prompt]).map { try world.domain.register($0) }
    let waiters = (0..<count).map { index in
      Task { [domain = world.domain] in
        try await FileCoordinator(domain: domain).read(URL(filePath: "/nowhere/blocked/\(index)")) { _ in }
      }
    }
    await gate.arrivals(count)
    try await world.read(.suspending, .standard).value
    #expect(prompt.calls.withLock { $0 } == ["relinquish"])
    gate.open()
    for waiter in waiters { try await waiter.value }
    try await world.isIdle()
    withExtendedLifetime(registrations) {}
  }

  @Test("Blocking accesses on every thread of the cooperative pool don't keep presenters from answering")
  func blockedPool() async throws {
    /// Hides the blocking call from the compiler, as the synchronous code of a program does.
    @Sendable func readBlocking(_ url: URL, _ domain: CoordinationDomain) throws {
      try FileCoordinator(domain: domain).blocking.read(url) { _ in }
    }
    let world = World()
    let presenter = Answering(world.file) { _ in
      await Task.yield()
      return { await Task.yield() }
    }
    let registration = try await world.domain.register(presenter)
    try await withThrowingTaskGroup { group in
      for _ in 0..<32 { group.addTask { try readBlocking(world.file, world.domain) } }
      try await group.waitForAll()
    }
    #expect(presenter.calls.withLock { $0.count } == 32)
    try await world.isIdle()
    withExtendedLifetime(registration) {}
  }

  @Test(
    "Callbacks run with the priority of the task that waits for them",
    arguments: [TaskPriority.high, .medium, .utility, .background])
  func priority(priority: TaskPriority) async throws {
    let world = World(), done = LivenessGate(), seen = Guarded<TaskPriority?>(nil)
    let presenter = Answering(world.file) { _ in
      seen.withLock { $0 = Task.currentPriority }
      return nil
    }
    let registration = try await world.domain.register(presenter)
    // No task awaits this task itself: that would raise its priority.
    Task(priority: priority) { [file = world.file, domain = world.domain] in
      try await FileCoordinator(domain: domain).read(file) { _ in }
      done.open()
    }
    await done.pass()
    #expect(seen.withLock { $0 } == priority)
    try await world.isIdle()
    withExtendedLifetime(registration) {}
  }
}
