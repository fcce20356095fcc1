import ContentHashing
import SystemInterface
import Testing

@testable import VersionStore

@Suite("Versions that were removed, and conflicts that are resolved in one step", .timeLimit(.minutes(4)))
struct RemovingTests {
  @Test("A removed version is in no list, can be read and brought back, and goes for good when its window has ended")
  func removing() async throws {
    try await withStore { sandbox in
      let (store, item) = (try sandbox.store(at: 100), ItemID.drawn())
      try sandbox.write("a", "one")
      let first = try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      try sandbox.write("a", "two")
      let second = try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      try store.retire(first.id, of: item)
      #expect(throws: VersionStoreError.versionIsGone(first.id)) { try store.retire(first.id, of: item) }
      #expect(try store.versions(of: item) == [second])
      let removed = try #require(try store.removedVersions(of: item).first)
      #expect(removed == RemovedVersion(version: first, time: 100))
      #expect(try sandbox.text(store.path(of: removed)) == "one")
      #expect(try sandbox.files.statusIfPresent(of: store.path(of: first)) == nil)
      // Not old enough.
      #expect(try store.forgetRemovals(before: 100) == 0)
      #expect(try store.reinstate(first.id, of: item) == first)
      #expect(throws: VersionStoreError.versionIsGone(first.id)) { _ = try store.reinstate(first.id, of: item) }
      #expect(try store.versions(of: item) == [first, second])
      try store.verify(first)
      try store.retire(first.id, of: item)
      #expect(try store.forgetRemovals(before: 101) == 1)
      #expect(try store.removedVersions(of: item).isEmpty)
      #expect(throws: VersionStoreError.versionIsGone(first.id)) { _ = try store.reinstate(first.id, of: item) }
      #expect(try sandbox.files.statusIfPresent(of: store.layout.contents(of: #require(first.hash))) == nil)
      try store.verify(second)
    }
  }

  @Test("A version that's removed twice, and brought back in between, is there once")
  func twice() async throws {
    try await withStore { sandbox in
      let item = ItemID.drawn()
      try sandbox.write("a", "one")
      let version = try sandbox.store().add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      for time: Int64 in [1, 2] {
        let store = try sandbox.store(at: time)
        try store.retire(version.id, of: item)
        #expect(try store.removedVersions(of: item).map(\.time) == [time])
        if time == 1 { _ = try store.reinstate(version.id, of: item) }
      }
    }
  }

  @Test("Contents that no version has, as a crash may leave some, are swept; all others stay")
  func sweeping() async throws {
    try await withStore { sandbox in
      let (store, item) = (try sandbox.store(), ItemID.drawn())
      try sandbox.write("a", "kept")
      let version = try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      let orphan = ContentHash(of: Array("orphan".utf8))
      let path = store.layout.contents(of: orphan)
      try store.ensureDirectory(path.parent)
      try store.writeDraft(Array("orphan".utf8), to: path)
      try store.sweepContents()
      #expect(try sandbox.files.statusIfPresent(of: path) == nil)
      try store.verify(version)
      #expect(
        try sandbox.files.status(of: store.path(of: version), at: .workingDirectory, links: .noFollow).linkCount == 2)
    }
  }

  /// The result is written by the process itself, so that it may end in the middle of that too.
  private func resolve(_ sandbox: StoreSandbox, _ door: any FileSystem, _ item: ItemID) throws {
    let (store, path) = (try sandbox.store(door), sandbox.path("a"))
    let conflicts = try store.versions(of: item).filter { !$0.isResolved }.map(\.id)
    let resolution = ConflictResolution(
      result: ContentHash(of: Array("merged".utf8)), resolved: conflicts, removed: Array(conflicts.suffix(1)), time: 7)
    try store.resolve(resolution, of: item, at: path) { try door.replaceContents(of: path, with: Array("merged".utf8)) }
  }

  private func prepare(_ sandbox: StoreSandbox) throws -> ItemID {
    let store = try sandbox.store()
    let path = try sandbox.write("a", "mine")
    let item = try #require(try store.item(at: path, creating: true))
    var attributes = StoreSandbox.attributes
    attributes.isConflict = true
    for text in ["theirs", "others"] {
      let other = try sandbox.write("b", text)
      _ = try store.add(contentsOf: other, to: item, attributes)
    }
    return item
  }

  private enum End { case death, error }

  /// The state that the next process finds: the file, and how many conflicts, resolved ones, and removed ones there
  /// are.
  private func outcome(_ sandbox: StoreSandbox, _ item: ItemID) throws -> String {
    let (store, path) = (try sandbox.store(), sandbox.path("a"))
    try store.recover()
    #expect(try store.item(at: path, creating: false) == item)
    let versions = try store.versions(of: item)
    let removed = try store.removedVersions(of: item).count
    #expect(try sandbox.files.statusIfPresent(of: store.layout.resolution(of: item)) == nil)
    return
      "\(try sandbox.text(path)) \(versions.count { !$0.isResolved }) \(versions.count { $0.isResolved }) \(removed)"
  }

  @Test(
    "A resolution that ends at any call is undone or complete: conflicts are resolved exactly if the file has the result"
  )
  func deaths() async throws {
    let callCount = try await withStore { sandbox in
      let item = try prepare(sandbox)
      return try DyingDoor.callCount { try resolve(sandbox, $0, item) }
    }
    for end in [End.death, .error] {
      var ends: Set<String> = []
      for number in 1...callCount {
        try await withStore { sandbox in
          let item = try prepare(sandbox)
          let door = end == .death ? DyingDoor.dying(atCall: number) : DyingDoor.failing(atCall: number)
          try? resolve(sandbox, door, item)
          ends.insert(try outcome(sandbox, item))
        }
      }
      #expect(ends == ["mine 2 0 0", "merged 0 1 1"], "\(end)")
    }
  }

  @Test("A resolution isn't completed if another program has written to the file since")
  func overtaken() async throws {
    try await withStore { sandbox in
      let item = try prepare(sandbox)
      let store = try sandbox.store()
      let conflicts = try store.versions(of: item).map(\.id)
      let resolution = ConflictResolution(
        result: ContentHash(of: Array("merged".utf8)), resolved: conflicts, removed: conflicts, time: 7)
      try store.write(resolution.record, to: store.layout.resolution(of: item))
      #expect(try outcome(sandbox, item) == "mine 2 0 0")
    }
  }
}
