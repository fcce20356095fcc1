import SystemInterface
import Testing

@testable import VersionStore

@Suite("A version that's removed before its addition was completed", .timeLimit(.minutes(4)))
struct OpenAdditionTests {
  private let item = ItemID.drawn()

  /// The addition ends when the version is there, and its file has another name beside it.
  private func addHalf(_ sandbox: StoreSandbox, _ taking: Taking) throws -> StoredVersion {
    let path = try sandbox.write("a", "text", mode: 0o640)
    let door = DyingDoor.dying { call in
      call.call == .rename && call.paths.last.flatMap { VersionID($0.lastComponent) } != nil
    }
    _ = try? sandbox.store(door).add(contentsOf: path, to: item, StoreSandbox.attributes, taking: taking)
    let version = try #require(try sandbox.store().versions(of: item).first)
    #expect(try sandbox.store().openVersionIDs(of: item) == [version.id])
    #expect(try sandbox.files.statusIfPresent(of: path)?.linkCount == 2)
    return version
  }

  /// Brings the version back, if it's removed, and expects a store in which everything is complete.
  private func expectCompletion(
    _ version: StoredVersion, _ taking: Taking, _ sandbox: StoreSandbox, _ comment: Comment
  ) throws {
    try sandbox.settle(item)
    let store = try sandbox.store()
    if try !store.removedVersions(of: item).isEmpty { _ = try store.reinstate(version.id, of: item) }
    try sandbox.settle(item)
    #expect(try sandbox.texts(item) == ["text"], comment)
    #expect(try sandbox.tree("files") == (taking == .moving ? [] : ["a 640 1 text"]), comment)
    #expect(try sandbox.files.statusIfPresent(of: store.path(of: version))?.mode == 0o444, comment)
    #expect(try store.removedVersions(of: item).isEmpty, comment)
    #expect(try sandbox.tree("store").filter { $0.contains("/step ") || $0.contains("/open/") } == [], comment)
  }

  @Test(
    "It takes along what's to complete, whatever call the removal ends at, and that's completed when it's back",
    arguments: [Taking.linking, .moving], [VersionStoreLimits(), hashingLater])
  func removal(taking: Taking, limits: VersionStoreLimits) async throws {
    let count = try await withStore(limits) { sandbox in
      let version = try addHalf(sandbox, taking)
      return try DyingDoor.callCount { try sandbox.store($0).retire(version.id, of: item) }
    }
    var removedCount = 0
    for number in 1...count + 1 {
      try await withStore(limits) { sandbox in
        let version = try addHalf(sandbox, taking)
        try? sandbox.store(DyingDoor.dying(atCall: number)).retire(version.id, of: item)
        if try !sandbox.store().removedVersions(of: item).isEmpty { removedCount += 1 }
        try expectCompletion(version, taking, sandbox, "\(taking), call \(number)")
      }
    }
    #expect(removedCount > 0 && removedCount < count)
  }

  @Test("The same whatever call its return ends at", arguments: [Taking.linking, .moving])
  func comeback(taking: Taking) async throws {
    func prepare(_ sandbox: StoreSandbox) throws -> StoredVersion {
      let version = try addHalf(sandbox, taking)
      try sandbox.store().retire(version.id, of: item)
      #expect(try sandbox.store().openVersionIDs(of: item) == [])
      return version
    }
    let count = try await withStore { sandbox in
      let version = try prepare(sandbox)
      return try DyingDoor.callCount { _ = try sandbox.store($0).reinstate(version.id, of: item) }
    }
    for number in 1...count {
      try await withStore { sandbox in
        let version = try prepare(sandbox)
        _ = try? sandbox.store(DyingDoor.dying(atCall: number)).reinstate(version.id, of: item)
        try expectCompletion(version, taking, sandbox, "\(taking), call \(number)")
      }
    }
  }

  @Test("It can be removed twice, and goes with what's to complete when its window has ended")
  func repetition() async throws {
    try await withStore { sandbox in
      let version = try addHalf(sandbox, .linking)
      let store = try sandbox.store()
      for _ in 0..<2 {
        try store.retire(version.id, of: item)
        _ = try store.reinstate(version.id, of: item)
      }
      #expect(try store.openVersionIDs(of: item) == [version.id])
      try store.retire(version.id, of: item)
      #expect(try store.forgetRemovals(before: .max) == 1)
      try sandbox.settle(item)
      #expect(try sandbox.tree("files") == ["a 640 1 text"])
      #expect(try sandbox.tree("store/steps") == [])
      #expect(try store.versions(of: item).isEmpty)
    }
  }

  @Test("The step to complete of a move is in the version's first record, and stays when that changes")
  func change() async throws {
    try await withStore { sandbox in
      let version = try addHalf(sandbox, .moving)
      let store = try sandbox.store()
      let mark = store.layout.mark(of: version.id, of: item)
      let record = store.recordPath(of: version.id, of: item)
      #expect(
        try sandbox.files.statusIfPresent(of: mark)?.identity == sandbox.files.statusIfPresent(of: record)?.identity)
      _ = try store.change(version.id, of: item) { $0.isDiscardable = true }
      #expect(try sandbox.files.statusIfPresent(of: mark) != nil)
      try expectCompletion(version, .moving, sandbox, "changed")
      #expect(try store.versionIfPresent(version.id, of: item)?.isDiscardable == true)
      #expect(try sandbox.files.statusIfPresent(of: record)?.linkCount == 1)
    }
  }

  @Test(
    "Where a record can't have another name, a move has a step of its own, which is on the disk before the file goes",
    arguments: [VersionStoreLimits(), hashingLater])
  func unlinkable(limits: VersionStoreLimits) async throws {
    @Sendable func isMark(_ path: SystemPath?) -> Bool {
      path?.parent.lastComponent == SystemPath(StoreLayout.marksName)
    }
    @Sendable func isEnd(_ call: ScriptedCall) -> Bool {
      call.call == .rename && call.paths.last?.lastComponent.description.hasPrefix(".moved-") == true
    }
    // EMLINK(3)
    for isKilled in [false, true] {
      try await withStore(limits) { sandbox in
        let file = try sandbox.write("a", "text")
        let isOver = Guarded(false)
        let door = ScriptedFileSystem { call in
          if isOver.withLock({ $0 }) { return call.call == .close ? .proceed : .fail(5) }
          if call.call == .link, isMark(call.paths.last) { return .fail(31) }
          if isKilled, isEnd(call) { isOver.withLock { $0 = true } }
          return call.call == .synchronize ? .skip : .proceed
        }
        let version = try? sandbox.store(door).add(
          contentsOf: file, to: item, StoreSandbox.attributes, taking: .moving)
        #expect((version == nil) == isKilled)
        let log = door.log
        let end = try #require(log.firstIndex(where: isEnd))
        #expect(log[..<end].contains { $0.call == .synchronize && isMark($0.openedPath) })
        try sandbox.settle(item)
        #expect(try sandbox.texts(item) == ["text"])
        #expect(try sandbox.tree("files") == [])
        #expect(try sandbox.store().openVersionIDs(of: item) == [])
      }
    }
  }

  @Test("A step that an earlier release has left in a version's directory is completed", arguments: [false, true])
  func earlierRelease(isRemoved: Bool) async throws {
    try await withStore { sandbox in
      let version = try addHalf(sandbox, .moving)
      let store = try sandbox.store()
      let mark = store.layout.mark(of: version.id, of: item)
      let step = try #require(
        try StoreRecord(sandbox.files.contents(of: mark))?.sections(beginningWith: "step").first)
      try store.writeDraft(step.bytes, to: store.layout.ownStep(of: version.id, of: item))
      try store.unlink(mark)
      try store.writeDraft([], to: mark)
      if isRemoved { try store.retire(version.id, of: item) }
      try expectCompletion(version, .moving, sandbox, "\(isRemoved)")
    }
  }
}

@Suite("Directories that are prepared for the next version", .timeLimit(.minutes(4)))
struct PreparedDirectoriesTests {
  private let item = ItemID.drawn()

  @Test("They serve one addition, which makes none then")
  func use() async throws {
    try await withStore { sandbox in
      let file = try sandbox.write("a", "text")
      _ = try sandbox.store().add(contentsOf: file, to: item, StoreSandbox.attributes)
      for isPrepared in [true, false] {
        if isPrepared { for _ in 0..<2 { try sandbox.store().prepareAddition() } }
        #expect(try sandbox.tree("store/steps").count == (isPrepared ? 3 : 0))
        let record = try sandbox.files.statusIfPresent(of: sandbox.root.appending("store/steps/spare.1-2/record"))
        let door = DyingDoor.hurried()
        let version = try sandbox.store(door).add(contentsOf: file, to: item, StoreSandbox.attributes)
        let used = try sandbox.store().recordPath(of: version.id, of: item)
        let isUsed = try record != nil && sandbox.files.statusIfPresent(of: used)?.identity == record?.identity
        #expect(isUsed == isPrepared)
        let made = door.log.filter { $0.call == .makeDirectory && $0.paths.last?.isInside(sandbox.root) == true }
        #expect(made.isEmpty == isPrepared)
        #expect(try sandbox.tree("store/steps") == [])
      }
      #expect(try sandbox.texts(item) == ["text", "text", "text"])
    }
  }

  @Test("Those of a process that has ended are removed, and aren't taken for an operation that was cut off")
  func end() async throws {
    let count = try await withStore { sandbox in
      _ = try sandbox.store()
      return try DyingDoor.callCount { try sandbox.store($0).prepareAddition() }
    }
    for number in 1...count + 1 {
      try await withStore { sandbox in
        _ = try sandbox.store()
        try? sandbox.store(DyingDoor.dying(atCall: number)).prepareAddition()
        let inUseCount = try sandbox.store(alive: ["1-2"]).recover()
        let cutOffCount = try sandbox.store().recover()
        #expect(inUseCount == 0 && (number <= count || cutOffCount == 0))
        #expect(try sandbox.tree("store/steps") == [], "call \(number)")
        let file = try sandbox.write("a", "text")
        _ = try sandbox.store().add(contentsOf: file, to: item, StoreSandbox.attributes)
        #expect(try sandbox.texts(item) == ["text"])
      }
    }
  }

  @Test("A store that was removed isn't made anew for them")
  func removed() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      try sandbox.files.removeItem(at: sandbox.root.appending("store"))
      #expect(throws: VersionStoreError.self) { try store.prepareAddition() }
      #expect(try sandbox.tree("store") == [])
    }
  }
}

@Suite("A file that becomes a version while another one takes its place", .timeLimit(.minutes(4)))
struct KeptWhileReplacedTests {
  @Test(
    "It can't be written any more, and has no attributes of the former file",
    arguments: [VersionStoreLimits(), hashingLater])
  func seal(limits: VersionStoreLimits) async throws {
    try await withStore(limits) { sandbox in
      let (store, path) = (try sandbox.store(), try sandbox.write("a", "old", mode: 0o640))
      let item = try #require(try store.item(at: path, creating: true))
      let version = try store.keep(path, of: item, StoreSandbox.attributes) { target, settle in
        try sandbox.files.replaceContents(of: path, with: Array("new".utf8), over: target, settling: settle)
      }
      try store.unfold(of: item)
      let kept = store.path(of: version)
      #expect(try sandbox.files.statusIfPresent(of: kept)?.mode == 0o444)
      #expect(store.tag(of: kept) == nil && store.tag(of: path) == item)
    }
  }

  @Test("A process that knows a store notices that a later release has changed its format")
  func format() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      _ = try sandbox.store()
      try sandbox.files.replaceContents(of: store.layout.format, with: Array("format 2\n".utf8))
      #expect(throws: VersionStoreError.unknownFormat(store.root, "format 2\n")) { try sandbox.store() }
    }
  }
}
