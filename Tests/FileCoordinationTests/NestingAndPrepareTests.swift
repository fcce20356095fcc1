import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import Testing

@Suite("Nesting and batch", .timeLimit(.minutes(4)), .betweenProcesses)
struct NestingAndPrepareTests {
  @Test("C-130, C-133: Inside an accessor the same coordinator may read the item again", arguments: [false, true])
  func nestedRead(isWriting: Bool) async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "text")
      let coordinator = box.coordinator("C")
      let nested = {
        // A queued stranger doesn't block an access inside the one that's granted already.
        let stranger = try await box.queue(.write("d/f"), as: "stranger")
        let text = try await coordinator.read(url) { try box.text(at: $0.url) }
        return (stranger, text)
      }
      let (stranger, text) =
        if isWriting {
          try await coordinator.write(url) { _ in try await nested() }
        } else {
          try await coordinator.read(url) { _ in try await nested() }
        }
      #expect(text == "text")
      try await stranger.finish()
    }
  }

  @Test("C-131: Inside a read accessor the same coordinator may write the item if no other reader holds it")
  func upgrade() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "old")
      let coordinator = box.coordinator("C")
      try await coordinator.read(url) { _ in
        try await coordinator.write(url) { try "new".write(to: $0.url, atomically: false, encoding: .utf8) }
      }
      #expect(try box.text("d/f") == "new")
    }
  }

  @Test("C-132: Of two coordinators that upgrade from read to write, one fails with .deadlock")
  func twoUpgrades() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let bothRead = TestGate()
      let outcomes = await withTaskGroup(of: FileCoordinationError?.self) { group in
        for label in ["one", "two"] {
          group.addTask {
            let coordinator = box.coordinator(label)
            do {
              try await coordinator.read(url) { _ in
                box.timeline.note("\(label) reads")
                try await bothRead.pass()
                try await coordinator.write(url) { _ in box.timeline.note("\(label) writes") }
              }
              return nil
            } catch {
              return error as? FileCoordinationError
            }
          }
        }
        try? await bothRead.waitForArrival(count: 2)
        bothRead.open()
        return await group.reduce(into: []) { $0.append($1) }
      }
      let errors = outcomes.compactMap(\.self)
      #expect(errors.map(\.code) == [.deadlock])
      #expect(errors.first?.deadlock.map { Set($0.members.map(\.label)) } == ["one", "two"])
      #expect(box.events.count { $0.hasSuffix("writes") } == 1)
    }
  }

  @Test("C-134: A read+write request holds both items, and the accessor gets both in the order of the arguments")
  func bothItems() async throws {
    try await withSandbox { box in
      try box.write("b")
      try box.write("a")
      let both = try await box.hold(.both(read: "b", write: "a"), as: "both")
      #expect(both.paths == [box.url("b").path, box.url("a").path])
      try await box.access(.read("b"), as: "reader of b")
      let writer = try await box.queue(.write("b"), as: "writer of b")
      let reader = try await box.queue(.read("a"), as: "reader of a")
      try await both.finish()
      try await writer.finish()
      try await reader.finish()
    }
  }

  @Test("C-303: Nested accesses are messaged too, minus the own purpose")
  func nestedMessages() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let (own, other) = (try box.present("d/f", as: "own"), try box.present("d/f", as: "other"))
      let coordinator = box.coordinator("C(own)", presenter: own)
      try await coordinator.read(url) { _ in
        try await coordinator.write(url) { _ in }
      }
      try await box.quiesce()
      #expect(other.callbacks == [.relinquishToReader, .saveChanges, .relinquishToWriter, .itemDidChange])
      #expect(own.messages.isEmpty)
    }
  }

  // MARK: Batch

  @Test("C-135: prepare grants nothing: others may write a listed item while the body runs")
  func prepareGrantsNothing() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      try await box.coordinator("batch").prepare(reading: [url], writing: [url]) { _ in
        try await box.access(.write("d/f"), as: "other")
      }
      #expect(box.events == ["other+", "other-"])
    }
  }

  @Test("C-136, C-137: prepare for reading d sends save to presenters of d and of d/x/f, without relinquish")
  func prepareAsksEverythingInside() async throws {
    try await withSandbox { box in
      try box.write("d/x/f")
      let presenters = try ["d", "d/x/f"].map { try box.present($0, as: $0) }
      try await box.coordinator("batch").prepare(reading: [box.url("d")]) { _ in
        for presenter in presenters { #expect(presenter.callbacks == [.saveChanges]) }
      }
      try await box.quiesce()
      for presenter in presenters {
        #expect(presenter.callbacks == [.saveChanges])
        #expect(presenter.messages.map(\.origin.kind) == [.preparing])
      }
    }
  }

  @Test("C-137: prepare for deleting sends accommodate without relinquish")
  func prepareForDeleting() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      try await box.coordinator("batch").prepare(writing: [url], writingOptions: .forDeleting) { _ in }
      #expect(presenter.callbacks == [.accommodateDeletion])
    }
  }

  @Test("C-138: The blocking prepare returns only after its handler was called, from whatever thread")
  func prepareWaitsForItsHandler() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let gate = TestGate()
      let batch = Task {
        try await onThread {
          try box.coordinator("batch").blocking.prepare(reading: [url]) { _, answer in
            Task.detached {
              try? await gate.pass()
              box.timeline.note("done")
              answer.succeed()
            }
            box.timeline.note("body returned")
          }
          box.timeline.note("prepare returned")
        }
      }
      try await box.timeline.wait(for: "body returned")
      gate.open()
      try await batch.value
      #expect(box.events == ["body returned", "done", "prepare returned"])
    }
  }

  @Test("C-138, C-186: A prepare handler that is dropped fails the call")
  func droppedPrepareHandler() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let error = await #expect(throws: FileCoordinationError.self) {
        try await onThread { try box.coordinator("batch").blocking.prepare(reading: [url]) { _, _ in } }
      }
      #expect(error?.code == .answerDropped)
    }
  }

  @Test(
    "C-138: A prepare handler that's kept and never called ends the wait by the deadline",
    .withinOneProcess("its clock is the test's"))
  func keptPrepareHandler() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let kept = Guarded<FileAnswer<Void>?>(nil)
      let batch = Task {
        try await onThread {
          try box.coordinator("batch").blocking.prepare(reading: [url]) { _, answer in
            kept.withLock { $0 = answer }
            box.timeline.note("body")
          }
        }
      }
      try await box.timeline.wait(for: "body")
      try await box.clock.waitForScheduled(count: 1)
      box.clock.advance(by: .seconds(300))
      let error = await #expect(throws: FileCoordinationError.self) { try await batch.value }
      #expect(error?.code == .timedOut)
      #expect(error?.subjects == [url.path])
      #expect(error?.description.contains("'batch'") == true)
      kept.withLock { $0 }?.succeed()
      #expect(try await box.domain.snapshot().accesses.isEmpty)
    }
  }

  @Test("C-139: A presenter's error during prepare: the body isn't run, the error is thrown")
  func prepareFails() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      presenter.refuse(.saveChanges, with: TestFailure())
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.coordinator("batch").prepare(reading: [url]) { _ in box.timeline.note("body") }
      }
      #expect(error?.code == .presenterFailed)
      #expect(error?.underlyingError.map { "\($0)" } == "\(TestFailure())")
      #expect(!box.events.contains("body"))
    }
  }

  @Test("C-140: .forReplacing and .resolvesSymbolicLink are invalid in prepare")
  func invalidPrepareOptions() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let batch = box.coordinator("batch")
      var error = await #expect(throws: FileCoordinationError.self) {
        try await batch.prepare(reading: [url], readingOptions: .resolvesSymbolicLink) { _ in }
      }
      #expect(error?.code == .optionNotAllowed)
      error = await #expect(throws: FileCoordinationError.self) {
        try await batch.prepare(writing: [url], writingOptions: .forReplacing) { _ in }
      }
      #expect(error?.code == .optionNotAllowed)
    }
  }

  @Test("C-141: Inner reads with .withoutChanges inside prepare send no second save")
  func oneSavePerBatch() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      let batch = box.coordinator("batch")
      try await batch.prepare(reading: [box.url("d")]) { _ in
        try await batch.read(url, options: .withoutChanges) { _ in }
      }
      #expect(presenter.callbacks == [.saveChanges, .relinquishToReader])
    }
  }

  @Test(
    "C-141, C-187: The body of a prepare, and accesses inside, are told who didn't answer", arguments: [false, true])
  func prepareWithoutAnswer(blocks: Bool) async throws {
    try await withSandbox { box in
      let (url, other) = (try box.write("d/f"), try box.write("d/g"))
      let gate = try box.present("d/f", as: "editor", .saveChanges).hold(.saveChanges)
      let deadlines = AccessDeadlines(waitingForAnswers: .seconds(1), lateAnswers: .proceed)
      let batch = box.coordinator("batch", deadlines: deadlines)
      let names = Task.detached { () -> [[String]] in
        if blocks { return try await onThread { try Self.unansweredBlocking(batch, box.url("d"), [url, other]) } }
        return try await batch.prepare(reading: [box.url("d")]) { preparation in
          var names = [preparation.unansweredPresenters]
          for url in [url, other] {
            names.append(try await batch.read(url, options: .withoutChanges) { $0.unansweredPresenters })
          }
          return names
        }
      }
      try await gate.waitForArrival()
      box.clock.advance(by: .seconds(1))
      let late = ["editor (savePresentedItemChanges)"]
      #expect(try await names.value == [late, late, []])
      gate.open()
    }
  }

  private static func unansweredBlocking(
    _ batch: FileCoordinator, _ directory: URL, _ files: [URL]
  ) throws -> [[String]] {
    var names: [[String]] = []
    try batch.blocking.prepare(reading: [directory]) { preparation, answer in
      names.append(preparation.unansweredPresenters)
      for url in files {
        names.append(try batch.blocking.read(url, options: .withoutChanges) { $0.unansweredPresenters })
      }
      answer.succeed()
    }
    return names
  }
}
