import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import Testing

@Suite("Recording presenter, queue, gate, timeline", .timeLimit(.minutes(4)))
struct RecordingTests {
  @Test("A recording presenter records callback, URLs, origin and position, and notes them in its timeline")
  func recording() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d", as: "D")
      try await box.access(.write("d/f"), as: "writer")
      let message = try await presenter.wait(for: .subitemDidChange)
      #expect(message.number == 0)
      #expect(message.callback == .subitemDidChange)
      #expect(message.urls.map(\.path) == [url.path])
      #expect(message.origin.label == "writer")
      #expect(message.description == "0 subitemDidChange(\(url.path)) by 'writer'")
      #expect(presenter.callbackNames == ["subitemDidChange"])
      #expect(box.events.last == "D.subitemDidChange")
    }
  }

  @Test("Answers can be held, refused, replaced and given at once again")
  func answers() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f", as: "P", .relinquish)
      presenter.refuse(.relinquishToReader, with: TestFailure())
      await #expect(throws: FileCoordinationError.self) { try await box.access(.read("d/f"), as: "refused") }
      presenter.answer(.relinquishToReader) { message in box.timeline.note("asked by \(message.origin.label)") }
      try await box.access(.read("d/f"), as: "answered")
      presenter.answerAtOnce(.relinquishToReader)
      try await box.access(.read("d/f"), as: "at once")
      #expect(box.events.filter { $0.hasPrefix("asked") } == ["asked by answered"])
      #expect(presenter.callbackNames.count == 3)
    }
  }

  @Test("Every callback of the protocol is recorded under its name")
  func everyCallback() async throws {
    try await withSandbox { box in
      let (file, other) = (try box.write("k.pkg/d/f"), try box.write("k.pkg/d/g"))
      let presenters = try ["k.pkg", "k.pkg/d", "k.pkg/d/f"].map { try box.present($0, as: $0, reacquires: true) }
      let coordinator = box.coordinator("C")
      try await box.access(.read("k.pkg/d/f"), as: "reader")
      try await box.access(.write("k.pkg/d/f", .forDeleting), as: "deleter")
      _ = try? await coordinator.evict(file) { _ in }
      try await coordinator.write(file) { $0.didChangeVersion(.gained, version: "1") }
      try await coordinator.item(at: file, didChangeUbiquityAttributes: ["a"])
      try await box.access(.write("k.pkg/d/g"), as: "writer")
      try await coordinator.write(other, options: .forDeleting) { try FileManager.default.removeItem(at: $0.url) }
      try await coordinator.write(other) { try "new".write(to: $0.url, atomically: false, encoding: .utf8) }
      try await box.move("k.pkg/d/f", to: "k.pkg/d/h")
      try await box.quiesce()
      let seen = Set(presenters.flatMap(\.callbacks))
      #expect(Set(RecordedMessage.Callback.allCases).subtracting(seen) == [])
    }
  }

  @Test("A gate lets nobody through until it's open, and everybody afterwards; waiting ends with the task")
  func gates() async throws {
    let (gate, timeline) = (TestGate(), EventTimeline())
    let cancelled = Task { try await gate.pass() }
    try await gate.waitForArrival()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    async let suspended: Void = gate.pass()
    async let blocked: Void = onThread {
      gate.passBlocking()
      timeline.note("thread passed")
    }
    try await gate.waitForArrival(count: 3)
    #expect(timeline.events.isEmpty)
    #expect(!gate.isOpen)
    gate.open()
    try await suspended
    try await blocked
    try await gate.pass()
    #expect(gate.arrivalCount == 4)
  }

  @Test("A controllable queue holds jobs until they are run one by one, all, or it's opened")
  func queue() async throws {
    let (queue, timeline) = (ControllablePresenterQueue(), EventTimeline())
    func enqueue(_ name: String) async throws -> Task<Void, Never> {
      let task = Task.detached(executorPreference: queue) { timeline.note(name) }
      try await queue.waitForJob(count: queue.jobCount)
      return task
    }
    #expect(!queue.runNext())
    let first = try await enqueue("first")
    try await queue.waitForJob()
    #expect(timeline.events.isEmpty)
    #expect(queue.runNext())
    await first.value
    let others = [try await enqueue("second"), try await enqueue("third")]
    try await queue.waitForJob(count: 2)
    #expect(queue.runAll() == 2)
    for task in others { await task.value }
    #expect(timeline.events == ["first", "second", "third"])
    let held = try await enqueue("fourth")
    try await queue.waitForJob()
    queue.open()
    await held.value
    await Task.detached(executorPreference: queue) { timeline.note("fifth") }.value
    #expect(timeline.events.suffix(2) == ["fourth", "fifth"])
    #expect(queue.jobCount == 0)
    #expect(queue.arrivalCount >= 5)
  }
}
