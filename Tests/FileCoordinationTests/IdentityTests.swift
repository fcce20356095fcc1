import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Identity, own presenter, priority", .timeLimit(.minutes(4)), .betweenProcesses)
struct IdentityTests {
  @Test("C-110, C-111: C(P) accessing /d/f sends P nothing; others still get everything")
  func ownPresenterIsLeftAlone() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let (own, other) = (try box.present("d/f", as: "own"), try box.present("d/f", as: "other"))
      for act in [Act.read("d/f"), .write("d/f"), .write("d/f", .forMerging), .write("d/f", .forDeleting)] {
        try await box.access(act, as: "C", presenter: own)
        try await box.quiesce()
      }
      try await box.move("d/f", to: "d/g", presenter: own)
      try await box.quiesce()
      #expect(own.messages.isEmpty)
      #expect(
        other.callbacks == [
          .relinquishToReader, .saveChanges, .relinquishToWriter, .itemDidChange, .relinquishToWriter, .saveChanges,
          .itemDidChange, .relinquishToWriter, .accommodateDeletion, .itemDidChange, .relinquishToWriter, .itemDidMove,
        ])
    }
  }

  @Test("C-113: Two coordinators made with P have equal purposeIdentifier, also before P is registered")
  func onePurposePerPresenter() async throws {
    try await withSandbox { box in
      let presenter = RecordingPresenter(try box.write("d/f"))
      let first = box.coordinator("first", presenter: presenter)
      let registration = try box.domain(of: presenter).register(presenter)
      #expect(first.purposeIdentifier == box.coordinator("second", presenter: presenter).purposeIdentifier)
      registration.end()
    }
  }

  @Test("C-114: Two coordinators made without presenter have different purposeIdentifier")
  func uniquePurposes() async throws {
    try await withSandbox { box in
      let identifiers = Set((0..<100).map { box.coordinator("\($0)").purposeIdentifier })
      #expect(identifiers.count == 100)
      #expect(!identifiers.contains(""))
    }
  }

  @Test("C-115: Two C(P) coordinators writing /d/f overlap")
  func samePresenterIsNoMutex() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      let first = try await box.hold(.write("d/f"), as: "first", presenter: presenter)
      try await box.access(.write("d/f"), as: "second", presenter: presenter)
      try await first.finish()
    }
  }

  @Test("C-116: Two coordinators with equal custom purpose overlap on conflicting writes")
  func samePurposeOverlaps() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let coordinators = ["first", "second"].map { box.coordinator($0) }
      for coordinator in coordinators { try coordinator.setPurposeIdentifier("org.example.sync") }
      let first = try await box.hold(.write("d/f"), as: "first", on: coordinators[0])
      let second = try await box.hold(.write("d/f"), as: "second", on: coordinators[1])
      let stranger = try await box.queue(.write("d/f"), as: "stranger")
      try await first.finish()
      try await second.finish()
      try await stranger.finish()
    }
  }

  @Test("C-117, C-118: The purpose can be set once, not on C(P), not after use, and not to nothing")
  func purposeIsSetOnce() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      func expectRefusal(_ coordinator: FileCoordinator, _ identifier: String = "org.example.other") {
        let error = #expect(throws: FileCoordinationError.self) { try coordinator.setPurposeIdentifier(identifier) }
        #expect(error?.code == .invalidPurposeIdentifier)
      }
      let coordinator = box.coordinator("C")
      expectRefusal(coordinator, "")
      try coordinator.setPurposeIdentifier("org.example")
      #expect(coordinator.purposeIdentifier == "org.example")
      expectRefusal(coordinator)
      #expect(coordinator.purposeIdentifier == "org.example")
      expectRefusal(box.coordinator("C(P)", presenter: RecordingPresenter(url)))
      let used = box.coordinator("used")
      try await used.read(url) { _ in }
      expectRefusal(used)
    }
  }

  @Test(
    "C-119: C reads; during P's save C(P) writes /d/f at once; then save completes and C sees the new content",
    arguments: [true, false])
  func savePriority(isInsideCallback: Bool) async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "old")
      let presenter = try box.present("d/f")
      presenter.answer(.saveChanges) { [weak presenter] _ in
        let save = { @Sendable [presenter] in
          try await box.coordinator("C(P)", presenter: presenter).write(url) { access in
            box.timeline.note("saving")
            try "new".write(to: access.url, atomically: false, encoding: .utf8)
          }
        }
        // Without the callback's task-local values, only the presenter ties the write to the save.
        if isInsideCallback { try await save() } else { try await Task.detached { try await save() }.value }
      }
      let text = try await box.coordinator("reader").read(url) { access in
        box.timeline.note("reading")
        return try box.text(at: access.url)
      }
      #expect(text == "new")
      #expect(box.events == ["P.relinquishToReader", "P.saveChanges", "saving", "reading"])
    }
  }

  @Test("C-120: A write of a coordinator without ties to P passes when made inside the save callback itself")
  func lineagePriority() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "old")
      let presenter = try box.present("d/f")
      presenter.answer(.saveChanges) { [weak presenter] _ in
        try await box.coordinator("helper", beside: presenter).write(url) { access in
          try "new".write(to: access.url, atomically: false, encoding: .utf8)
        }
      }
      let text = try await box.coordinator("reader").read(url) { try box.text(at: $0.url) }
      #expect(text == "new")
      // The helper is a stranger to P, which therefore was asked while its own callback waited.
      let asked = try #require(presenter.messages.first { $0.origin.label == "helper" })
      #expect(asked.callback == .relinquishToWriter)
      #expect(asked.origin.isReentrant)
    }
  }

  @Test(
    "C-120: Made from an unrelated context it waits, and the reader's deadline ends the wait, naming both",
    .withinOneProcess("its clock is the test's"))
  func unrelatedWriteWaits() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      presenter.answer(.saveChanges) { _ in
        try await Task.detached { try await box.coordinator("stranger").write(url) { _ in } }.value
      }
      let reader = box.start(.read("d/f"), as: "reader", deadlines: .within(.seconds(5)))
      try await box.domain.waitUntil { $0.isWaiting("stranger") }
      #expect(try await box.domain.snapshot().access(by: "stranger")?.blockers.map(\.label) == ["reader"])
      #expect(try await box.domain.snapshot().access(by: "reader")?.blockers.map(\.label) == ["P"])
      box.clock.advance(by: .seconds(5))
      let error = await #expect(throws: FileCoordinationError.self) { try await reader.value() }
      #expect(error?.code == .presenterUnresponsive)
      #expect(error?.blockers.map(\.label) == ["P", "stranger"])
      #expect(error?.description.contains("savePresentedItemChanges") == true)
      // Now the stranger asks P, which can't answer while its save waits for the stranger: a deadline ends that, too.
      try await box.domain.waitUntil { $0.isAsking("stranger") }
      box.clock.advance(by: .seconds(60))
      try await box.quiesce()
      try await box.domain.waitUntil { $0.accesses.isEmpty }
    }
  }

  @Test("C-121, C-122: P with a nil URL gets no messages; after C(P) creates the file, P gets messages for it")
  func lateCreation() async throws {
    try await withSandbox { box in
      let url = box.url("d/f")
      try box.makeDirectory("d")
      let presenter = try box.present(nil)
      try await box.access(.write("d/f"), as: "stranger")
      try await box.quiesce()
      #expect(presenter.messages.isEmpty)
      try await box.coordinator("C(P)", presenter: presenter).write(url, options: .forReplacing) { access in
        try "mine".write(to: access.url, atomically: false, encoding: .utf8)
        presenter.presentedItemURL = access.url
      }
      #expect(try await box.domain.snapshot().presenter("P")?.path == url.path)
      try await box.access(.write("d/f"), as: "writer")
      try await presenter.wait(for: .itemDidChange)
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidChange])
    }
  }

  @Test("C-123: While C(P) writes in response to save, other presenters of the item relinquish to that write too")
  func othersRelinquishToTheSave() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let (saving, other) = (try box.present("d/f"), try box.present("d/f", as: "Q", .relinquish))
      saving.answer(.saveChanges) { [weak saving] _ in
        try await box.coordinator("C(P)", presenter: saving).write(url) { _ in }
      }
      try await box.access(.read("d/f"), as: "reader")
      #expect(Set(other.callbacks) == [.relinquishToReader, .relinquishToWriter])
      #expect(other.messages.map(\.origin.label).sorted() == ["C(P)", "reader"])
    }
  }

  @Test("C-307: A save that needs a third item fails with .deadlock if that closes a cycle, and so does the reader")
  func saveNeedsThirdItem() async throws {
    try await withSandbox { box in
      let (file, third) = (try box.write("d/f"), try box.write("d/third"))
      let presenter = try box.present("d/f")
      presenter.answer(.saveChanges) { [weak presenter] _ in
        try await box.coordinator("C(P)", presenter: presenter).write(third) { _ in }
      }
      // The holder of the third item reads the file inside its accessor, and so waits for the save that waits for it.
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.coordinator("holder").write(third) { _ in
          try await box.coordinator("reader").read(file) { _ in }
        }
      }
      #expect(error?.code == .deadlock)
      #expect(error?.deadlock.map { Set($0.members.map(\.label)) } == ["C(P)", "holder", "reader", "P"])
      #expect(try await box.domain.snapshot().accesses.isEmpty)
    }
  }

  @Test("C-307: A third item that is free is claimed in the ordinary order, and the save succeeds")
  func saveClaimsThirdItem() async throws {
    try await withSandbox { box in
      let (file, third) = (try box.write("d/f"), try box.write("d/third"))
      let presenter = try box.present("d/f")
      presenter.answer(.saveChanges) { [weak presenter] _ in
        try await box.coordinator("C(P)", presenter: presenter).write(file, and: third) { _, _ in
          box.timeline.note("saved")
        }
      }
      let holder = try await box.hold(.read("d/third"), as: "holder")
      let reader = box.start(.read("d/f"), as: "reader")
      try await box.domain.waitUntil { $0.isWaiting("C(P)") }
      try await holder.finish()
      try await reader.finish()
      #expect(box.events.suffix(4) == ["holder-", "saved", "reader+", "reader-"])
    }
  }
}
