import ContentHashing
import Foundation
import SystemInterface
import Testing

@testable import VersionStore

@Suite("A store of versions", .timeLimit(.minutes(4)))
struct VersionStoreTests {
  private let item = ItemID.drawn()

  @Test(
    "A version that's kept after the clock was ahead has its own date, and its place behind the others",
    arguments: [VersionStoreLimits(), hashingLater], [true, false])
  func clockThatWasAhead(limits: VersionStoreLimits, isReplaced: Bool) async throws {
    try await withStore(limits) { sandbox in
      let path = try sandbox.write("a", "1")
      let item = try #require(try sandbox.store().item(at: path, creating: true))
      let ahead = try sandbox.store(at: 9_000).add(contentsOf: path, to: item, StoreSandbox.attributes)
      let store = try sandbox.store(at: 5)
      let version: StoredVersion
      if isReplaced {
        version = try store.keep(path, of: item, StoreSandbox.attributes) { target, settle in
          try sandbox.files.replaceContents(of: path, with: Array("2".utf8), over: target, settling: settle)
        }
      } else {
        version = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
      }
      #expect(ahead.additionTime == 9_000 && ahead.clockTime == nil)
      #expect(version.additionTime == 5 && ahead.id < version.id)
      let listed = try sandbox.store(at: 6).versions(of: item)
      #expect(listed.map(\.additionTime) == [9_000, 5])
      // When a moment is so near the file's, a second write in it may not show.
      #expect(!version.surelyIs(try sandbox.files.status(of: path, at: .workingDirectory, links: .noFollow)))
    }
  }

  @Test("A package whose directories can't be written is kept twice, removed, and restored as it was")
  func readOnlyDirectories() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      try sandbox.write("p/in/1", "one")
      let inner = sandbox.path("p/in").description
      try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: inner)
      let item = ItemID.drawn()
      let versions = try (0..<2).map { _ in
        try store.add(contentsOf: sandbox.path("p"), to: item, StoreSandbox.attributes)
      }
      let kept = store.path(of: versions[0]).appending("in").description
      #expect(try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? Int == 0o555)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: inner)
      try store.restore(versions[0], to: sandbox.path("p"))
      #expect(try FileManager.default.attributesOfItem(atPath: inner)[.posixPermissions] as? Int == 0o555)
      for version in versions { try store.remove(version.id, of: item) }
      #expect(try sandbox.tree("store").filter { $0.hasPrefix("contents/") && $0.count > 60 } == [])
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: inner)
    }
  }

  @Test(
    "After a crash in the middle of a move, a source that was changed since stays", arguments: [false, true],
    [VersionStoreLimits(), hashingLater])
  func editedAfterCrash(isReplacing: Bool, limits: VersionStoreLimits) async throws {
    try await withStore(limits) { sandbox in
      let source = try sandbox.write("a", "first")
      let item = ItemID.drawn()
      let store = try sandbox.store()
      let taking: Taking = isReplacing ? .linking : .moving
      let callCount = try DyingDoor.callCount { door in
        _ = try sandbox.store(door).add(contentsOf: source, to: item, StoreSandbox.attributes, taking: taking)
      }
      for number in explored(callCount) {
        try sandbox.write("a", "text")
        let before = try store.versions(of: item)
        _ = try? sandbox.store(DyingDoor.dying(atCall: number)).add(
          contentsOf: source, to: item, StoreSandbox.attributes, taking: taking)
        let wasThere = try HostFileSystem().statusIfPresent(of: source) != nil
        // In place, by whatever name it still has.
        try sandbox.write("a", "edited")
        try store.recover()
        try store.completeMoves(of: item)
        #expect(try sandbox.text(source) == "edited", "call \(number)")
        for version in try store.versions(of: item) { try store.verify(version) }
        if wasThere { #expect(try store.versions(of: item).count <= before.count + 1) }
      }
    }
  }

  @Test("A version keeps the bytes as they were, is read-only, and is listed in order of time (CV-07, CV-21)")
  func adding() async throws {
    try await withStore { sandbox in
      let file = try sandbox.write("a.txt", "one", mode: 0o640)
      let store = try sandbox.store()
      let first = try store.add(contentsOf: file, to: item, StoreSandbox.attributes)
      try sandbox.write("a.txt", "two", mode: 0o600)
      // The clock stands still, and the order is right all the same.
      let second = try store.add(contentsOf: file, to: item, StoreSandbox.attributes)
      #expect(try store.versions(of: item) == [first, second])
      #expect(try sandbox.text(store.path(of: first)) == "one")
      #expect(try sandbox.text(store.path(of: second)) == "two")
      #expect(try sandbox.files.statusIfPresent(of: store.path(of: first))?.mode == 0o444)
      #expect(first.mode == 0o640 && first.size == 3 && first.name == SystemPath("a.txt"))
      #expect(first.hash == ContentHash(of: Array("one".utf8)))
      #expect(first.attributes == StoreSandbox.attributes)
      try store.verify(first)
      #expect(try sandbox.text(file) == "two")
    }
  }

  @Test("Equal contents are stored once, and are gone with the last version that has them")
  func sharing() async throws {
    try await withStore { sandbox in
      let file = try sandbox.write("a", "same")
      let other = try sandbox.write("b", "same")
      let store = try sandbox.store()
      let first = try store.add(contentsOf: file, to: item, StoreSandbox.attributes)
      let second = try store.add(contentsOf: other, to: ItemID.drawn(), StoreSandbox.attributes)
      let stored = store.layout.contents(of: try #require(first.hash))
      #expect(try sandbox.files.statusIfPresent(of: stored)?.linkCount == 3)
      try store.remove(first.id, of: item)
      #expect(try sandbox.text(store.path(of: second)) == "same")
      #expect(try sandbox.files.statusIfPresent(of: stored)?.linkCount == 2)
      try store.remove(second.id, of: second.item)
      #expect(try sandbox.files.statusIfPresent(of: stored) == nil)
      #expect(throws: VersionStoreError.versionIsGone(second.id)) { try store.remove(second.id, of: second.item) }
    }
  }

  @Test("A version that is moved into the store leaves nothing behind (CV-08)")
  func moving() async throws {
    try await withStore { sandbox in
      let file = try sandbox.write("a", "moved", mode: 0o600)
      let store = try sandbox.store()
      let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes, taking: .moving)
      #expect(try sandbox.tree("files") == [])
      #expect(try sandbox.text(store.path(of: version)) == "moved")
      #expect(try sandbox.files.statusIfPresent(of: store.path(of: version))?.mode == 0o444)
      let stored = store.layout.contents(of: try #require(version.hash))
      #expect(try sandbox.files.statusIfPresent(of: stored)?.linkCount == 2)
    }
  }

  @Test("A package is kept with its members, each of them once")
  func packages() async throws {
    try await withStore { sandbox in
      try sandbox.write("p.rtfd/TXT.rtf", "text")
      try sandbox.write("p.rtfd/pictures/1.png", "picture")
      try sandbox.write("p.rtfd/pictures/2.png", "picture")
      let store = try sandbox.store()
      let version = try store.add(contentsOf: sandbox.path("p.rtfd"), to: item, StoreSandbox.attributes)
      #expect(version.isPackage && version.size == 18)
      try store.verify(version)
      let picture = store.layout.contents(of: ContentHash(of: Array("picture".utf8)))
      #expect(try sandbox.files.statusIfPresent(of: picture)?.linkCount == 3)
      try store.remove(version.id, of: item)
      #expect(try sandbox.files.statusIfPresent(of: picture) == nil)
    }
  }

  @Test("A changed byte is found, and named")
  func damage() async throws {
    try await withStore { sandbox in
      let file = try sandbox.write("a", "contents")
      let store = try sandbox.store()
      let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes)
      let path = store.path(of: version)
      try sandbox.files.withDescriptor(path, flags: []) { (file) throws(SystemError) in
        try sandbox.files.setMode(of: file, to: 0o600)
      }
      try sandbox.files.withDescriptor(path, flags: .writeOnly) { (file) throws(SystemError) in
        try sandbox.files.writeAll(Array("C".utf8), to: file)
      }
      #expect(throws: VersionStoreError.damaged(path)) { try store.verify(version) }
      let record = store.recordPath(of: version.id, of: item)
      var bytes = try sandbox.files.contents(of: record)
      bytes[10] ^= 1
      try sandbox.files.replaceContents(of: record, with: bytes)
      #expect(throws: VersionStoreError.damaged(record)) { try store.versionIfPresent(version.id, of: item) }
      let listing = try store.listing(of: item)
      #expect(listing.versions == [] && listing.damaged == [record])
    }
  }

  @Test("A path without an item, or with neither a file nor a directory, is refused, and leaves nothing in the store")
  func refusals() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      let before = try sandbox.tree("store")
      let path = sandbox.path("none")
      #expect(throws: VersionStoreError.nothingThere(path)) {
        try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
      }
      try sandbox.files.makeSymbolicLink(path, at: .workingDirectory, target: SystemPath("elsewhere"))
      #expect(throws: VersionStoreError.notAFile(path)) {
        try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
      }
      #expect(try sandbox.tree("store") == before)
    }
  }

  @Test("A pipe in a package is named by the path that the caller knows")
  func pipeInside() async throws {
    try await withStore { sandbox in
      try sandbox.write("p/in/member", "text")
      try FileManager.default.createDirectory(
        atPath: sandbox.path("p/deep").description, withIntermediateDirectories: false)
      let pipe = sandbox.path("p/deep/pipe")
      #expect(mkfifo(pipe.description, 0o600) == 0)
      let store = try sandbox.store()
      #expect(throws: VersionStoreError.notAFile(pipe)) {
        try store.add(contentsOf: sandbox.path("p"), to: item, StoreSandbox.attributes)
      }
      #expect(try sandbox.tree("store/steps") == [])
    }
  }

  /// Items that another program may have put in the place of a directory of the store.
  enum Plant: CaseIterable { case link, file, otherOwner }

  @Test("A store in which a directory is a link, a file or another user's is refused", arguments: Plant.allCases)
  func planted(plant: Plant) async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      _ = try store.add(contentsOf: sandbox.write("a", "text"), to: item, StoreSandbox.attributes)
      try store.checkDirectories()
      for directory in [store.layout.contents, store.layout.items, store.layout.places, store.layout.steps] {
        let aside = directory.parent.appending("aside")
        try FileManager.default.moveItem(atPath: directory.description, toPath: aside.description)
        switch plant {
        case .link: try sandbox.files.makeSymbolicLink(directory, at: .workingDirectory, target: aside)
        case .file: try sandbox.files.replaceContents(of: directory, with: [1])
        case .otherOwner:
          try sandbox.files.makeDirectory(directory, at: .workingDirectory, mode: 0o777)
          // Only the administrator can give something away.
          if chown(directory.description, 65_534, 65_534) != 0 { return }
        }
        #expect(throws: VersionStoreError.misplaced(directory)) { try store.checkDirectories() }
        try FileManager.default.removeItem(atPath: directory.description)
        try FileManager.default.moveItem(atPath: aside.description, toPath: directory.description)
        try store.checkDirectories()
      }
    }
  }

  @Test("A store of a later release is left alone")
  func laterFormat() async throws {
    try await withStore { sandbox in
      let store = try sandbox.store()
      try sandbox.files.replaceContents(of: store.layout.format, with: Array("format 2\n".utf8))
      #expect(throws: VersionStoreError.unknownFormat(store.root, "format 2\n")) { try sandbox.store() }
    }
  }

  @Test("The attributes of a version survive, whatever bytes they have")
  func records() throws {
    var version = StoredVersion(
      id: VersionID(at: 7, after: nil), item: item,
      attributes: VersionAttributes(
        deviceName: "a\nb: c", deviceID: "", author: "Ä %", parents: [VersionID(at: 1, after: nil)], isConflict: true,
        isBase: true),
      isPackage: true, hash: ContentHash(of: []), size: -1, name: SystemPath(bytes: [0xff, 0x0a, 0x25]), mode: 0o7777,
      modificationTime: .min)
    version.resolutionTime = 3
    version.isDiscardable = true
    let record = version.record
    #expect(StoredVersion(record) == version)
    let bytes = record.bytes
    #expect(StoreRecord(bytes) == record)
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << bit
        #expect(StoreRecord(changed) == nil)
      }
      #expect(StoreRecord(Array(bytes[..<index])) == nil)
    }
  }

  @Test("Another process may make the directory of the contents at any moment of an addition")
  func directoryOfContents() async throws {
    let item = ItemID.drawn()
    let callCount = try await withStore { sandbox in
      let file = try sandbox.write("a", "text")
      return try DyingDoor.callCount { door in
        _ = try sandbox.store(door).add(contentsOf: file, to: item, StoreSandbox.attributes)
      }
    }
    for number in 1...callCount {
      try await withStore { sandbox in
        let file = try sandbox.write("a", "text")
        let hash = ContentHash(of: Array("text".utf8))
        let directory = try sandbox.store().layout.contents(of: hash).parent
        let door = DyingDoor.interrupted(atCall: number) {
          try? HostFileSystem().makeDirectory(directory, at: .workingDirectory, mode: 0o700)
        }
        let store = try sandbox.store(door)
        let version = try store.add(contentsOf: file, to: item, StoreSandbox.attributes)
        #expect(try sandbox.files.statusIfPresent(of: store.path(of: version))?.linkCount == 2, "call \(number)")
      }
    }
  }
}
