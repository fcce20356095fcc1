import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Read messages", .timeLimit(.minutes(4)), .betweenProcesses)
struct ReadMessagesTests {
  @Test("C-030, C-032: C reads /d/f: P gets relinquish, answers, gets save, answers, then the accessor runs")
  func relinquishThenSaveThenAccess() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      let (relinquish, save) = (presenter.hold(.relinquishToReader), presenter.hold(.saveChanges))
      let reader = box.start(.read("d/f"), as: "reader")
      try await relinquish.waitForArrival()
      #expect(try await box.domain.snapshot().isAsking("reader"))
      #expect(box.events == ["P.relinquishToReader"])
      relinquish.open()
      try await save.waitForArrival()
      #expect(try await box.domain.snapshot().isAsking("reader"))
      save.open()
      try await reader.finish()
      #expect(box.events == ["P.relinquishToReader", "P.saveChanges", "reader+", "reader-"])
    }
  }

  @Test("C-031: With .withoutChanges P gets relinquish but no save")
  func withoutChanges() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try box.present("d/f")
      try await box.access(.read("d/f", .withoutChanges), as: "reader")
      #expect(box.events == ["P.relinquishToReader", "reader+", "reader-"])
    }
  }

  @Test("C-032, C-195: The accessor does not start before every one of several presenters has answered everything")
  func everyPresenterAnswers() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenters = try ["P", "Q", "R"].map { try box.present("d/f", as: $0) }
      let gates = presenters.map { $0.hold(.saveChanges) }
      let reader = box.start(.read("d/f"), as: "reader")
      for gate in gates {
        try await gate.waitForArrival()
        #expect(try await box.domain.snapshot().isAsking("reader"))
        gate.open()
      }
      try await reader.finish()
      #expect(box.events.suffix(2) == ["reader+", "reader-"])
      for presenter in presenters { #expect(presenter.callbacks == [.relinquishToReader, .saveChanges]) }
    }
  }

  @Test("C-033: Reading a file in packages messages presenters of the file and of each package around it")
  func packagesAreAsked() async throws {
    try await withSandbox { box in
      try box.write("o.pkg/k.pkg/a")
      let presenters = try ["o.pkg/k.pkg/a", "o.pkg/k.pkg", "o.pkg"].map { try box.present($0, as: $0) }
      let bystander = try box.present("o.pkg/k.pkg/b", as: "b")
      try await box.access(.read("o.pkg/k.pkg/a"), as: "reader")
      for presenter in presenters { #expect(presenter.callbacks == [.relinquishToReader, .saveChanges]) }
      #expect(bystander.messages.isEmpty)
    }
  }

  @Test("C-034: Reading /d/f sends nothing to a presenter of plain /d")
  func enclosingDirectoryIsNotAsked() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d")
      try await box.access(.read("d/f"), as: "reader")
      try await box.quiesce()
      #expect(presenter.messages.isEmpty)
    }
  }

  @Test("C-035: Reading directory d sends nothing to presenters of d/f")
  func insideIsNotAsked() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      try await box.access(.read("d"), as: "reader")
      try await box.quiesce()
      #expect(presenter.messages.isEmpty)
    }
  }

  @Test("C-036: P without save has nothing to save: the read proceeds after relinquish")
  func withoutSave() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try box.present("d/f", as: "P", .relinquish)
      try await box.access(.read("d/f"), as: "reader")
      #expect(box.events == ["P.relinquishToReader", "reader+", "reader-"])
    }
  }

  @Test("C-037: P without relinquish but with save still gets save")
  func withoutRelinquish() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try box.present("d/f", as: "P", .saveChanges)
      try await box.access(.read("d/f"), as: "reader")
      #expect(box.events == ["P.saveChanges", "reader+", "reader-"])
    }
  }

  @Test("C-038: If P's save fails, the accessor never runs and the caller gets an error describing it")
  func saveFails() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      presenter.refuse(.saveChanges, with: TestFailure(text: "disk full"))
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.access(.read("d/f"), as: "reader")
      }
      #expect(error?.code == .presenterFailed)
      #expect(error?.underlyingError.map { "\($0)" } == "\(TestFailure(text: "disk full"))")
      #expect(error?.description.contains("'P' answered savePresentedItemChanges with an error") == true)
      #expect(!box.events.contains("reader+"))
    }
  }

  @Test("C-039: After the read, P's reacquirer runs once")
  func reacquirerRuns() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f", reacquires: true)
      let reader = try await box.hold(.read("d/f"), as: "reader")
      #expect(presenter.callbacks == [.relinquishToReader, .saveChanges])
      try await reader.finish()
      try await presenter.wait(for: .reacquire)
      try await box.quiesce()
      #expect(box.events == ["P.relinquishToReader", "P.saveChanges", "reader+", "reader-", "P.reacquire"])
    }
  }

  @Test("C-040: A nil reacquirer is accepted")
  func noReacquirer() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f", reacquires: false)
      try await box.access(.read("d/f"), as: "reader")
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToReader, .saveChanges])
    }
  }

  @Test("C-041: A read produces no did-change or did-move for anybody")
  func readChangesNothing() async throws {
    try await withSandbox { box in
      try box.write("k.pkg/f")
      let presenters = try ["k.pkg/f", "k.pkg", "."].map { name in
        try box.present(name, as: name, .observing)
      }
      try await box.access(.read("k.pkg/f"), as: "reader")
      try await box.quiesce()
      for presenter in presenters { #expect(presenter.messages.isEmpty) }
    }
  }

  @Test("C-042: .immediatelyAvailableMetadataOnly still waits for conflicting accesses and presenters")
  func metadataOnlyWaits() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.read("d/f", .immediatelyAvailableMetadataOnly), waitsFor: .write("d/f"))
    }
    try await withSandbox { box in
      try box.write("d/f")
      try box.present("d/f")
      try await box.access(.read("d/f", .immediatelyAvailableMetadataOnly), as: "reader")
      #expect(box.events == ["P.relinquishToReader", "P.saveChanges", "reader+", "reader-"])
    }
  }

  @Test("C-043: Here all content is local: a plain read never waits for a download")
  func contentIsLocal() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "here")
      let text = try await box.coordinator("reader").read(url) { try box.text(at: $0.url) }
      #expect(text == "here")
    }
  }

  @Test("C-044: With .resolvesSymbolicLink the accessor's URL is the target; without it, the link")
  func symbolicLinks() async throws {
    try await withSandbox { box in
      let target = try box.write("d/f")
      let link = box.url("link")
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: target.path)
      let (ofTarget, ofLink) = (try box.present("d/f", as: "target"), try box.present("link", as: "link"))
      let reader = box.coordinator("reader")
      let resolved = try await reader.read(link, options: .resolvesSymbolicLink) { $0.url.path }
      #expect(resolved == target.path)
      #expect(ofTarget.callbacks == [.relinquishToReader, .saveChanges])
      #expect(ofLink.messages.isEmpty)
      let unresolved = try await reader.read(link) { $0.url.path }
      #expect(unresolved == link.path)
      #expect(ofLink.callbacks == [.relinquishToReader, .saveChanges])
      #expect(ofTarget.messages.count == 2)
    }
  }
}
