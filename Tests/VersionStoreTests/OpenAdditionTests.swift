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

  @Test("A step that an earlier release has left in a version's directory is completed", arguments: [false, true])
  func earlierRelease(isRemoved: Bool) async throws {
    try await withStore { sandbox in
      let version = try addHalf(sandbox, .moving)
      let store = try sandbox.store()
      let mark = store.layout.mark(of: version.id, of: item)
      try store.writeDraft(sandbox.files.contents(of: mark), to: store.layout.ownStep(of: version.id, of: item))
      try sandbox.files.withDescriptor(mark, flags: [.truncate, .writeOnly]) { _ throws(SystemError) in }
      if isRemoved { try store.retire(version.id, of: item) }
      try expectCompletion(version, .moving, sandbox, "\(isRemoved)")
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
