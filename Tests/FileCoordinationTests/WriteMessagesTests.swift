import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Write messages", .timeLimit(.minutes(4)), .betweenProcesses)
struct WriteMessagesTests {
  @Test("C-050, C-051: C writes /d/f: P gets relinquish(toWriter) and nothing else before access; never save")
  func plainWrite() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try box.present("d/f")
      let writer = try await box.hold(.write("d/f"), as: "writer")
      #expect(box.events == ["P.relinquishToWriter", "writer+"])
      try await writer.finish()
      try await box.quiesce()
      #expect(!box.events.contains("P.saveChanges"))
    }
  }

  @Test("C-052: .forMerging: relinquish(toWriter), then save, then access")
  func merging() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      let save = presenter.hold(.saveChanges)
      let writer = box.start(.write("d/f", .forMerging), as: "writer")
      try await save.waitForArrival()
      #expect(box.events == ["P.relinquishToWriter", "P.saveChanges"])
      save.open()
      try await writer.finish()
      #expect(box.events.prefix(4) == ["P.relinquishToWriter", "P.saveChanges", "writer+", "writer-"])
    }
  }

  @Test("C-053: After the write P gets did-change, and the reacquirer after it")
  func changeThenReacquire() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f", reacquires: true)
      try await box.access(.write("d/f"), as: "writer")
      try await presenter.wait(for: .reacquire)
      #expect(box.events == ["P.relinquishToWriter", "writer+", "writer-", "P.itemDidChange", "P.reacquire"])
    }
  }

  @Test("C-054: A presenter of plain /d gets nothing before, and subitem-did-change(/d/f) after")
  func enclosingDirectoryIsTold() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d")
      let writer = try await box.hold(.write("d/f"), as: "writer")
      #expect(presenter.messages.isEmpty)
      try await writer.finish()
      let message = try await presenter.wait(for: .subitemDidChange)
      #expect(message.urls.map(\.path) == [url.path])
      try await box.quiesce()
      #expect(presenter.messages.count == 1)
    }
  }

  @Test("C-055: Depth does not matter: a presenter of /d hears about d/x/y/f")
  func anyDepth() async throws {
    try await withSandbox { box in
      let url = try box.write("d/x/y/f")
      let presenter = try box.present("d")
      try await box.access(.write("d/x/y/f"), as: "writer")
      #expect(try await presenter.wait(for: .subitemDidChange).urls.map(\.path) == [url.path])
    }
  }

  @Test("C-056: A presenter of k.pkg without subitem callbacks gets did-change when k.pkg/a is written")
  func packageFallback() async throws {
    try await withSandbox { box in
      try box.write("k.pkg/a")
      let presenter = try box.present("k.pkg", as: "P", [.relinquish, .itemDidChange])
      try await box.access(.write("k.pkg/a"), as: "writer")
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidChange])
    }
  }

  @Test("C-057: A presenter of k.pkg with subitem-did-change gets that and not did-change")
  func packageWithSubitems() async throws {
    try await withSandbox { box in
      let url = try box.write("k.pkg/a")
      let presenter = try box.present("k.pkg", as: "P", [.itemDidChange, .subitemDidChange])
      try await box.access(.write("k.pkg/a"), as: "writer")
      try await box.quiesce()
      #expect(presenter.callbacks == [.subitemDidChange])
      #expect(presenter.messages[0].urls.map(\.path) == [url.path])
    }
  }

  @Test("C-058: A presenter of plain d without subitem callbacks gets no substitute did-change")
  func plainDirectoryHasNoFallback() async throws {
    try await withSandbox { box in
      try box.write("d/a")
      let presenter = try box.present("d", as: "P", [.relinquish, .itemDidChange])
      try await box.access(.write("d/a"), as: "writer")
      try await box.quiesce()
      #expect(presenter.messages.isEmpty)
    }
  }

  @Test(
    "C-058: A presenter of plain d that wants so, and declares nothing about subitems, hears of entries that come and go"
  )
  func entriesOfDirectories() async throws {
    try await withSandbox { box in
      try box.write("d/a")
      try box.makeDirectory("d/x")
      let presenter = try box.present("d", as: "P", .itemDidChange, observesEntries: true)
      let (writer, new) = (box.coordinator("writer"), box.url("d/new"))
      try await writer.write(new) { try "new".write(to: $0.url, atomically: false, encoding: .utf8) }
      #expect(try await presenter.wait(for: .itemDidChange).origin.label == "writer")
      try await writer.write(new) { try "newer".write(to: $0.url, atomically: false, encoding: .utf8) }
      try await writer.write(box.url("d/x/y")) { try "y".write(to: $0.url, atomically: false, encoding: .utf8) }
      try await writer.move(new, to: box.url("d/newer"))
      try await presenter.wait(for: .itemDidChange, count: 2)
      try await writer.delete(box.url("d/newer"))
      try await presenter.wait(for: .itemDidChange, count: 3)
      try await box.quiesce()
      #expect(presenter.messages.count == 3)
    }
  }

  @Test("C-060: A presenter that declares only subitem-did-change hears by it what appears, moves and vanishes")
  func subitemChangesAlone() async throws {
    try await withSandbox { box in
      try box.makeDirectory("d")
      let presenter = try box.present("d", as: "P", .subitemDidChange)
      let (writer, new) = (box.coordinator("writer"), box.url("d/new"))
      try await writer.write(new) { try "new".write(to: $0.url, atomically: false, encoding: .utf8) }
      try await presenter.wait(for: .subitemDidChange)
      try await writer.move(new, to: box.url("d/newer"))
      try await presenter.wait(for: .subitemDidChange, count: 3)
      try await writer.delete(box.url("d/newer"))
      try await presenter.wait(for: .subitemDidChange, count: 4)
      try await box.quiesce()
      #expect(presenter.messages.flatMap(\.urls).map(\.lastPathComponent) == ["new", "new", "newer", "newer"])
    }
  }

  @Test(
    "C-059: Did-change is sent for attribute-only changes too",
    arguments: [FileCoordinator.WritingOptions.contentIndependentMetadataOnly, []])
  func attributesChange(options: FileCoordinator.WritingOptions) async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      try await box.coordinator("tagger").write(url, options: options) { access in
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: access.url.path)
      }
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidChange])
    }
  }

  @Test("C-060, C-061: Creating d/new tells presenters of d subitem-did-appear, and nothing else")
  func appearance() async throws {
    try await withSandbox { box in
      let directory = try box.makeDirectory("d")
      let presenter = try box.present("d")
      let url = directory.appending(path: "new")
      try await box.coordinator("writer").write(url) { try "new".write(to: $0.url, atomically: false, encoding: .utf8) }
      try await box.quiesce()
      #expect(presenter.callbacks == [.subitemDidAppear])
      #expect(presenter.messages[0].urls.map(\.path) == [url.path])
    }
  }

  @Test("C-062: An access may return before did-change handlers have run")
  func nobodyWaitsForTold() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      let gate = presenter.hold(.itemDidChange)
      try await box.access(.write("d/f"), as: "writer")
      try await gate.waitForArrival()
      #expect(try await box.domain.snapshot().accesses.isEmpty)
      gate.open()
    }
  }

  @Test("C-063: Presenters are asked in parallel: one that is slow doesn't hold up the messages of another")
  func presentersInParallel() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let (slow, quick) = (try box.present("d/f", as: "slow"), try box.present("d/f", as: "quick"))
      let gate = slow.hold(.relinquishToReader)
      let reader = box.start(.read("d/f"), as: "reader")
      try await quick.wait(for: .saveChanges)
      try await gate.waitForArrival()
      #expect(slow.callbacks == [.relinquishToReader])
      gate.open()
      try await reader.finish()
    }
  }

  @Test("C-064: Whether P gets did-change does not depend on which other callbacks P implements")
  func messagesAreIndependent() async throws {
    let asked: [FilePresenterCallbacks] = [
      .relinquishToReader, .relinquishToWriter, .saveChanges, .accommodateDeletion, .accommodateSubitemDeletion,
    ]
    for bits in 0..<(1 << asked.count) {
      try await withSandbox { box in
        try box.write("d/f")
        let others = asked.indices.filter { bits & (1 << $0) != 0 }.map { asked[$0] }
        let presenter = try box.present("d/f", as: "P", others.reduce(.itemDidChange) { $0.union($1) })
        try await box.access(.write("d/f", .forMerging), as: "writer")
        try await box.quiesce()
        #expect(presenter.callbacks.count { $0 == .itemDidChange } == 1, "\(others)")
      }
    }
  }

  @Test("C-202, C-310: Did messages are sent after every write; the origin says when nothing changed")
  func verification() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      try box.age("d/f")
      let presenter = try box.present("d/f")
      let writer = box.coordinator("writer")
      try await writer.write(url) { _ in }
      #expect(try await presenter.wait(for: .itemDidChange).origin.isVerified == false)
      try await writer.write(url) { try "longer".write(to: $0.url, atomically: false, encoding: .utf8) }
      #expect(try await presenter.wait(for: .itemDidChange, count: 2).origin.isVerified == true)
    }
  }

  @Test("C-059: A write that fails and has changed nothing is not told, one that fails after a change is")
  func failedWrite() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      try box.age("d/f")
      let presenter = try box.present("d/f", as: "P", .itemDidChange)
      let writer = box.coordinator("writer")
      await #expect(throws: CancellationError.self) { try await writer.write(url) { _ in throw CancellationError() } }
      await #expect(throws: CancellationError.self) {
        try await onThread { try writer.blocking.write(url) { _ in throw CancellationError() } }
      }
      try await box.quiesce()
      #expect(presenter.messages.isEmpty)
      await #expect(throws: CancellationError.self) {
        try await writer.write(url) { access in
          try "longer".write(to: access.url, atomically: false, encoding: .utf8)
          throw CancellationError()
        }
      }
      try await box.quiesce()
      #expect(presenter.messages.map(\.origin.isVerified) == [true])
    }
  }

  @Test("C-202: A file modified a moment before a write isn't said to be as before: the clock may not have ticked")
  func justModified() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      var verdicts: [Bool?] = []
      // The machine may be busy for longer than that.
      for count in 1...20 where !verdicts.contains(nil) {
        try box.age("d/f", to: Date(timeIntervalSinceNow: 0.5))
        try await box.coordinator("writer").write(url) { _ in }
        verdicts.append(try await presenter.wait(for: .itemDidChange, count: count).origin.isVerified)
      }
      #expect(verdicts.contains(nil))
    }
  }

  @Test("C-202: A file from the future is known to be as before: if it had changed it would have another time")
  func fileFromTheFuture() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      try box.age("d/f", to: Date(timeIntervalSinceNow: 3600))
      let presenter = try box.present("d/f")
      try await box.coordinator("writer").write(url) { _ in }
      #expect(try await presenter.wait(for: .itemDidChange).origin.isVerified == false)
    }
  }

  @Test("C-200, C-201: A write that isn't coordinated asks nobody, and nobody is sure to be told")
  func uncoordinatedWrite() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenters = try ["d/f", "d"].map { try box.present($0, as: $0) }
      try box.write("d/f", "new")
      try await box.quiesce()
      for presenter in presenters { #expect(presenter.messages.isEmpty) }
    }
  }

  @Test("C-309: Did-change reaches other presenters of the same process, the writer's own not")
  func otherPresentersOfThisProcess() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let (own, other) = (try box.present("d/f", as: "own"), try box.present("d/f", as: "other"))
      try await box.access(.write("d/f"), as: "writer", presenter: own)
      try await other.wait(for: .itemDidChange)
      try await box.quiesce()
      #expect(own.messages.isEmpty)
    }
  }

  @Test(
    "C-407: A reader's options are in the origin of what it asks",
    arguments: [[], .withoutChanges, .immediatelyAvailableMetadataOnly, [.withoutChanges, .forUploading]]
      as [FileCoordinator.ReadingOptions])
  func readingOptions(options: FileCoordinator.ReadingOptions) async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      try await box.coordinator("reader").read(url, options: options) { _ in }
      #expect(presenter.messages.first?.origin.kind == .reading(options))
    }
  }

  @Test("C-407: Every message carries its origin: process, purpose, label, options, coordinated")
  func origins() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f", reacquires: true)
      let writer = box.coordinator("indexer")
      try writer.setPurposeIdentifier("org.example.index")
      try await writer.write(url, options: .forMerging) { _ in }
      try await presenter.wait(for: .reacquire)
      for message in presenter.messages {
        let origin = message.origin
        #expect(origin.label == "indexer")
        #expect(origin.purposeIdentifier == "org.example.index")
        #expect(origin.processIdentifier == ProcessInfo.processInfo.processIdentifier)
        #expect(!origin.processName.isEmpty)
        #expect(origin.isCoordinated)
        #expect(!origin.isReentrant)
      }
      // The second question to a presenter must not lose the content of the first one.
      #expect(presenter.messages.map(\.origin.kind) == Array(repeating: .writing(.forMerging), count: 4))
    }
  }
}
