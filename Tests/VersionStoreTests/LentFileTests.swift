import SystemInterface
import Testing

@testable import VersionStore

/// A file in a directory that the store has made for it becomes a version by a rename.
@Suite("A file in a directory for new versions", .timeLimit(.minutes(4)))
struct LentFileTests {
  private let item = ItemID.drawn()

  private func add(_ source: SystemPath, _ sandbox: StoreSandbox, _ door: (any FileSystem)? = nil) throws
    -> StoredVersion
  {
    try sandbox.store(door).add(
      contentsOf: source, to: item, named: SystemPath("a"), StoreSandbox.attributes, taking: .moving)
  }

  @Test(
    "CV-08, CV-09: It has one name at a time, and no other file system call is made for the former one",
    arguments: [VersionStoreLimits(), hashingLater])
  func rename(limits: VersionStoreLimits) async throws {
    try await withStore(limits) { sandbox in
      let source = try sandbox.lend("text")
      let identity = try sandbox.files.statusIfPresent(of: source)?.identity
      let door = DyingDoor.hurried()
      let version = try add(source, sandbox, door)
      let calls = door.log.filter { $0.paths.first == source && $0.call != .status }
      #expect(calls.map(\.call) == [.rename])
      let store = try sandbox.store()
      let kept = try sandbox.files.statusIfPresent(of: store.path(of: version))
      #expect(kept?.identity == identity && kept?.mode == 0o444)
      #expect(try sandbox.texts(item) == ["text"])
      #expect(try store.openVersionIDs(of: item) == [])
    }
  }

  @Test("The version is brought to the disk by one wait; the mark that it may be incomplete needn't be")
  func wait() async throws {
    try await withStore(hashingLater) { sandbox in
      _ = try add(sandbox.lend("first"), sandbox)
      let door = DyingDoor.hurried()
      let version = try add(sandbox.lend("text"), sandbox, door)
      let (store, log) = (try sandbox.store(), door.log)
      let step = store.step(version.id.description)
      let place = store.layout.directory(of: version.id, of: item)
      let waits = log.indices.filter { log[$0].call == .synchronize }
      #expect(
        waits.compactMap { log[$0].openedPath } == [
          step.appending(StoreLayout.record), step.appending(StoreLayout.contentsName).appending("a"),
          place.appending(StoreLayout.contentsName), place, place.parent,
        ])
      let changing: Set<SystemCall> = [.write, .link, .rename, .makeDirectory, .unlink, .setMode, .setAttribute]
      let (first, last) = (try #require(waits.first), try #require(waits.last))
      #expect(!log[first...last].contains { changing.contains($0.call) })
    }
  }

  @Test("If the power fails before the record is on the disk, the version is named as damaged, and its contents stay")
  func powerLoss() async throws {
    try await withStore(hashingLater) { sandbox in
      let source = try sandbox.lend("text")
      let directory = try sandbox.store().layout.directory(of: item)
      _ = try? add(source, sandbox, DyingDoor.dying { $0.call == .rename && $0.paths.last?.parent == directory })
      let placed = try #require(try sandbox.store().versions(of: item).first)
      let record = try sandbox.store().recordPath(of: placed.id, of: item)
      try sandbox.files.withDescriptor(record, flags: [.truncate, .writeOnly]) { _ throws(SystemError) in }
      try sandbox.store().recover()
      try sandbox.store().completeMoves(of: item)
      #expect(try sandbox.store().listing(of: item).damaged == [record])
      // All there is of its contents.
      let contents = record.parent.appending(StoreLayout.contentsName).appending("a")
      #expect(try sandbox.text(contents) == "text")
      #expect(try sandbox.files.statusIfPresent(of: source) == nil)
      // Others can be kept beside it.
      _ = try add(sandbox.lend("next"), sandbox)
      #expect(
        try sandbox.text(sandbox.store().path(of: #require(sandbox.store().listing(of: item).versions.last))) == "next")
    }
  }

  @Test(
    "After an error at any call it's a version, or where it was and as it was",
    arguments: [VersionStoreLimits(), hashingLater])
  func errors(limits: VersionStoreLimits) async throws {
    let count = try await callCount(limits)
    var ends: Set<Bool> = []
    for number in 1...count {
      try await withStore(limits) { sandbox in
        let source = try sandbox.lend("text", mode: 0o640)
        let version = try? add(source, sandbox, DyingDoor.failing(atCall: number))
        ends.insert(version != nil)
        #expect(try sandbox.openFiles() == [], "call \(number)")
        let rest = try sandbox.files.statusIfPresent(of: source)
        let texts = try sandbox.texts(item)
        if version == nil {
          #expect(rest?.mode == 0o640 && texts == [], "call \(number)")
          #expect(try sandbox.text(source) == "text", "call \(number)")
          // And it can become one later.
          _ = try add(source, sandbox)
          #expect(try sandbox.texts(item) == ["text"], "call \(number)")
        } else {
          #expect(rest == nil && texts == ["text"], "call \(number)")
        }
      }
    }
    #expect(ends == [false, true])
  }

  /// How many calls an addition makes.
  private func callCount(_ limits: VersionStoreLimits) async throws -> Int {
    try await withStore(limits) { sandbox in
      let source = try sandbox.lend("text")
      return try DyingDoor.callCount { _ = try add(source, sandbox, $0) }
    }
  }

  /// The door at which a call fails, and later ones of one kind, or all of them.
  private func door(failingAt number: Int, andThen later: @escaping @Sendable (ScriptedCall) -> Int32?)
    -> ScriptedFileSystem
  {
    ScriptedFileSystem { call in
      if call.number == number { return .fail(28) }
      if call.number > number, call.call != .close, let error = later(call) { return .fail(error) }
      return DyingDoor.hurry(call)
    }
  }

  @Test(
    "Errors at all calls that open a file, after one at any call, lose nothing: the file is where it was, or a version",
    arguments: [VersionStoreLimits(), hashingLater])
  func moreErrors(limits: VersionStoreLimits) async throws {
    let count = try await callCount(limits)
    for number in 1...count {
      try await withStore(limits) { sandbox in
        let source = try sandbox.lend("text")
        _ = try? add(source, sandbox, door(failingAt: number) { $0.call == .open ? 24 : nil })
        if try sandbox.files.statusIfPresent(of: source) != nil {
          // The caller tries again.
          _ = try add(source, sandbox)
          #expect(try sandbox.files.statusIfPresent(of: source) == nil, "call \(number)")
        }
        #expect(try sandbox.texts(item) == ["text"], "call \(number)")
        try sandbox.store().completeMoves(of: item)
        #expect(try sandbox.store().openVersionIDs(of: item) == [], "call \(number)")
        #expect(try sandbox.texts(item) == ["text"], "call \(number)")
      }
    }
  }

  @Test(
    "A kill at any call after an error at any call leaves no version without contents, and stops no other one",
    arguments: [VersionStoreLimits(), hashingLater])
  func errorAndKill(limits: VersionStoreLimits) async throws {
    let count = try await callCount(limits)
    for number in explored(count) {
      for distance in 1...16 {
        try await withStore(limits) { sandbox in
          _ = try? add(
            sandbox.lend("text"), sandbox, door(failingAt: number) { $0.number >= number + distance ? 5 : nil })
          try sandbox.settle(item)
          let texts = try sandbox.texts(item)
          #expect(texts == [] || texts == ["text"], "call \(number), \(distance) later")
          #expect(try sandbox.store().listing(of: item).damaged == [], "call \(number), \(distance) later")
          _ = try add(sandbox.lend("next"), sandbox)
          #expect(try Set(sandbox.texts(item)) == Set(texts + ["next"]), "call \(number), \(distance) later")
        }
      }
    }
  }

  @Test("A file that's put in its place right before the rename stays there, and becomes no version")
  func replaced() async throws {
    try await withStore { sandbox in
      let source = try sandbox.lend("text")
      let other = try sandbox.write("other", "other")
      let door = ScriptedFileSystem { call in
        if call.call == .rename, call.paths.first == source {
          try? sandbox.files.rename(other, at: .workingDirectory, to: source, at: .workingDirectory, .replacing)
        }
        return DyingDoor.hurry(call)
      }
      #expect(throws: VersionStoreError.self) { try add(source, sandbox, door) }
      #expect(try sandbox.text(source) == "other" && sandbox.texts(item) == [])
    }
  }

  @Test("Another name of it, and what is somewhere else, stay")
  func others() async throws {
    try await withStore { sandbox in
      let source = try sandbox.lend("text")
      let other = sandbox.path("other")
      try sandbox.files.link(source, at: .workingDirectory, to: other, at: .workingDirectory, links: .noFollow)
      let version = try add(source, sandbox)
      let kept = try sandbox.store().path(of: version)
      #expect(try sandbox.files.statusIfPresent(of: source) == nil)
      #expect(
        try sandbox.files.statusIfPresent(of: kept)?.identity != sandbox.files.statusIfPresent(of: other)?.identity)
      try sandbox.write("other", "changed")
      #expect(try sandbox.texts(item) == ["text"])
    }
  }

  @Test("Only the directories of the process itself, right below the steps of a store, are taken for such")
  func names() {
    let own = SystemPath("/s/steps/new-12ab.1-2")
    #expect(VersionStore.root(ofTemporaryDirectory: own, madeBy: "1-2") == SystemPath("/s"))
    for other in ["/s/steps/new-12ab.11-2", "/s/steps/new-12ab", "/s/steps/12ab.1-2", "/s/step/new-12ab.1-2", "/"] {
      #expect(VersionStore.root(ofTemporaryDirectory: SystemPath(other), madeBy: "1-2") == nil, "\(other)")
    }
    #expect(VersionStore.root(ofTemporaryDirectory: own.appending("in"), madeBy: "1-2") == nil)
  }
}
