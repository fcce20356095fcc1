import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Async form", .timeLimit(.minutes(4)), .betweenProcesses)
struct AsyncFormTests {
  /// Counts on its own executor how often an accessor ran there.
  actor Owner {
    private(set) var count = 0

    func run(_ intents: [FileAccessIntent], on coordinator: FileCoordinator) async throws {
      try await coordinator.coordinate(intents) { set in
        preconditionIsolated()
        count += set.count
      }
    }
  }

  @Test("C-150: A request suspends without blocking, and runs the accessor exactly once on the caller's actor")
  func accessorRunsOnCaller() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let owner = Owner()
      let holder = try await box.hold(.write("d/f"), as: "holder")
      let request = Task.detached { try await owner.run([.reading(url)], on: box.coordinator("request")) }
      try await box.domain.waitUntil { $0.isWaiting("request") }
      // The actor isn't blocked by its waiting request.
      #expect(await owner.count == 0)
      try await holder.finish()
      try await request.value
      #expect(await owner.count == 1)
    }
  }

  @Test("C-151: On failure there is an error and no access: the accessor doesn't run")
  func failure() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      presenter.refuse(.relinquishToReader, with: TestFailure())
      let owner = Owner()
      let error = await #expect(throws: FileCoordinationError.self) {
        try await owner.run([.reading(url)], on: box.coordinator("request"))
      }
      #expect(error?.code == .presenterFailed)
      #expect(await owner.count == 0)
    }
  }

  @Test("C-152: All intents are held until the accessor returns")
  func allHeld() async throws {
    try await withSandbox { box in
      let intents = [FileAccessIntent.writing(try box.write("a")), .writing(try box.write("b"))]
      let gate = TestGate()
      let request = Task.detached {
        try await box.coordinator("request").coordinate(intents) { _ in
          try await gate.pass()
          box.timeline.note("accessor ends")
        }
      }
      try await gate.waitForArrival()
      let waiters = [try await box.queue(.read("a"), as: "A"), try await box.queue(.read("b"), as: "B")]
      gate.open()
      try await request.value
      for waiter in waiters { try await waiter.finish() }
      #expect(box.events.first == "accessor ends")
    }
  }

  @Test("C-153: Mixed reading and writing intents obey the same tables as single calls")
  func mixedIntents() async throws {
    try await withSandbox { box in
      let intents = [FileAccessIntent.reading(try box.write("a")), .writing(try box.write("b"), options: .forMerging)]
      let (first, second) = (try box.present("a", as: "PA"), try box.present("b", as: "PB"))
      let gate = TestGate()
      let request = Task.detached {
        try await box.coordinator("request").coordinate(intents) { _ in try await gate.pass() }
      }
      try await gate.waitForArrival()
      #expect(first.callbacks == [.relinquishToReader, .saveChanges])
      #expect(second.callbacks == [.relinquishToWriter, .saveChanges])
      try await box.access(.read("a", .withoutChanges), as: "reader")
      let writer = try await box.queue(.write("a"), as: "writer")
      gate.open()
      try await request.value
      try await writer.finish()
    }
  }

  @Test("C-154: An intent's URL may be read outside the accessor, on any thread")
  func intentsAreSendable() async throws {
    try await withSandbox { box in
      let intent = FileAccessIntent.reading(try box.write("d/f"))
      #expect(intent.url == box.url("d/f"))
      try await box.coordinator("request").coordinate([intent]) { _ in
        let elsewhere = await Task.detached { intent.url }.value
        #expect(elsewhere == intent.url)
      }
      // Stale, and harmless.
      try box.rename("d/f", to: "d/g")
      #expect(intent.url == box.url("d/f"))
    }
  }

  @Test("A request names at least one item, and at most itemCountMax")
  func itemCounts() async throws {
    try await withSandbox { box in
      let coordinator = box.coordinator("C")
      var error = await #expect(throws: FileCoordinationError.self) { try await coordinator.coordinate([]) { _ in } }
      #expect(error?.code == .noItems)
      let url = try box.write("d/f")
      let many = Array(repeating: FileAccessIntent.reading(url), count: FileCoordinator.itemCountMax + 1)
      error = await #expect(throws: FileCoordinationError.self) { try await coordinator.coordinate(many) { _ in } }
      #expect(error?.code == .tooManyItems)
    }
  }

  @Test("C-313: Of overlapping intents on one item the strongest wins, and each URL is updated")
  func strongestWins() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      let intents = [FileAccessIntent.reading(url), .writing(url, options: .forMoving)]
      try await box.coordinator("request").coordinate(intents) { set in
        #expect(presenter.callbacks == [.relinquishToWriter, .saveChanges])
        try box.rename("d/f", to: "d/g")
        try set[1].didMove(to: box.url("d/g"))
        #expect(intents.map(\.url.path) == [box.url("d/g").path, box.url("d/g").path])
      }
    }
  }
}
