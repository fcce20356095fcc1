import SystemInterface
import Testing

@testable import VersionStore

@Suite("Versions that are removed on a full volume", .timeLimit(.minutes(4)))
struct RemovingInPlaceTests {
  private static let item = ItemID.drawn()
  private var item: ItemID { Self.item }

  /// The forms in which a version is in the store.
  enum Form: CaseIterable, Sendable {
    case file, bare, unhashed, package

    var limits: VersionStoreLimits { self == .unhashed ? hashingLater : VersionStoreLimits() }

    func add(_ sandbox: StoreSandbox) throws -> VersionID {
      let store = try sandbox.store()
      switch self {
      case .file, .unhashed:
        try sandbox.write("a", "one")
        return try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes).id
      case .package:
        try sandbox.write("p/member", "one")
        return try store.add(contentsOf: sandbox.path("p"), to: item, StoreSandbox.attributes).id
      case .bare:
        let path = try sandbox.write("a", "one")
        let version = try store.keep(path, of: item, StoreSandbox.attributes) { target, settle in
          try sandbox.files.replaceContents(of: path, with: Array("new".utf8), over: target, settling: settle)
        }
        #expect(try store.bareVersionIDs(of: item) == [version.id])
        return version.id
      }
    }
  }

  /// No directory can be made, and no block for a file.
  private func full(
    _ isFull: @escaping @Sendable (ScriptedCall) -> Bool = { $0.call == .makeDirectory || $0.call == .write }
  ) -> ScriptedFileSystem {
    ScriptedFileSystem { isFull($0) ? .fail(28) : $0.call == .synchronize ? .skip : .proceed }
  }

  private func text(_ removed: RemovedVersion, _ store: VersionStore, _ sandbox: StoreSandbox) throws -> String {
    let path = store.path(of: removed)
    return try sandbox.text(removed.version.isPackage ? path.appending("member") : path)
  }

  private func marks(_ sandbox: StoreSandbox) throws -> [String] {
    try sandbox.tree("store").filter { $0.contains("@in-place") }
  }

  @Test("A version is removed all the same, can be read, and comes back", arguments: Form.allCases)
  func removing(form: Form) async throws {
    try await withStore(form.limits) { sandbox in
      let id = try form.add(sandbox)
      let door = full()
      let store = try sandbox.store(door, at: 5_000)
      try store.retire(id, of: item)
      // The mark is on the disk before the name that nobody would find without it.
      let changes = door.log.filter {
        [.link, .rename].contains($0.call) || $0.call == .synchronize && $0.openedPath == store.layout.removed
      }
      #expect(changes.suffix(3).map(\.call) == [.link, .synchronize, .rename])
      #expect(throws: VersionStoreError.versionIsGone(id)) { try store.retire(id, of: item) }
      #expect(try store.versions(of: item).isEmpty && store.newestVersion(of: item) == nil)
      for store in [store, try sandbox.store()] {
        let removed = try #require(try store.removedVersions(of: item).first)
        #expect(removed.version.id == id && removed.time == 5_000)
        #expect(try text(removed, store, sandbox) == "one")
        #expect(try store.size(of: item).removedCount == 1)
        #expect(try store.damagedRemovals(of: item) == [])
      }
      #expect(try store.reinstate(id, of: item).id == id)
      #expect(throws: VersionStoreError.versionIsGone(id)) { _ = try store.reinstate(id, of: item) }
      #expect(try store.removedVersions(of: item).isEmpty)
      try sandbox.settle(item)
      #expect(try sandbox.texts(item) == [form == .package ? "package 3" : "one"])
      try sandbox.store().forgetRemovals(before: 0, of: item)
      #expect(try marks(sandbox) == [])
    }
  }

  @Test("It goes for good when its window has ended, with its contents", arguments: Form.allCases, [true, false])
  func forgetting(form: Form, ofItem: Bool) async throws {
    try await withStore(form.limits) { sandbox in
      let id = try form.add(sandbox)
      try sandbox.store(full(), at: 5_000).retire(id, of: item)
      let store = try sandbox.store(at: 6_000)
      let chosen = ofItem ? item : nil
      #expect(try store.forgetRemovals(before: 5_000, of: chosen) == 0)
      #expect(try store.removedVersions(of: item).count == 1)
      #expect(try store.forgetRemovals(before: 5_001, of: chosen) == 1)
      #expect(try store.removedVersions(of: item).isEmpty)
      #expect(throws: VersionStoreError.versionIsGone(id)) { _ = try store.reinstate(id, of: item) }
      try store.forgetRemovals(before: 5_001, of: item)
      #expect(try marks(sandbox) == [])
      let contents = try sandbox.tree("store/contents").filter { $0.contains("/") }
      #expect(contents == [], "\(contents)")
    }
  }

  @Test("Where the directory of the removed ones is there, and full, some are there and others aren't")
  func mixed() async throws {
    try await withStore { sandbox in
      let (first, second) = (try Form.file.add(sandbox), try Form.file.add(sandbox))
      try sandbox.store(at: 1).retire(first, of: item)
      let removals = try sandbox.store().layout.removals(of: item)
      let door = full { $0.call == .rename && $0.paths.last?.parent == removals }
      try sandbox.store(door, at: 2).retire(second, of: item)
      let store = try sandbox.store()
      #expect(try store.removedVersions(of: item).map(\.version.id) == [second, first])
      #expect(try store.forgetRemovals(before: 2) == 1)
      #expect(try store.removedVersions(of: item).map(\.version.id) == [second])
      try store.removeHistory(GoneItem(item: item, path: sandbox.path("a"), time: 0))
      #expect(try sandbox.tree("store").filter { $0.contains(item.description) } == [])
    }
  }

  @Test("Without room for a name either, nothing is removed, and the error says that the volume is full")
  func noName() async throws {
    try await withStore { sandbox in
      for (form, isFull) in [
        (Form.file, { @Sendable (call: ScriptedCall) in call.call == .makeDirectory || call.call == .rename }),
        (.bare, { @Sendable call in call.call == .makeDirectory || call.call == .rename }),
        (
          .file,
          { @Sendable call in
            call.call == .makeDirectory
              || call.paths.last?.lastComponent.description.hasSuffix("@in-place") == true
                && [.link, .open].contains(call.call)
          }
        ),
      ] {
        let id = try form.add(sandbox)
        let error = #expect(throws: VersionStoreError.self) { try sandbox.store(full(isFull)).retire(id, of: item) }
        #expect(error?.isOfFullVolume == true)
        let store = try sandbox.store()
        #expect(try store.removedVersions(of: item).isEmpty)
        #expect(try store.versions(of: item).map(\.id) == [id])
        try store.remove(id, of: item)
        // The mark of the attempt.
        try store.forgetRemovals(before: 0, of: item)
        #expect(try marks(sandbox) == [])
      }
    }
  }

  @Test("A file of another user that may be written to is removed by the present time, which is that of the removal")
  func anotherUsers() async throws {
    try await withStore { sandbox in
      let id = try Form.bare.add(sandbox)
      let removal = try #require(id.namesOfRemovals.first)
      let bare = try sandbox.store().layout.bareVersions(of: item).appending(removal)
      let isTried = Guarded(false)
      let door = ScriptedFileSystem { call in
        if call.call == .setTime {
          let isFirst = isTried.withLock { isTried in
            defer { isTried = true }
            return !isTried
          }
          return isFirst ? .fail(1) : .proceed
        }
        return call.call == .makeDirectory ? .fail(28) : call.call == .synchronize ? .skip : .proceed
      }
      let past = try sandbox.store().layout.bare(id, of: item)
      try sandbox.files.setModificationTime(of: past, at: .workingDirectory, to: 1_000)
      try sandbox.store(door, at: 5_000).retire(id, of: item)
      let removed = try #require(try sandbox.store().removedVersions(of: item).first)
      // That's the time of day, not that of the store.
      #expect(removed.version.id == id && removed.time > 1_000_000_000_000_000_000)
      #expect(try sandbox.files.statusIfPresent(of: bare)?.modificationTime == removed.time)
      #expect(try sandbox.store().reinstate(id, of: item).id == id)
    }
  }

  @Test("A bare version whose file has its former place as well isn't removed: its save isn't over")
  func underWay() async throws {
    try await withStore { sandbox in
      let path = try sandbox.write("a", "one")
      try sandbox.store().ensureDirectory(sandbox.store().layout.bareVersions(of: item))
      let door = DyingDoor.dying(after: {
        $0.call == .link && $0.paths.last?.parent.lastComponent == SystemPath("bare")
      })
      _ = try? sandbox.store(door).keep(path, of: item, StoreSandbox.attributes) { target, settle in
        try door.replaceContents(of: path, with: Array("new".utf8), over: target, settling: settle)
      }
      let id = try #require(try sandbox.store().bareVersionIDs(of: item).first)
      let store = try sandbox.store(full(), alive: ["1-2"])
      #expect(throws: VersionStoreError.self) { try store.retire(id, of: item) }
      #expect(try sandbox.store().removedVersions(of: item).isEmpty)
      #expect(try sandbox.text(path) == "one")
    }
  }

  @Test(
    "The version is listed, or can be brought back, whatever call a removal or a return ends at",
    arguments: Form.allCases)
  func deaths(form: Form) async throws {
    for isReturn in [false, true] {
      @Sendable func run(_ id: VersionID, _ sandbox: StoreSandbox, _ script: @escaping @Sendable (ScriptedCall) -> Bool)
        throws
      {
        let store = try sandbox.store(
          ScriptedFileSystem { call in
            if script(call) { return call.call == .close ? .proceed : .fail(5) }
            return call.call == .makeDirectory || call.call == .write
              ? .fail(28) : call.call == .synchronize ? .skip : .proceed
          }, at: 5_000)
        if isReturn { _ = try store.reinstate(id, of: Self.item) } else { try store.retire(id, of: Self.item) }
      }
      var (listedCount, removedCount, number, isOver) = (0, 0, 0, false)
      while !isOver {
        number += 1
        let last = number
        isOver = try await withStore(form.limits) { sandbox in
          let id = try form.add(sandbox)
          if isReturn { try sandbox.store(full(), at: 5_000).retire(id, of: item) }
          let isCut = Guarded(false)
          try? run(id, sandbox) { call in
            if call.number >= last { isCut.withLock { $0 = true } }
            return call.number >= last
          }
          try sandbox.settle(item)
          let store = try sandbox.store()
          let (listed, removed) = (try store.versions(of: item).map(\.id), try store.removedVersions(of: item))
          #expect(listed + removed.map(\.version.id) == [id], "call \(last)")
          #expect(removed.allSatisfy { $0.time == 5_000 }, "call \(last)")
          if removed.isEmpty { listedCount += 1 } else { removedCount += 1 }
          try store.forgetRemovals(before: .max, of: item)
          #expect(try marks(sandbox) == [], "call \(last)")
          return !isCut.withLock { $0 }
        }
      }
      #expect(listedCount > 0 && removedCount > 0)
    }
  }
}
