import SystemInterface
import Testing

@testable import VersionStore

@Suite("A replacement in the middle of which the power failed", .timeLimit(.minutes(4)))
struct PowerLossTests {
  private let item = ItemID.drawn()

  /// The files that weren't on the disk: they're empty then.
  enum Lost: CaseIterable, Sendable {
    case step, stepAndRecord
  }

  private func lose(_ lost: Lost, of version: StoredVersion, _ sandbox: StoreSandbox, _ store: VersionStore) throws {
    let record = store.recordPath(of: version.id, of: item)
    for path in [store.layout.mark(of: version.id, of: item)] + (lost == .step ? [] : [record]) {
      try sandbox.files.withDescriptor(path, flags: [.truncate, .writeOnly]) { _ throws(SystemError) in }
    }
  }

  /// The files that were opened before the version got its place.
  private func openedInStep(_ version: StoredVersion, _ store: VersionStore) -> [SystemPath] {
    let step = store.step(version.id.description)
    return [step.appending(StoreLayout.record), step.appending(StoreLayout.contentsName).appending("a")]
  }

  /// The door of an addition while a file is replaced, and the version.
  private func replace(_ sandbox: StoreSandbox) throws -> (door: ScriptedFileSystem, version: StoredVersion) {
    let file = try sandbox.write("a", "text")
    func replace(_ door: ScriptedFileSystem) throws -> StoredVersion {
      try sandbox.store(door).keep(file, of: item, StoreSandbox.attributes) { target, settle in
        try door.replaceContents(of: file, with: Array("newer".utf8), over: target, settling: settle)
      }
    }
    // The first one makes directories that others use, too.
    _ = try replace(DyingDoor.hurried())
    let door = DyingDoor.hurried()
    return (door, try replace(door))
  }

  /// Expects that the waits for the disk before the new file has its place are those for some paths, and that nothing changes from the
  /// first of them on.
  private func expectWaits(_ door: ScriptedFileSystem, for parts: [SystemPath]) throws {
    let log = door.log
    let replacement = try #require(log.lastIndex { $0.call == .rename && $0.paths.last == SystemPath("a") })
    let waits = log[..<replacement].indices.filter {
      log[$0].call == .synchronize && !parts.isEmpty && parts.contains(log[$0].openedPath ?? .root)
    }
    #expect(waits.compactMap { log[$0].openedPath } == parts)
    let (first, last) = (try #require(waits.first), try #require(waits.last))
    let changing: Set<SystemCall> = [.write, .link, .rename, .makeDirectory, .unlink, .setMode, .setAttribute]
    #expect(!log[first...last].contains { changing.contains($0.call) })
    // In between the new file only gets a name.
    let between = log[last..<replacement].filter { changing.contains($0.call) }
    #expect(between.map(\.call) == [.link])
  }

  @Test(
    "All of a version and the new file are brought to the disk after they are complete, and before the new file is visible"
  )
  func order() async throws {
    try await withStore(hashingLater) { sandbox in
      let (door, version) = try replace(sandbox)
      let store = try sandbox.store()
      let place = store.layout.directory(of: version.id, of: item)
      let contents = place.appending(StoreLayout.contentsName)
      let parts =
        [SystemPath(".")] + openedInStep(version, store) + [
          contents, place, place.parent, store.layout.marks(of: item),
        ]
      try expectWaits(door, for: parts)
    }
  }

  @Test("So are the file, its record and its name of a version that has no directory yet")
  func orderOfBare() async throws {
    try await withStore { sandbox in
      let (door, version) = try replace(sandbox)
      let bare = try sandbox.store().layout.bare(version.id, of: item)
      try expectWaits(door, for: [SystemPath("."), sandbox.path("a"), bare.parent, bare.parent.parent])
    }
  }

  @Test(
    "A file that wasn't replaced stays as it is; a version whose record is there has a file of its own, another one is gone",
    arguments: Lost.allCases, [VersionStoreLimits(), hashingLater])
  func before(lost: Lost, limits: VersionStoreLimits) async throws {
    try await withStore(limits) { sandbox in
      let store = try sandbox.store()
      let file = try sandbox.write("a", "text", mode: 0o640)
      let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes, taking: .linking)
      try lose(lost, of: version, sandbox, store)
      try sandbox.settle(item)
      #expect(try sandbox.tree("files") == ["a 640 1 text"])
      #expect(try sandbox.texts(item) == (lost == .step ? ["text"] : []))
      let contents = try sandbox.tree("store/contents").count { $0.contains("/") }
      #expect(contents == (lost == .step ? 1 : 0))
      // And it can be kept again.
      _ = try store.keep(file, of: item, StoreSandbox.attributes) { _, _ in try sandbox.write("a", "newer") }
      #expect(try store.versions(of: item).count == (lost == .step ? 2 : 1))
    }
  }

  /// The calls of a move into the store, and which of them takes the former name of the file away.
  private func move(_ sandbox: StoreSandbox, _ door: ScriptedFileSystem) throws -> (version: StoredVersion, end: Int?) {
    let file = sandbox.path("a")
    let version = try sandbox.store(door).add(
      contentsOf: file, to: item, StoreSandbox.attributes, taking: .moving)
    let end = door.log.firstIndex { call in
      [.unlink, .rename].contains(call.call) && call.paths.first?.lastComponent == file.lastComponent
    }
    return (version, end)
  }

  @Test(
    "All of a file that's moved into the store is brought to the disk by one wait, before it loses its former name",
    arguments: [VersionStoreLimits(), hashingLater])
  func orderOfMove(limits: VersionStoreLimits) async throws {
    try await withStore(limits) { sandbox in
      try sandbox.write("a", "text")
      _ = try sandbox.store().add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      let door = DyingDoor.hurried()
      let (version, end) = try move(sandbox, door)
      let log = door.log[..<(try #require(end))]
      let store = try sandbox.store()
      let place = store.layout.directory(of: version.id, of: item)
      let contents = place.appending(StoreLayout.contentsName)
      let parts =
        openedInStep(version, store) + [
          contents, place, place.parent, store.layout.marks(of: item),
        ]
      #expect(log.filter { $0.call == .synchronize }.compactMap(\.openedPath) == parts)
      let first = try #require(log.firstIndex { $0.call == .synchronize })
      #expect(!log[first...].contains { [.write, .link, .rename, .makeDirectory, .unlink].contains($0.call) })
    }
  }

  @Test("A file that still has its former name when the power fails stays there, and the part of its version goes")
  func beforeMoved() async throws {
    let end = try await withStore { sandbox in
      try sandbox.write("a", "text")
      return try #require(try move(sandbox, DyingDoor.hurried()).end)
    }
    try await withStore { sandbox in
      let file = try sandbox.write("a", "text", mode: 0o640)
      // Counted from one.
      _ = try? move(sandbox, DyingDoor.dying(atCall: end + 1))
      let store = try sandbox.store()
      let version = try #require(try store.versions(of: item).first)
      // The step is in the record.
      try lose(.step, of: version, sandbox, store)
      #expect(try store.listing(of: item).damaged == [store.recordPath(of: version.id, of: item)])
      try sandbox.settle(item)
      #expect(try sandbox.tree("files") == ["a 640 1 text"])
      #expect(try sandbox.texts(item) == [])
      _ = try store.add(contentsOf: file, to: item, StoreSandbox.attributes, taking: .moving)
      #expect(try sandbox.tree("files") == [])
    }
  }

  @Test("A file that was replaced is kept, whatever else is lost", arguments: Lost.allCases)
  func after(lost: Lost) async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      let file = try sandbox.write("a", "text")
      let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes, taking: .linking)
      try sandbox.files.unlink(file, at: .workingDirectory, .file)
      try sandbox.write("a", "newer")
      try lose(lost, of: version, sandbox, store)
      if lost == .step {
        try sandbox.settle(item)
        #expect(try sandbox.texts(item) == ["text"])
        #expect(try sandbox.files.statusIfPresent(of: store.path(of: version))?.mode == 0o444)
      } else {
        let record = store.recordPath(of: version.id, of: item)
        try store.completeMoves(of: item)
        #expect(try store.listing(of: item).damaged == [record])
      }
      #expect(try sandbox.text(store.path(of: version)) == "text")
    }
  }
}
