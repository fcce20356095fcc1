import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import Testing

@Suite("Queues, threads, liveness", .timeLimit(.minutes(4)), .betweenProcesses)
struct QueuesAndLivenessTests {
  @Test("C-180: A blocking accessor runs on the calling thread")
  func callingThread() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      try box.present("d/f")
      let (outside, inside) = try await onThread {
        let inside = try box.coordinator("C").blocking.write(url) { _ in CurrentThread.kernelThreadIdentifier }
        return (CurrentThread.kernelThreadIdentifier, inside)
      }
      #expect(outside == inside)
    }
  }

  @Test("C-181: Every presenter message and reacquirer runs on that presenter's executor")
  func messagesRunOnExecutor() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let queue = ControllablePresenterQueue()
      let presenter = try box.present("d/f", reacquires: true, executor: queue)
      let writer = box.start(.write("d/f", .forMerging), as: "writer")
      writer.release()
      let callbacks: [RecordedMessage.Callback] = [.relinquishToWriter, .saveChanges, .itemDidChange, .reacquire]
      for (position, callback) in callbacks.enumerated() {
        #expect(presenter.messages.count == position)
        while presenter.messages.count == position {
          try await queue.waitForJob()
          queue.runNext()
        }
        #expect(presenter.callbacks.last == callback)
      }
      queue.open()
      try await writer.value()
    }
  }

  @Test("C-181: Presenters that name no executor use the domain's")
  func domainExecutor() async throws {
    let queue = ControllablePresenterQueue()
    try await withSandbox {
      $0.presenterExecutor = queue
    } _: { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      let reader = box.start(.read("d/f"), as: "reader")
      try await queue.waitForJob()
      #expect(presenter.messages.isEmpty)
      queue.open()
      try await reader.finish()
      #expect(presenter.callbacks == [.relinquishToReader, .saveChanges])
    }
  }

  @Test("C-182: The presenter's URL may be read on any thread, also while its executor is stuck")
  func urlIsReadAnywhere() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let stuck = ControllablePresenterQueue()
      let presenter = try box.present(nil, as: "P", executor: stuck)
      try await onThread {
        try box.coordinator("C(P)", presenter: presenter).blocking.write(url) { presenter.presentedItemURL = $0.url }
      }
      #expect(try await box.domain.snapshot().presenter("P")?.path == url.path)
      #expect(stuck.arrivalCount == 0)
    }
  }

  @Test("C-183: Messages are handled one at a time, in the order they were enqueued")
  func serialOrder() async throws {
    try await withSandbox { box in
      let names = (0..<50).map { "d/\($0)" }
      for name in names { try box.write(name) }
      let presenter = try box.present("d", as: "P", .subitemDidChange)
      let running = EventTimeline()
      presenter.answer(.subitemDidChange) { _ in
        running.note("in")
        await Task.yield()
        running.note("out")
      }
      for name in names { try await box.access(.write(name), as: "writer") }
      try await presenter.wait(for: .subitemDidChange, count: names.count)
      try await box.quiesce()
      #expect(presenter.messages.map { $0.urls[0].path } == names.map { box.url($0).path })
      #expect(running.events == names.flatMap { _ in ["in", "out"] })
    }
  }

  @Test("C-184: A presenter that delays did-change delays its later relinquish and thereby the waiting access")
  func slowPresenter() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      let gate = presenter.hold(.itemDidChange)
      try await box.access(.write("d/f"), as: "writer")
      try await gate.waitForArrival()
      let reader = box.start(.read("d/f"), as: "reader")
      try await box.domain.waitUntil { $0.isAsking("reader") }
      #expect(try await box.domain.snapshot().presenter("P")?.pendingMessageCount == 1)
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidChange])
      gate.open()
      try await reader.finish()
    }
  }

  @Test("C-186: A presenter that drops its handler without calling it fails the access")
  func droppedHandler() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      presenter.answer(.saveChanges) { _ in try await FileAnswer<Void>.wait { _ in } }
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.access(.read("d/f"), as: "reader")
      }
      #expect(error?.code == .answerDropped)
      #expect(error?.description.contains("'P' answered savePresentedItemChanges") == true)
    }
  }

  @Test("C-188: Calling a completion handler twice has no effect the second time")
  func handlerCalledTwice() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      presenter.answer(.saveChanges) { _ in
        try await FileAnswer<Void>.wait { answer in
          answer.succeed()
          answer.fail(TestFailure())
          answer.succeed()
        }
      }
      try await box.access(.read("d/f"), as: "reader")
      #expect(box.events == ["P.relinquishToReader", "P.saveChanges", "reader+", "reader-"])
    }
  }

  @Test(
    "C-419: A presenter is asked with the priority of who waits for it",
    .withinOneProcess("nobody knows the priority of another process's task"))
  func priority() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      presenter.answer(.relinquishToReader) { _ in box.timeline.note("asked with \(Task.currentPriority)") }
      try await Task.detached(priority: .high) {
        try await box.coordinator("reader").read(url) { _ in }
      }.value
      #expect(box.events.contains("asked with \(TaskPriority.high)"))
    }
  }
}
