import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import Testing

@Suite("Cancellation and errors", .timeLimit(.minutes(4)), .betweenProcesses)
struct CancellationAndErrorsTests {
  @Test("C-160: cancel() while waiting: the call fails with .cancelled, the accessor doesn't run")
  func cancelWhileWaiting() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let holder = try await box.hold(.write("d/f"), as: "holder")
      let reader = try await box.queue(.read("d/f"), as: "reader")
      reader.coordinator.cancel()
      let error = await #expect(throws: FileCoordinationError.self) { try await reader.value() }
      #expect(error?.code == .cancelled)
      try await holder.finish()
      #expect(box.events == ["holder+", "holder-"])
    }
  }

  @Test("C-160: Cancelling the task while it waits does the same")
  func cancelTask() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let holder = try await box.hold(.write("d/f"), as: "holder")
      let reader = try await box.queue(.read("d/f"), as: "reader")
      reader.cancel()
      let error = await #expect(throws: FileCoordinationError.self) { try await reader.value() }
      #expect(error?.code == .cancelled)
      #expect(!reader.coordinator.isCancelled)
      try await holder.finish()
    }
  }

  @Test("C-160, C-163: A blocking call is cancelled from another thread")
  func cancelBlocking() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let holder = try await box.hold(.write("d/f"), as: "holder")
      let coordinator = box.coordinator("blocking")
      let call = Task.detached { try await onThread { try coordinator.blocking.read(url) { _ in } } }
      try await box.domain.waitUntil { $0.isWaiting("blocking") }
      try await onThread { coordinator.cancel() }
      let error = await #expect(throws: FileCoordinationError.self) { try await call.value }
      #expect(error?.code == .cancelled)
      try await holder.finish()
    }
  }

  @Test("C-161: cancel() while the accessor runs: it completes, and the call returns normally")
  func cancelWhileRunning() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let writer = try await box.hold(.write("d/f"), as: "writer")
      writer.coordinator.cancel()
      #expect(try await box.domain.snapshot().isHolding("writer"))
      try await writer.finish()
      #expect(box.events == ["writer+", "writer-"])
    }
  }

  @Test("C-162: After cancel() every later call on the instance fails without running")
  func cancelledForGood() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let coordinator = box.coordinator("C")
      coordinator.cancel()
      let calls: [@Sendable () async throws -> Void] = [
        { try await coordinator.read(url) { _ in box.timeline.note("ran") } },
        { try await coordinator.write(url) { _ in box.timeline.note("ran") } },
        { try await coordinator.coordinate([.reading(url)]) { _ in box.timeline.note("ran") } },
        { try await coordinator.prepare(reading: [url]) { _ in box.timeline.note("ran") } },
      ]
      for call in calls {
        let error = await #expect(throws: FileCoordinationError.self) { try await call() }
        #expect(error?.code == .cancelled)
      }
      #expect(box.events.isEmpty)
    }
  }

  @Test("C-163: cancel() is callable from any thread, while the access begins, runs and ends")
  func cancelAnyTime() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let holder = try await box.hold(.write("d/f"), as: "holder")
      await withTaskGroup(of: Void.self) { group in
        for round in 0..<100 {
          let coordinator = box.coordinator("\(round)")
          group.addTask { try? await coordinator.read(url) { _ in } }
          group.addTask { coordinator.cancel() }
        }
      }
      #expect(try await box.domain.snapshot().accesses.map(\.party.label) == ["holder"])
      try await holder.finish()
    }
  }

  @Test("C-164, C-165: After cancel() nobody waits for the answer, and the reacquirer runs exactly once")
  func cancelWhileAsking() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f", reacquires: true)
      let relinquish = presenter.hold(.relinquishToReader)
      let reader = box.start(.read("d/f"), as: "reader")
      try await relinquish.waitForArrival()
      reader.coordinator.cancel()
      let error = await #expect(throws: FileCoordinationError.self) { try await reader.value() }
      #expect(error?.code == .cancelled)
      #expect(!relinquish.isOpen)
      relinquish.open()
      try await presenter.wait(for: .reacquire)
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToReader, .reacquire])
    }
  }

  @Test("C-165: The reacquirer runs once after a failure, too")
  func reacquirerAfterFailure() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f", reacquires: true)
      presenter.refuse(.saveChanges, with: TestFailure())
      await #expect(throws: FileCoordinationError.self) { try await box.access(.read("d/f"), as: "reader") }
      try await presenter.wait(for: .reacquire)
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToReader, .saveChanges, .reacquire])
    }
  }

  @Test("C-166: cancel() of one instance does not disturb another instance on the same item")
  func othersGoOn() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let holder = try await box.hold(.write("d/f"), as: "holder")
      let cancelled = try await box.queue(.read("d/f"), as: "cancelled")
      let other = try await box.queue(.read("d/f"), as: "other")
      cancelled.coordinator.cancel()
      await #expect(throws: FileCoordinationError.self) { try await cancelled.value() }
      #expect(try await box.domain.snapshot().isWaiting("other"))
      try await holder.finish()
      try await other.finish()
    }
  }

  @Test("C-167: A cancelled queued writer stops blocking those behind it")
  func cancelledWriterLetsGo() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      // holder  [----------]
      // writer    w··x
      // reader      r··[--]       // shares with the holder once the writer is gone
      let holder = try await box.hold(.read("d/f"), as: "holder")
      let writer = try await box.queue(.write("d/f"), as: "writer")
      let reader = try await box.queue(.read("d/f"), as: "reader")
      writer.coordinator.cancel()
      try await reader.finish()
      try await holder.finish()
      await #expect(throws: FileCoordinationError.self) { try await writer.value() }
    }
  }

  @Test("C-168: On error the accessor is not run; an error of the accessor itself is passed on, and the claim ends")
  func errors() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let coordinator = box.coordinator("C")
      await #expect(throws: TestFailure()) { try await coordinator.write(url) { _ in throw TestFailure() } }
      await #expect(throws: TestFailure()) {
        try await onThread { try coordinator.blocking.write(url) { _ in throw TestFailure() } }
      }
      #expect(try await box.domain.snapshot().accesses.isEmpty)
      let presenter = try box.present("d/f")
      presenter.refuse(.relinquishToWriter, with: TestFailure())
      await #expect(throws: FileCoordinationError.self) {
        try await onThread { try coordinator.blocking.write(url) { _ in box.timeline.note("ran") } }
      }
      #expect(!box.events.contains("ran"))
    }
  }

  @Test("C-169: Bits that stand for no option are invalid")
  func unknownOptions() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.coordinator("C").read(url, options: FileCoordinator.ReadingOptions(rawValue: 1 << 20)) { _ in }
      }
      #expect(error?.code == .optionNotAllowed)
    }
  }

  @Test(
    "C-170: A URL that can't name a file is an error, immediately",
    arguments: [
      ("https://example.org/f", FileCoordinationError.Code.notAFileURL), ("file://server/f", .notAFileURL),
      ("d/f", .relativeURL), ("file:d/f", .relativeURL), ("file:///d/%00f", .invalidPath),
      ("file:///" + String(repeating: "a", count: 256), .pathTooLong),
    ])
  func badURL(text: String, code: FileCoordinationError.Code) async throws {
    try await withSandbox { box in
      let url = try #require(URL(string: text))
      for options in [[], FileCoordinator.ReadingOptions.forUploading] {
        let error = await #expect(throws: FileCoordinationError.self) {
          try await box.coordinator("C").read(url, options: options) { _ in box.timeline.note("ran") }
        }
        #expect(error?.code == code, "\(text)")
      }
      #expect(throws: FileCoordinationError.self) { try box.domain.register(RecordingPresenter(url)) }
      #expect(box.events.isEmpty)
    }
  }

  @Test("A loop of symbolic links is an error")
  func linkLoop() async throws {
    try await withSandbox { box in
      let link = box.url("loop")
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "loop")
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.coordinator("C").read(link.appending(path: "f")) { _ in }
      }
      #expect(error?.code == .symbolicLinkLoop)
    }
  }

  @Test("C-314: The wait for other accesses has a deadline, and the error says who was in the way")
  func waitingDeadline() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let holder = try await box.hold(.write("d/f"), as: "indexer")
      let reader = try await box.queue(.read("d/f"), as: "reader", deadlines: .within(.seconds(5)))
      box.clock.advance(by: .milliseconds(4999))
      #expect(try await box.domain.snapshot().isWaiting("reader"))
      box.clock.advance(by: .milliseconds(1))
      let error = await #expect(throws: FileCoordinationError.self) { try await reader.value() }
      #expect(error?.code == .timedOut)
      #expect(error?.blockers.map(\.label) == ["indexer"])
      #expect(error?.description.contains("within 5 s") == true, "\(error?.description ?? "")")
      try await holder.finish()
      #expect(box.clock.scheduledCount == 0)
    }
  }

  @Test(
    "C-314: The standard deadline of a wait is five minutes, and .never waits for ever",
    .withinOneProcess("its clock is the test's"))
  func standardDeadlines() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let holder = try await box.hold(.write("d/f"), as: "holder")
      let standard = try await box.queue(.read("d/f"), as: "standard")
      let patient = try await box.queue(.read("d/f"), as: "patient", deadlines: .never)
      #expect(box.clock.scheduledCount == 1)
      box.clock.advance(by: .seconds(300))
      await #expect(throws: FileCoordinationError.self) { try await standard.value() }
      box.clock.advance(by: .seconds(1_000_000))
      #expect(try await box.domain.snapshot().isWaiting("patient"))
      try await holder.finish()
      try await patient.finish()
    }
  }

  @Test("C-314: Presenters' answers have a deadline: the access fails, or proceeds and says who was late")
  func answerDeadline() async throws {
    for lateAnswers in [AccessDeadlines.LateAnswers.fail, .proceed] {
      try await withSandbox { box in
        let url = try box.write("d/f")
        let presenter = try box.present("d/f")
        let gate = presenter.hold(.saveChanges)
        let deadlines = AccessDeadlines(waitingForAnswers: .seconds(1), lateAnswers: lateAnswers)
        let read = Task.detached {
          try await box.coordinator("reader").read(url, deadlines: deadlines) { $0.unansweredPresenters }
        }
        try await gate.waitForArrival()
        box.clock.advance(by: .seconds(1))
        switch lateAnswers {
        case .fail:
          let error = await #expect(throws: FileCoordinationError.self) { try await read.value }
          #expect(error?.code == .presenterUnresponsive)
          #expect(error?.blockers.map(\.label) == ["P"])
        case .proceed:
          let late = try await read.value
          #expect(late == ["P (savePresentedItemChanges)"])
        }
        gate.open()
      }
    }
  }

  @Test(
    "C-405: Waits that last are reported, again and again, with who is in the way",
    .withinOneProcess("its clock is the test's"))
  func waitReports() async throws {
    let timeline = EventTimeline()
    try await withSandbox {
      $0.waitReporter = { notice in
        timeline.note("\(notice.waiter.label) \(notice.duration) \(notice.blockers.map(\.label))")
      }
    } _: { box in
      try box.write("d/f")
      let holder = try await box.hold(.write("d/f"), as: "holder")
      let reader = try await box.queue(.read("d/f"), as: "reader")
      for _ in 0..<3 { box.clock.advance(by: .seconds(2)) }
      #expect(timeline.events == [2, 4, 6].map { "reader \(Duration.seconds($0)) [\"holder\"]" })
      try await holder.finish()
      try await reader.finish()
      #expect(box.clock.scheduledCount == 0)
    }
  }
}
