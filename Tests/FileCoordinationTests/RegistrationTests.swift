import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Registration and lifetime", .timeLimit(.minutes(4)), .betweenProcesses)
struct RegistrationTests {
  @Test(
    "C-190: presenters lists the presenters of this process, in order of registration",
    .withinOneProcess("it's about the presenters of one process"))
  func presenters() async throws {
    try await withSandbox { box in
      let labels = ["one", "two", "three"]
      for label in labels { try box.present("d/f", as: label) }
      #expect(box.domain.presenters.map(\.presenterLabel) == labels)
      let elsewhere = CoordinationDomain()
      #expect(elsewhere.presenters.isEmpty)
    }
  }

  @Test("C-191: After unregister returns, no new message is sent to the presenter")
  func noMessageAfterwards() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      box.domain(of: presenter).unregister(presenter)
      for act in [Act.read("d/f"), .write("d/f"), .write("d/f", .forDeleting)] {
        try await box.access(act, as: "C")
      }
      try await box.quiesce()
      #expect(presenter.messages.isEmpty)
      #expect(box.domain.presenters.isEmpty)
    }
  }

  @Test("C-191: Messages that wait for a busy presenter are withdrawn; the reacquirer it handed over still runs")
  func pendingMessagesAreWithdrawn() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f", reacquires: true)
      let change = presenter.hold(.itemDidChange)
      try await box.access(.write("d/f"), as: "first")
      try await change.waitForArrival()
      let second = box.start(.write("d/f"), as: "second")
      try await box.domain.waitUntil { $0.isAsking("second") }
      box.domain(of: presenter).unregister(presenter)
      try await second.finish()
      change.open()
      try await presenter.wait(for: .reacquire)
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidChange, .reacquire])
    }
  }

  @Test("C-192: Removing a presenter that owes an answer releases those waiting for it")
  func removalReleasesWaiters() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      let gate = presenter.hold(.relinquishToReader)
      let reader = box.start(.read("d/f"), as: "reader")
      try await gate.waitForArrival()
      box.domain(of: presenter).unregister(presenter)
      try await reader.finish()
      gate.open()
    }
  }

  @Test("C-193: Registering inside a coordinated read of the item: no access by others is missed in between")
  func registeringInsideRead() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "seen")
      let presenter = RecordingPresenter(url, label: "P", timeline: box.timeline)
      let (text, writer) = try await box.coordinator("opener").read(url) { access in
        let text = try box.text(at: access.url)
        let writer = try await box.queue(.write("d/f"), as: "writer")
        try box.register(presenter)
        return (text, writer)
      }
      #expect(text == "seen")
      try await writer.finish()
      try await presenter.wait(for: .itemDidChange)
      #expect(box.events.prefix(4) == ["P.relinquishToWriter", "writer+", "writer-", "P.itemDidChange"])
    }
  }

  @Test("C-194: Registering while a write is under way may miss the question, but not what happened")
  func registeringOutside() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let writer = try await box.hold(.write("d/f"), as: "writer")
      let presenter = try box.present("d/f")
      try await writer.finish()
      try await presenter.wait(for: .itemDidChange)
      #expect(presenter.callbacks == [.itemDidChange])
    }
  }

  @Test("C-195: Several presenters may present one item; all are messaged")
  func severalPresenters() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenters = try (0..<20).map { try box.present("d/f", as: "\($0)") }
      try await box.access(.write("d/f"), as: "writer")
      for presenter in presenters { try await presenter.wait(for: .itemDidChange) }
    }
  }

  @Test("C-196: Adding the same presenter twice delivers messages once per access")
  func addingTwice() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      let again = try await box.domain(of: presenter).register(presenter)
      try await box.access(.write("d/f"), as: "writer")
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidChange])
      #expect(box.domain(of: presenter).presenters.count == 1)
      again.end()
      #expect(box.domain.presenters.isEmpty)
    }
  }

  @Test("C-197: The URL of a registered presenter is not read again: moves are tracked")
  func urlIsReadOnce() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      presenter.presentedItemURL = box.url("elsewhere")
      try await box.access(.write("d/f"), as: "writer")
      try await presenter.wait(for: .itemDidChange)
    }
  }

  @Test("C-427: Dropping the registration unregisters; the presenter isn't kept alive")
  func registrationIsWeak() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      var presenter: RecordingPresenter? = RecordingPresenter(url)
      weak let observed = presenter
      var registration = presenter.flatMap { try? box.domain.register($0) }
      #expect(box.domain.presenters.count == 1)
      registration = nil
      #expect(box.domain.presenters.isEmpty)
      registration = presenter.flatMap { try? box.domain.register($0) }
      #expect(registration != nil)
      presenter = nil
      #expect(observed == nil)
      // Its messages are answered on its behalf.
      try await box.access(.write("d/f", .forMerging), as: "writer")
      try await box.domain.waitUntil(\.presenters.isEmpty)
    }
  }

  @Test("C-308: A presenter registered while an access on its item is queued is messaged until the access is granted")
  func newcomer() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let (first, late) = (try box.present("d/f", as: "first"), RecordingPresenter(box.url("d/f"), label: "late"))
      let gate = first.hold(.relinquishToReader)
      let reader = box.start(.read("d/f"), as: "reader")
      try await gate.waitForArrival()
      try box.register(late)
      try await late.wait(for: .saveChanges)
      #expect(late.callbacks == [.relinquishToReader, .saveChanges])
      #expect(!box.events.contains("reader+"))
      gate.open()
      try await reader.finish()
    }
  }

  @Test("C-302: Relinquish is sent again for each overlapping reader, with a reacquirer for each")
  func relinquishPerReader() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f", as: "P", .relinquish, reacquires: true)
      let readers = [try await box.hold(.read("d/f"), as: "A"), try await box.hold(.read("d/f"), as: "B")]
      #expect(presenter.callbacks == [.relinquishToReader, .relinquishToReader])
      for reader in readers { try await reader.finish() }
      try await presenter.wait(for: .reacquire, count: 2)
      #expect(presenter.messages.suffix(2).map(\.origin.label) == ["A", "B"])
    }
  }
}
