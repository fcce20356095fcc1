import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Deleting and replacing", .timeLimit(.minutes(4)), .betweenProcesses)
struct DeletingAndReplacingTests {
  /// The options that let presenters accommodate (C-077).
  static let deepOptions: [FileCoordinator.WritingOptions] = [.forDeleting, .forReplacing]

  @Test("C-070, C-077: P gets relinquish, then accommodateDeletion; access after both", arguments: deepOptions)
  func relinquishThenAccommodate(options: FileCoordinator.WritingOptions) async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      let accommodate = presenter.hold(.accommodateDeletion)
      let writer = box.start(.write("d/f", options), as: "writer")
      try await accommodate.waitForArrival()
      #expect(box.events == ["P.relinquishToWriter", "P.accommodateDeletion"])
      accommodate.open()
      try await writer.finish()
      #expect(box.events.prefix(4) == ["P.relinquishToWriter", "P.accommodateDeletion", "writer+", "writer-"])
    }
  }

  @Test(
    "C-071, C-077: Deleting or replacing d: presenters of every item below d get relinquish and accommodateDeletion",
    arguments: deepOptions)
  func everythingInside(options: FileCoordinator.WritingOptions) async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try box.write("d/x/g")
      try box.write("e")
      let presenters = try ["d/f", "d/x", "d/x/g"].map { try box.present($0, as: $0) }
      let outside = try box.present("e", as: "e")
      let writer = try await box.hold(.write("d", options), as: "writer")
      for presenter in presenters { #expect(presenter.callbacks == [.relinquishToWriter, .accommodateDeletion]) }
      try await writer.finish()
      try await box.quiesce()
      #expect(outside.messages.isEmpty)
    }
  }

  @Test(
    "C-072, C-077: Presenters of packages around the item get accommodateSubitemDeletion(at: item)",
    arguments: deepOptions)
  func packagesAround(options: FileCoordinator.WritingOptions) async throws {
    try await withSandbox { box in
      let url = try box.write("o.pkg/k.pkg/x/f")
      let presenters = try ["o.pkg", "o.pkg/k.pkg"].map { try box.present($0, as: $0) }
      let writer = try await box.hold(.write("o.pkg/k.pkg/x/f", options), as: "writer")
      for presenter in presenters {
        #expect(presenter.callbacks == [.relinquishToWriter, .accommodateSubitemDeletion])
        #expect(presenter.messages[1].urls.map(\.path) == [url.path])
      }
      try await writer.finish()
    }
  }

  @Test(
    "C-073, C-077: Presenters of plain directories around the item are asked if they have declared it",
    arguments: deepOptions)
  func plainDirectoriesAround(options: FileCoordinator.WritingOptions) async throws {
    try await withSandbox { box in
      try box.write("d/x/f")
      let presenters = try ["d", "d/x"].map { try box.present($0, as: $0) }
      let others = FilePresenterCallbacks.all.subtracting(.accommodateSubitemDeletion)
      let silent = try box.present("d", as: "silent", others)
      let writer = try await box.hold(.write("d/x/f", options), as: "writer")
      for presenter in presenters { #expect(presenter.callbacks == [.accommodateSubitemDeletion]) }
      #expect(silent.messages.isEmpty)
      try await writer.finish()
    }
  }

  @Test("C-078: Nobody is asked to accommodate the end of what isn't there")
  func nothingToReplace() async throws {
    try await withSandbox { box in
      try box.makeDirectory("d")
      try box.makeDirectory("k.pkg")
      let presenters = try ["d", "k.pkg"].map { try box.present($0, as: $0, .accommodateSubitemDeletion) }
      for name in ["d/new", "k.pkg/new"] { try await box.access(.write(name, .forReplacing), as: "writer") }
      try await box.quiesce()
      for presenter in presenters { #expect(presenter.messages.isEmpty) }
    }
  }

  @Test("C-074, C-077: No save is sent for .forDeleting or .forReplacing", arguments: deepOptions)
  func noSave(options: FileCoordinator.WritingOptions) async throws {
    try await withSandbox { box in
      try box.write("k.pkg/f")
      let presenters = try ["k.pkg/f", "k.pkg"].map { try box.present($0, as: $0) }
      try await box.access(.write("k.pkg/f", options), as: "writer")
      try await box.quiesce()
      for presenter in presenters { #expect(!presenter.callbacks.contains(.saveChanges)) }
    }
  }

  @Test("C-075, C-077: An error from accommodate aborts the access with an error", arguments: deepOptions)
  func refusal(options: FileCoordinator.WritingOptions) async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f", reacquires: true)
      presenter.refuse(.accommodateDeletion, with: TestFailure())
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.access(.write("d/f", options), as: "writer")
      }
      #expect(error?.code == .presenterFailed)
      #expect(error?.underlyingError.map { "\($0)" } == "\(TestFailure())")
      try await presenter.wait(for: .reacquire)
      #expect(box.events == ["P.relinquishToWriter", "P.accommodateDeletion", "P.reacquire"])
    }
  }

  @Test("C-076: Deleting inside an option-less write sends no accommodate")
  func deletingWithoutSayingSo() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      try await box.coordinator("writer").write(url) { try FileManager.default.removeItem(at: $0.url) }
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidChange])
    }
  }

  @Test("C-078: .forReplacing on an empty path messages nobody and is granted")
  func replacingNothing() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenters = try ["d/f", "d"].map { try box.present($0, as: $0) }
      let writer = try await box.hold(.write("d/new", .forReplacing), as: "writer")
      for presenter in presenters { #expect(presenter.messages.isEmpty) }
      try await writer.finish()
    }
  }

  @Test("C-079, C-080: If the occupant moves away while a replacer waits, its URL stays, and nobody accommodates")
  func occupantMovesAway() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      var replacer: Lane?
      try await box.move("d/f", to: "d/g") {
        replacer = try await box.queue(.write("d/f", .forReplacing), as: "replacer")
      }
      try await box.timeline.wait(for: "replacer+")
      #expect(replacer?.paths == [url.path])
      try await replacer?.finish()
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidMove])
    }
  }

  @Test("C-081: A .forDeleting writer in the same situation is given the new URL")
  func deleterFollows() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      var deleter: Lane?
      try await box.move("d/f", to: "d/g") {
        deleter = try await box.queue(.write("d/f", .forDeleting), as: "deleter")
      }
      try await box.timeline.wait(for: "deleter+")
      #expect(deleter?.paths == [box.url("d/g").path])
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidMove, .relinquishToWriter, .accommodateDeletion])
      try await deleter?.finish()
    }
  }

  @Test("C-082, C-192: P may unregister inside accommodateDeletion without hanging the deleter")
  func unregisterInsideAccommodate() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      let gate = TestGate()
      presenter.answer(.accommodateDeletion) { [weak presenter] _ in
        if let presenter { box.domain(of: presenter).unregister(presenter) }
        try await gate.pass()
      }
      // The callback still runs when the access is granted: no access waits for it any more.
      let deleter = try await box.hold(.write("d/f", .forDeleting), as: "deleter")
      #expect(!gate.isOpen)
      try await deleter.finish()
      gate.open()
    }
  }

  @Test("C-054, C-311: A deletion tells presenters of containers, not the presenter that accommodated it")
  func deletionIsTold() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let (presenter, container) = (try box.present("d/f", reacquires: true), try box.present("d", as: "D"))
      try await box.coordinator("deleter").write(url, options: .forDeleting) {
        try FileManager.default.removeItem(at: $0.url)
      }
      try await presenter.wait(for: .reacquire)
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .accommodateDeletion, .reacquire])
      #expect(container.callbacks == [.accommodateSubitemDeletion, .subitemDidChange])
      #expect(container.messages.map(\.origin.isVerified) == [nil, true])
    }
  }

  @Test("C-311: A .forDeleting that did not delete: reacquirers run and did-change says that nothing changed")
  func deletionThatDidNotHappen() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try box.age("d/f")
      let presenter = try box.present("d/f", reacquires: true)
      try await box.access(.write("d/f", .forDeleting), as: "deleter")
      try await presenter.wait(for: .reacquire)
      #expect(presenter.callbacks == [.relinquishToWriter, .accommodateDeletion, .itemDidChange, .reacquire])
      #expect(presenter.messages[2].origin.isVerified == false)
    }
  }

  @Test("C-431: The grant says that the item was deleted while the access waited")
  func replacedWhileWaiting() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let writer = try await box.coordinator("deleter").write(url, options: .forDeleting) { access in
        let writer = Task.detached {
          try await box.coordinator("writer").write(url) { ($0.wasReplaced, $0.exists, $0.wasMoved) }
        }
        try await box.domain.waitUntil { $0.isWaiting("writer") }
        try FileManager.default.removeItem(at: access.url)
        return writer
      }
      let facts = try await writer.value
      #expect(facts == (true, false, false))
    }
  }
}
