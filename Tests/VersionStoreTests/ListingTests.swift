import SeededRandom
import SystemInterface
import Testing

@testable import VersionStore

@Suite("Lists of many versions", .timeLimit(.minutes(4)))
struct ListingTests {
  private let item = ItemID.drawn()
  private static let count = 40

  /// Calls `body` in a store with many versions of one file.
  private func withVersions(_ count: Int = Self.count, _ body: (StoreSandbox, VersionStore) throws -> Void) async throws
  {
    try await withStore { sandbox in
      let store = try sandbox.store()
      let file = try sandbox.write("a", "text")
      for _ in 0..<count { _ = try store.add(contentsOf: file, to: item, StoreSandbox.attributes) }
      try body(sandbox, store)
    }
  }

  /// How many records a list opens.
  private func recordCount(_ sandbox: StoreSandbox) throws -> Int {
    let door = DyingDoor.hurried()
    _ = try sandbox.store(door).versions(of: item)
    return door.log.count { $0.call == .open && $0.paths.first?.lastComponent == SystemPath(StoreLayout.record) }
  }

  @Test("The first list of many versions reads each record, the next one reads one file, and what came since")
  func cached() async throws {
    try await withVersions { sandbox, store in
      #expect(try recordCount(sandbox) == Self.count)
      #expect(try recordCount(sandbox) == 0)
      let added = try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      #expect(try recordCount(sandbox) == 1)
      #expect(try store.versions(of: item).last == added)
      try store.remove(added.id, of: item)
      #expect(try store.versions(of: item) == store.listing(of: item).versions)
      #expect(try store.versions(of: item).count == Self.count)
    }
  }

  @Test("Few versions are listed without a cache", arguments: [31, 32, 33])
  func few(count: Int) async throws {
    try await withVersions(count) { sandbox, store in
      #expect(try recordCount(sandbox) == count)
      let isCached = try sandbox.files.statusIfPresent(of: store.layout.listing(of: item)) != nil
      #expect(isCached == (count == 33))
    }
  }

  @Test("A byte of the cache that was changed makes it worthless, and a cut one too")
  func damage() async throws {
    try await withVersions { sandbox, store in
      let versions = try store.versions(of: item)
      let path = store.layout.listing(of: item)
      let bytes = try sandbox.files.contents(of: path)
      for index in stride(from: 0, to: bytes.count, by: Budget.isLong ? 13 : 997) {
        var changed = bytes
        changed[index] ^= 1
        for damaged in [changed, Array(bytes[..<index])] {
          try sandbox.files.replaceContents(of: path, with: damaged)
          #expect(try store.versions(of: item) == versions)
        }
      }
      try sandbox.files.replaceContents(of: path, with: bytes)
      #expect(try recordCount(sandbox) == 0)
    }
  }

  @Test("A record that was changed by accident is found beside a cache that has what it was")
  func damagedRecord() async throws {
    try await withVersions { sandbox, store in
      let versions = try store.versions(of: item)
      let record = store.recordPath(of: versions[7].id, of: item)
      var bytes = try sandbox.files.contents(of: record)
      bytes[20] ^= 1
      try sandbox.files.replaceContents(of: record, with: bytes)
      #expect(try store.versions(of: item) == versions)
      #expect(try store.listing(of: item).damaged == [record])
      #expect(throws: VersionStoreError.damaged(record)) { try store.versionIfPresent(versions[7].id, of: item) }
    }
  }

  @Test(
    "A list never says what a version was before a change, whatever call the change or the list ends at",
    arguments: [false, true])
  func changes(fails: Bool) async throws {
    func door(_ number: Int) -> ScriptedFileSystem {
      fails ? DyingDoor.failing(atCall: number) : DyingDoor.dying(atCall: number)
    }
    try await withVersions { sandbox, store in
      let first = try #require(try store.versions(of: item).first)
      let changeCount = try DyingDoor.callCount { door in
        _ = try sandbox.store(door).change(first.id, of: item) { $0.resolutionTime = 0 }
      }
      for number in 1...changeCount {
        _ = try store.versions(of: item)
        _ = try? sandbox.store(door(number)).change(first.id, of: item) { $0.resolutionTime = Int64(number) }
        #expect(try store.versions(of: item) == store.listing(of: item).versions, "change, call \(number)")
      }
      let listCount = try DyingDoor.callCount { door in
        try sandbox.files.unlink(store.layout.listing(of: item), at: .workingDirectory, .file)
        _ = try sandbox.store(door).versions(of: item)
      }
      for number in stride(from: 1, through: listCount, by: Budget.isLong ? 1 : 7).reversed() + [listCount] {
        _ = try store.change(first.id, of: item) { $0.resolutionTime = Int64(number) }
        _ = try? sandbox.store(door(number)).versions(of: item)
        #expect(try store.versions(of: item) == store.listing(of: item).versions, "list, call \(number)")
      }
      try store.recover()
      #expect(try sandbox.tree("store/steps") == [])
    }
  }

  @Test("The cache goes with the history")
  func removed() async throws {
    try await withVersions { sandbox, store in
      _ = try store.versions(of: item)
      try store.removeHistory(GoneItem(item: item, path: sandbox.path("a"), time: 0))
      #expect(try sandbox.tree("store/items").count { $0.contains(item.description) } == 0)
    }
  }

  @Test("A restore, a removal and a look at the newest read one record each, and no other's name, beside many versions")
  func oneOfMany() async throws {
    try await withVersions(300) { sandbox, store in
      let versions = try store.versions(of: item)
      let directory = store.layout.directory(of: item)
      func calls(_ body: (VersionStore) throws -> Void) throws -> (records: Int, all: Int) {
        let door = DyingDoor.hurried()
        try body(sandbox.store(door))
        #expect(!door.log.contains { $0.call == .readDirectory && $0.openedPath == directory })
        let records = door.log.filter {
          $0.call == .open && $0.paths.first?.lastComponent == SystemPath(StoreLayout.record)
        }
        return (Set(records.flatMap(\.paths)).count, door.log.count)
      }
      let newest = try calls { store in
        let version = try store.newestVersion(of: item)
        #expect(version == versions.last)
      }
      #expect(newest.records == 1 && newest.all < 15, "\(newest)")
      let restored = try calls { try $0.restore(versions[7], to: sandbox.path("a")) }
      #expect(restored.records == 1 && restored.all < 60, "\(restored)")
      let removed = try calls { try $0.remove(versions[8].id, of: item) }
      #expect(removed.records == 1 && removed.all < 60, "\(removed)")
      let retired = try calls { try $0.retire(versions[9].id, of: item) }
      #expect(retired.records == 0 && retired.all < 15, "\(retired)")
      #expect(try store.versions(of: item).count == 298)
    }
  }

  @Test("The newest of many are listed by their names, and damaged records are left out")
  func newest() async throws {
    try await withVersions(60) { sandbox, store in
      let versions = try store.versions(of: item)
      let record = store.recordPath(of: versions[58].id, of: item)
      try sandbox.files.replaceContents(of: record, with: [1, 2])
      let door = DyingDoor.hurried()
      let newest = try sandbox.store(door).newestVersions(of: item, countMax: 3)
      #expect(newest == [versions[59], versions[57], versions[56]])
      let read = door.log.filter { $0.call == .open && $0.paths.first?.lastComponent == SystemPath(StoreLayout.record) }
      #expect(Set(read.flatMap(\.paths)).count == 4)
      #expect(try store.newestVersions(of: item, countMax: 0).isEmpty)
      #expect(try store.newestVersions(of: item, countMax: .max).count == 59)
    }
  }

  @Test(
    "A version is newer than all that are there, whatever the clock says and whatever was noted of them",
    arguments: [true, false])
  func order(isNoted: Bool) async throws {
    try await withStore { sandbox in
      let file = try sandbox.write("a", "text")
      var ids: [VersionID] = []
      for time: Int64 in [1_000, 5_000, 2_000, 0, 3_000] {
        let store = try sandbox.store(at: time)
        if !isNoted, let directory = ids.isEmpty ? nil : store.layout.directory(of: item) {
          // As after a copy without attributes.
          try sandbox.files.withDescriptor(directory, flags: .directory) { (directory) throws(SystemError) in
            for name in try sandbox.files.extendedAttributes(of: directory) {
              try sandbox.files.removeExtendedAttribute(name, of: directory)
            }
          }
        }
        ids.append(try store.add(contentsOf: file, to: item, StoreSandbox.attributes).id)
        #expect(try store.newestVersion(of: item)?.id == ids.last)
        #expect(ids == ids.sorted())
        // Nothing but the note says that there was one.
        if isNoted, ids.count == 3 {
          try store.retire(ids[2], of: item)
          #expect(try store.newestVersion(of: item)?.id == ids[1])
        }
      }
      let store = try sandbox.store()
      if isNoted { _ = try store.reinstate(ids[2], of: item) }
      #expect(try store.newestVersion(of: item)?.id == ids.last)
      #expect(try store.versions(of: item).map(\.id) == ids)
    }
  }

  @Test("An addition looks at no version of those that are there, however many they are", arguments: [10, 400])
  func additionBesideMany(count: Int) async throws {
    try await withVersions(count) { sandbox, _ in
      let door = DyingDoor.hurried()
      let store = try sandbox.store(door)
      try store.completeMoves(of: item)
      _ = try store.keep(sandbox.path("a"), of: item, StoreSandbox.attributes) { target, settle in
        try door.replaceContents(of: sandbox.path("a"), with: [1], over: target, settling: settle)
      }
      let directory = store.layout.directory(of: item)
      #expect(!door.log.contains { $0.call == .readDirectory && $0.openedPath == directory })
      #expect(door.log.count <= 74, "\(door.log.count) calls")
      #expect(try store.versions(of: item).count == count + 1)
      // Nothing says that something is to be completed.
      #expect(try store.openVersionIDs(of: item) == [])
    }
  }
}
